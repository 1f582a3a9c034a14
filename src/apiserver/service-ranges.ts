import { decodeMessage } from '../api/codec/protobuf-decode';
import { decodeEnvelope, isEnvelope } from '../api/codec/protobuf-envelope';
import { StatusError } from '../api/errors/status-error';
import type { KubeObject } from '../api/object';
import type { Schema } from '../api/schema/model';
import type { Logger } from '../observability/logger';
import type { PortRange } from '../registry/allocation/node-ports';
import { ServiceAllocations, type AddressRanges } from '../registry/allocation/service-allocations';
import type { RangeAllocation } from '../registry/allocation/stored-range';
import type { ResourceRegistry } from '../registry/resource-registry';
import type { SideEffect, SideEffects } from '../registry/side-effects';
import type { OperationContext } from '../registry/types';
import type { Store } from '../storage/store';

/** What services are given. */
export interface ServiceRanges {
  readonly addressRanges: AddressRanges;
  readonly nodePorts: PortRange;
}

/** The service has gone when its endpoints follow, whether its client still waits or not. */
const ENDPOINTS_TIMEOUT_MS = 10_000;
const REPAIR_INTERVAL_MS = 3 * 60_000;

function rangeDecoder(schema: Schema): (value: Buffer) => RangeAllocation {
  const type = schema.kind('', 'v1', 'RangeAllocation');
  if (type === undefined) throw new Error('the schema has no RangeAllocation');
  return (value) => {
    const { range = '', data = '' } = (
      isEnvelope(value) ? decodeMessage(type, decodeEnvelope(value).raw) : JSON.parse(value.toString('utf8'))
    ) as Partial<RangeAllocation>;
    return { range, data };
  };
}

/** The addresses and node ports that all replicas give to services. Throws for a range that is no network. */
export function createServiceAllocations(options: {
  readonly store: Store;
  readonly keyRoot: string;
  readonly schema: Schema;
  readonly ranges: ServiceRanges;
  readonly logger: Logger;
}): ServiceAllocations {
  const { store, keyRoot, schema, ranges, logger } = options;
  return new ServiceAllocations({
    store,
    keyRoot,
    ...ranges,
    decode: rangeDecoder(schema),
    onLeak: (error) =>
      logger.warn({ err: error }, 'an address or node port was not given back; the repair will find it'),
  });
}

/** A service takes addresses and ports when it comes, and its endpoints with it when it goes. */
export class ServiceEffects implements SideEffects {
  readonly #allocations: ServiceAllocations;
  readonly #endpoints: () => ResourceRegistry;
  readonly #logger: Logger;

  constructor(allocations: ServiceAllocations, endpoints: () => ResourceRegistry, logger: Logger) {
    this.#allocations = allocations;
    this.#endpoints = endpoints;
    this.#logger = logger;
  }

  begin(object: KubeObject, old: KubeObject | undefined, context: OperationContext): Promise<SideEffect> {
    return this.#allocations.begin(object, old, context);
  }

  async removed(service: KubeObject): Promise<void> {
    await this.#removeEndpoints(service);
    await this.#allocations.removed(service);
  }

  async #removeEndpoints({ metadata: { namespace = '', name = '' } }: KubeObject): Promise<void> {
    const context = { signal: AbortSignal.timeout(ENDPOINTS_TIMEOUT_MS), dryRun: false };
    try {
      await this.#endpoints().delete({ namespace }, name, {}, {}, context);
    } catch (error) {
      if (error instanceof StatusError && error.status.code === 404) return;
      this.#logger.warn({ err: error, namespace, name }, 'the endpoints of a deleted service remain');
    }
  }
}

/** Repairs the ranges of services now and then; each replica does, and the first to write wins. */
export class ServiceRangeRepairs {
  readonly #allocations: ServiceAllocations;
  readonly #services: ResourceRegistry;
  readonly #logger: Logger;
  readonly #signal: AbortSignal;
  readonly #timer: NodeJS.Timeout;
  #running: Promise<void> = Promise.resolve();

  constructor(allocations: ServiceAllocations, services: ResourceRegistry, logger: Logger, signal: AbortSignal) {
    this.#allocations = allocations;
    this.#services = services;
    this.#logger = logger;
    this.#signal = signal;
    this.#timer = setInterval(() => {
      this.#running = this.run();
    }, REPAIR_INTERVAL_MS);
    this.#timer.unref();
  }

  /** Does not throw: what went wrong is tried again the next time. */
  async run(): Promise<void> {
    try {
      await this.#allocations.repair(async () => {
        const { entries } = await this.#services.list({ namespace: '' }, {}, this.#signal);
        return Array.from(entries, ({ object }) => object);
      });
    } catch (error) {
      if (!this.#signal.aborted) this.#logger.error({ err: error }, 'repairing the ranges of services failed');
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
  }
}
