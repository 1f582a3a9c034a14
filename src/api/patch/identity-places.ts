import type { JsonValue } from '../object';
import { sortedJson } from '../sorted-json';

/**
 * Where in a list the first item of each identity stands. Identities that are maps or lists are found by their text, so that
 * finding one of thousands never compares it with the others.
 */
export class IdentityPlaces {
  private readonly scalars = new Map<JsonValue, number>();
  private readonly containers = new Map<string, number>();

  /** Notes that an item with this identity stands there, unless one stands before it or the item has none. */
  add(identity: JsonValue | undefined, index: number): void {
    if (identity === undefined || this.indexOf(identity) >= 0) return;
    if (typeof identity === 'object' && identity !== null) this.containers.set(sortedJson(identity), index);
    else this.scalars.set(identity, index);
  }

  /** -1: there is none. */
  indexOf(identity: JsonValue | undefined): number {
    if (identity === undefined) return -1;
    const found =
      typeof identity === 'object' && identity !== null
        ? this.containers.size > 0
          ? this.containers.get(sortedJson(identity))
          : undefined
        : this.scalars.get(identity);
    return found ?? -1;
  }
}
