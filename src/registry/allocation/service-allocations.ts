import { invalidObject } from '../../api/errors/status-error';
import { withFields } from '../../api/kinds/strategies';
import type { KubeObject } from '../../api/object';
import type { ServiceSpec } from '../../api/schema/generated/core-v1';
import { specOf } from '../../api/validation/service-addresses';
import type { Store } from '../../storage/store';
import type { SideEffect, SideEffects } from '../side-effects';
import type { OperationContext } from '../types';
import { AddressRange } from './address-range';
import { addressesOf, takeAddress, wantedAddresses } from './cluster-addresses';
import { assignNodePorts, nodePortsOf, portRangeText, type NodePorts, type PortRange } from './node-ports';
import type { NumberPool } from './number-pool';
import { RangeRepair } from './range-repair';
import { chooseFamilies, type ClusterFamilies } from './service-families';
import { StoredRange, type RangeAllocation } from './stored-range';

/** CIDRs of the services' addresses, the primary one first; the second is of the other family. */
export type AddressRanges = readonly [string] | readonly [string, string];

export interface ServiceAllocationsOptions {
  readonly store: Store;
  /** `--service-cluster-ip-range`. */
  readonly addressRanges: AddressRanges;
  /** `--service-node-port-range`. */
  readonly nodePorts: PortRange;
  /** Reads a RangeAllocation, ours or kube-apiserver's. */
  readonly decode: (value: Buffer) => RangeAllocation;
  /** What could not be given back, which a repair will find. */
  readonly onLeak: (error: unknown) => void;
  readonly keyRoot?: string;
}

/** Under which keys the ranges stand, the primary one first. */
const RANGE_KEYS = ['ranges/serviceips', 'ranges/secondaryserviceips'] as const;

/** The addresses of one family. */
interface AddressPool {
  readonly range: AddressRange;
  readonly numbers: StoredRange;
}

/**
 * Gives services their addresses and node ports, and takes them back. What is taken stands in an object of the store for
 * each range, as kube-apiserver keeps them.
 */
export class ServiceAllocations implements SideEffects {
  readonly #pools: readonly AddressPool[];
  readonly #families: ClusterFamilies;
  readonly #portRange: PortRange;
  readonly #nodePorts: StoredRange;
  readonly #repairs: readonly RangeRepair[];
  readonly #onLeak: (error: unknown) => void;

