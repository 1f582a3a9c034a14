import type { EtcdClient } from './client';
import { leaseGrant, type LeaseId } from './messages';
import type { Cancellation } from '../store';

/**
 * Shared leases, by kube-apiserver's rule: one lease serves many keys, which may live a little longer than they asked for,
 * because etcd's leases are costly.
 */
const REUSE_SECONDS = 60;
const REUSE_SHARE = 0.05;
const MAX_KEYS_PER_LEASE = 1000;

interface Lease {
  readonly id: LeaseId;
  /** By our clock. */
  readonly expires: number;
  /** How many keys were attached to it. */
  keys: number;
}

export class LeasePool {
  /** By the time to live that was asked for, so that those who ask for others do not take each other's away. */
  readonly #newest = new Map<number, Lease>();
  readonly #granting = new Map<number, Promise<Lease>>();

  constructor(
    private readonly client: EtcdClient,
    private readonly clock: () => number,
  ) {}

  /** The identity of a lease that lasts for at least `ttlSeconds` from now, and not much longer. */
  async leaseFor(ttlSeconds: number, signal?: Cancellation): Promise<LeaseId> {
    const reuseSeconds = Math.min(REUSE_SECONDS, Math.floor(ttlSeconds * REUSE_SHARE));
    const earliest = this.clock() + ttlSeconds * 1000;
    const newest = this.#newest.get(ttlSeconds);
    const isFitting =
      newest !== undefined &&
      newest.keys < MAX_KEYS_PER_LEASE &&
      newest.expires > earliest &&
      newest.expires <= earliest + reuseSeconds * 1000;
    const lease = isFitting ? newest : await this.#grant(ttlSeconds, reuseSeconds, signal);
    lease.keys++;
    return lease.id;
  }

  /** The server no longer knows this lease. */
  forget(id: LeaseId): void {
    for (const [ttlSeconds, lease] of this.#newest) if (lease.id === id) this.#newest.delete(ttlSeconds);
  }

  /** Callers that come while a lease is being granted share it. */
  #grant(ttlSeconds: number, reuseSeconds: number, signal: Cancellation | undefined): Promise<Lease> {
    const granting = this.#granting.get(ttlSeconds);
    if (granting !== undefined) return granting;
    const granted = this.#grantNew(ttlSeconds, reuseSeconds, signal).finally(() => this.#granting.delete(ttlSeconds));
    this.#granting.set(ttlSeconds, granted);
    return granted;
  }

  async #grantNew(ttlSeconds: number, reuseSeconds: number, signal: Cancellation | undefined): Promise<Lease> {
    const seconds = ttlSeconds + reuseSeconds;
    const expires = this.clock() + seconds * 1000;
    // A lease whose id did not arrive expires by itself.
    const id = await this.client.call(leaseGrant, { ttlSeconds: seconds }, { isRepeatable: true, signal });
    const lease = { id, expires, keys: 0 };
    if (reuseSeconds > 0) this.#newest.set(ttlSeconds, lease);
    return lease;
  }
}
