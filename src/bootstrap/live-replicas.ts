import { setTimeout as delay } from 'node:timers/promises';
import type { KubeObject } from '../api/object';
import type { OperationContext } from '../registry/types';
import type { OwnResource, OwnResources } from '../resources/own-resources';
import type { Store } from '../storage/store';
import { wantedEndpoints, wantedEndpointSlice } from './kubernetes-endpoints';
import { LEASE_RENEWAL_MS, MasterLeases } from './master-leases';

export interface LiveReplicasOptions {
  readonly own: OwnResources;
  readonly store: Store;
  /** What all keys begin with: `/registry/`. */
  readonly keyRoot: string;
  /** Where others reach this server. */
  readonly address: string;
  readonly port: number;
  readonly logger: { warn(details: { readonly err: unknown }, message: string): void };
}

/** For saying good-bye to a store that may be gone. */
const GOOD_BYE_MS = 3_000;

/**
 * Keeps this server among the live ones, and the `kubernetes` Endpoints and EndpointSlice at what the live ones are:
 * kube-apiserver's protocol, so that servers of both kinds can serve one cluster.
 */
export class LiveReplicas {
  readonly #options: LiveReplicasOptions;
  readonly #leases: MasterLeases;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  constructor(options: LiveReplicasOptions) {
    this.#options = options;
    this.#leases = new MasterLeases(options.store, options.keyRoot);
    this.#running = this.#run();
  }

  /** Takes this server off the list, so that no client is sent here any more. What fails is left to the lease's end. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    const signal = AbortSignal.timeout(GOOD_BYE_MS);
    try {
      await this.#leases.remove(this.#options.address, signal);
      await this.#publish(signal);
    } catch (error) {
      this.#options.logger.warn({ err: error }, 'taking this server off the kubernetes endpoints failed');
    }
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        await this.#leases.renew(this.#options.address, signal);
        await this.#publish(signal);
      } catch (error) {
        if (signal.aborted) return;
        this.#options.logger.warn({ err: error }, 'keeping the kubernetes endpoints failed');
      }
      await delay(LEASE_RENEWAL_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  async #publish(signal: AbortSignal): Promise<void> {
    const addresses = await this.#leases.list(signal);
    // The last server to go leaves the list as it is: clients that wait for a server know where to look.
    if (addresses.length === 0) return;
    const { port, own } = this.#options;
    await this.#put(own('', 'endpoints'), (existing) => wantedEndpoints(existing, addresses, port), signal);
    const slices = own('discovery.k8s.io', 'endpointslices');
    await this.#put(slices, (existing) => wantedEndpointSlice(existing, addresses, port), signal);
  }

  async #put(
    resource: OwnResource,
    change: (existing: KubeObject | undefined) => KubeObject,
    signal: AbortSignal,
  ): Promise<void> {
    const context: OperationContext = { signal, dryRun: false };
    const update = { namespace: 'default', name: 'kubernetes', change, createIfMissing: true };
    await resource.update(update, context);
  }
}