  /** Throws for a range that is no network, or too small. */
  constructor({ store, addressRanges, nodePorts, decode, onLeak, keyRoot = '/registry/' }: ServiceAllocationsOptions) {
    const stored = (key: string, range: string, size: number) =>
      new StoredRange({ store, key: keyRoot + key, range, size, decode });
    this.#portRange = nodePorts;
    this.#onLeak = onLeak;
    this.#pools = addressRanges.map((text, index) => {
      const range = new AddressRange(text);
      return { range, numbers: stored(RANGE_KEYS[index] ?? RANGE_KEYS[0], range.text, range.size) };
    });
    const [primary = 'IPv4', secondary] = this.#pools.map(({ range }) => range.family);
    this.#families = secondary === undefined ? [primary] : [primary, secondary];
    const portCount = nodePorts.last - nodePorts.first + 1;
    this.#nodePorts = stored('ranges/servicenodeports', portRangeText(nodePorts), portCount);
    this.#repairs = [
      ...this.#pools.map(
        ({ range, numbers }) => new RangeRepair(numbers, (service) => indexesOf(addressesOf(specOf(service)), range)),
      ),
      new RangeRepair(this.#nodePorts, (service) => this.#portIndexes(nodePortsOf(specOf(service)))),
    ];
  }

  async begin(object: KubeObject, old: KubeObject | undefined, { dryRun }: OperationContext): Promise<SideEffect> {
    // A write of the status, which has no say in addresses.
    if (old !== undefined && object['spec'] === old['spec']) return withoutEffect(object);
    const oldSpec = old && specOf(old);
    const service = this.#withFamilies(object, oldSpec);
    const name = object.metadata.name ?? '';
    const { kept, taken } = await this.#takeAddresses(specOf(service), oldSpec, name, dryRun);
    const ports = await this.#takeNodePorts(specOf(service), oldSpec, name, dryRun).catch(async (error: unknown) => {
      await this.#releaseAddresses(taken);
      throw error;
    });
    const clusterIPs = [...kept, ...taken];
    const complete = withFields(service, 'spec', {
      ...(taken.length === 0 ? {} : { clusterIP: clusterIPs[0], clusterIPs }),
      ...ports.assigned,
    });
    return {
      object: complete,
      commit: () =>
        oldSpec === undefined || dryRun ? Promise.resolve() : this.#releaseUnused(oldSpec, specOf(complete)),
      rollback: async () => {
        await this.#releaseAddresses(taken);
        await this.#release(this.#nodePorts, ports.taken);
      },
    };
  }

  removed(object: KubeObject): Promise<void> {
    return this.#releaseUnused(specOf(object), { type: 'ExternalName' });
  }

  /**
   * Brings the objects in line with the services that there are: creates them in a cluster that has none, takes what
   * services have and were not noted, and releases what no service has. `list` gives all services, newer than the call.
   */
  async repair(list: () => Promise<Iterable<KubeObject>>): Promise<void> {
    for (const repair of this.#repairs) await repair.run(list);
  }

  /** Also in a dry run, which shows them. */
  #withFamilies(object: KubeObject, oldSpec: ServiceSpec | undefined): KubeObject {
    const { fields, errors } = chooseFamilies(specOf(object), oldSpec, this.#families);
    if (errors.length > 0) throw invalidObject({ group: '', kind: 'Service' }, object.metadata.name ?? '', errors);
    return Object.keys(fields).length === 0 ? object : withFields(object, 'spec', fields);
  }

  /** In a dry run a service gets no address, as no other request may be refused because of it. */
  async #takeAddresses(
    spec: ServiceSpec,
    oldSpec: ServiceSpec | undefined,
    serviceName: string,
    dryRun: boolean,
  ): Promise<{ readonly kept: readonly string[]; readonly taken: readonly string[] }> {
    const { kept, wanted } = wantedAddresses(spec, oldSpec, this.#families[0]);
    const taken: string[] = [];
    if (dryRun) return { kept, taken };
    try {
      for (const { family, address } of wanted) {
        const pool = this.#pools.find(({ range }) => range.family === family);
        if (pool === undefined) continue;
        const { range, numbers } = pool;
        taken.push(await numbers.change((free) => takeAddress(address, free, { range, spec, serviceName })));
      }
    } catch (error) {
      await this.#releaseAddresses(taken);
      throw error;
    }
    return { kept, taken };
  }

  async #takeNodePorts(
    spec: ServiceSpec,
    oldSpec: ServiceSpec | undefined,
    serviceName: string,
    dryRun: boolean,
  ): Promise<{ readonly assigned: NodePorts; readonly taken: readonly number[] }> {
    const assign = (pool: NumberPool) => {
      const assigned = assignNodePorts(spec, oldSpec, { range: this.#portRange, pool, serviceName });
      return { assigned, taken: pool.taken };
    };
    if (dryRun) return { ...(await this.#nodePorts.preview(assign)), taken: [] };
    return this.#nodePorts.change(assign);
  }

  /** What the old state had and the new one has not. */
  async #releaseUnused(oldSpec: ServiceSpec, spec: ServiceSpec): Promise<void> {
    await this.#releaseAddresses(addressesOf(oldSpec), addressesOf(spec));
    const keptPorts = new Set(nodePortsOf(spec));
    const ports = nodePortsOf(oldSpec).filter((port) => !keptPorts.has(port));
    await this.#release(this.#nodePorts, this.#portIndexes(ports));
  }

  /** Those of ranges that the cluster no longer has are not kept. */
  async #releaseAddresses(addresses: readonly string[], except: readonly string[] = []): Promise<void> {
    for (const { range, numbers } of this.#pools) {
      const kept = new Set(indexesOf(except, range));
      await this.#release(
        numbers,
        indexesOf(addresses, range).filter((index) => !kept.has(index)),
      );
    }
  }

  async #release(range: StoredRange, indexes: readonly number[]): Promise<void> {
    if (indexes.length === 0) return;
    try {
      await range.change((pool) => {
        for (const index of indexes) pool.release(index);
      });
    } catch (error) {
      this.#onLeak(error);
    }
  }

  #portIndexes(ports: readonly number[]): readonly number[] {
    const { first, last } = this.#portRange;
    return ports.filter((port) => port >= first && port <= last).map((port) => port - first);
  }
}

/** The numbers of the addresses that are in the range. */
function indexesOf(addresses: readonly string[], range: AddressRange): readonly number[] {
  return addresses.map((address) => range.indexOf(address)).filter((index) => index >= 0);
}

function withoutEffect(object: KubeObject): SideEffect {
  const nothing = (): Promise<void> => Promise.resolve();
  return { object, commit: nothing, rollback: nothing };
}
