import { LRUCache } from 'lru-cache';
import { identityKey, type Identity } from './node';

/** As many as kube-controller-manager remembers. */
const MAX_REMEMBERED = 500;

/** Owners that the server does not have. A UID never comes back, so that what is here stays true. */
export class AbsentOwners {
  readonly #keys = new LRUCache<string, true>({ max: MAX_REMEMBERED });

  add(identity: Identity): void {
    this.#keys.set(identityKey(identity), true);
  }

  has(identity: Identity): boolean {
    return this.#keys.get(identityKey(identity)) === true;
  }
}
