import type { Revision, Store } from '../storage/store';

/** etcd-keys.json, "masterleases": a lease lasts for 15 seconds and is renewed every 10. */
export const LEASE_TTL_SECONDS = 15;
export const LEASE_RENEWAL_MS = 10_000;

/**
 * The addresses of live API servers, as kube-apiserver keeps them: a key for each below `masterleases/`, which vanishes
 * when its server no longer renews it. Both kinds of server see each other's.
 */
export class MasterLeases {
  readonly #store: Store;
  readonly #prefix: string;

  /** @param keyRoot what all keys begin with, `/registry/` */
  constructor(store: Store, keyRoot: string) {
    this.#store = store;
    this.#prefix = `${keyRoot}masterleases/`;
  }

  /** Says that the server at this address is alive. */
  async renew(address: string, signal: AbortSignal): Promise<void> {
    const key = this.#prefix + address;
    const options = { ttlSeconds: LEASE_TTL_SECONDS };
    for (let current = await this.#store.get(key, signal); ;) {
      // The generation only makes each value another one.
      const value = leaseValue(address, current === undefined ? 1 : generationOf(current.value) + 1);
      const outcome =
        current === undefined
          ? await this.#store.create(key, value, options, signal)
          : await this.#store.update(key, value, current.revision, options, signal);
      if (outcome.ok) return;
      current = outcome.current;
    }
  }

  /** Addresses of live servers, sorted. */
  async list(signal: AbortSignal): Promise<readonly string[]> {
    const outcome = await this.#store.list({ prefix: this.#prefix }, signal);
    if (!outcome.ok) throw new Error('the master leases cannot be listed');
    return outcome.items.map(({ key }) => key.slice(this.#prefix.length)).sort();
  }

  async remove(address: string, signal: AbortSignal): Promise<void> {
    const key = this.#prefix + address;
    let revision: Revision | undefined = (await this.#store.get(key, signal))?.revision;
    while (revision !== undefined) {
      const outcome = await this.#store.delete(key, revision, signal);
      revision = outcome.ok ? undefined : outcome.current?.revision;
    }
  }
}

function leaseValue(address: string, generation: number): Buffer {
  const endpoints = {
    kind: 'Endpoints',
    apiVersion: 'v1',
    metadata: { generation, creationTimestamp: null },
    subsets: [{ addresses: [{ ip: address }] }],
  };
  return Buffer.from(JSON.stringify(endpoints));
}

/** 0 for what is not ours to read: kube-apiserver writes Protobuf. */
function generationOf(value: Buffer): number {
  try {
    const { metadata } = JSON.parse(value.toString('utf8')) as { readonly metadata?: { readonly generation?: number } };
    return metadata?.generation ?? 0;
  } catch {
    return 0;
  }
}
