import { invalid } from '../../api/errors/field-error';
import { invalidObject } from '../../api/errors/status-error';
import { withFields } from '../../api/kinds/strategies';
import type { KubeObject } from '../../api/object';
import type { ServiceSpec } from '../../api/schema/generated/core-v1';
import { specOf } from '../../api/validation/service-addresses';
import type { Store } from '../../storage/store';
import type { SideEffect, SideEffects } from '../side-effects';
import type { OperationContext } from '../types';
import { AddressRange } from './address-range';
import { addressesOf, takeAddress, wantsAddress } from './cluster-addresses';
import { assignNodePorts, nodePortsOf, portRangeText, type NodePorts, type PortRange } from './node-ports';
import type { NumberPool } from './number-pool';
import { RangeRepair } from './range-repair';
import { familiesOf, familyProblem } from './service-families';
import { StoredRange, type RangeAllocation } from './stored-range';

export interface ServiceAllocationsOptions {
  readonly store: Store;
  /** CIDR of the services' addresses (`--service-cluster-ip-range`). */
  readonly addressRange: string;
  /** `--service-node-port-range`. */
  readonly nodePorts: PortRange;
  /** Reads a RangeAllocation, whoever wrote it. */
  readonly decode: (value: Buffer) => RangeAllocation;
  /** What could not be given back, which a repair will find. */
  readonly onLeak: (error: unknown) => void;
  readonly keyRoot?: string;
}

/**
 * Gives services their addresses and node ports, and takes them back. What is taken stands in two objects of the store,
 * as kube-apiserver keeps them.
 */
export class ServiceAllocations implements SideEffects {
  readonly #range: AddressRange;
  readonly #portRange: PortRange;
  readonly #addresses: StoredRange;
  readonly #nodePorts: StoredRange;
  readonly #repairs: readonly RangeRepair[];
  readonly #onLeak: (error: unknown) => void;

  constructor({ store, addressRange, nodePorts, decode, onLeak, keyRoot = '/registry/' }: ServiceAllocationsOptions) {
    this.#range = new AddressRange(addressRange);
    this.#portRange = nodePorts;
    this.#onLeak = onLeak;
    this.#addresses = new StoredRange({
      store,
      key: `${keyRoot}ranges/serviceips`,
      range: addressRange,
      size: this.#range.size,
      decode,
    });
    this.#nodePorts = new StoredRange({
      store,
      key: `${keyRoot}ranges/servicenodeports`,
      range: portRangeText(nodePorts),
      size: nodePorts.last - nodePorts.first + 1,
      decode,
    });
    this.#repairs = [
      new RangeRepair(this.#addresses, (service) => this.#addressIndexes(specOf(service))),
      new RangeRepair(this.#nodePorts, (service) => this.#portIndexes(nodePortsOf(specOf(service)))),
    ];
  }

  async begin(object: KubeObject, old: KubeObject | undefined, { dryRun }: OperationContext): Promise<SideEffect> {
    const oldSpec = old && specOf(old);
    const service = this.#withFamilies(object);
    const name = object.metadata.name ?? '';
    const address = await this.#takeAddress(specOf(service), oldSpec, name, dryRun);
    const rollbackAddress = () =>
      this.#release(this.#addresses, address === undefined ? [] : [this.#range.indexOf(address)]);
    const ports = await this.#takeNodePorts(specOf(service), oldSpec, name, dryRun).catch(async (error: unknown) => {
      await rollbackAddress();
      throw error;
    });
    const complete = withFields(service, 'spec', {
      ...(address === undefined ? {} : { clusterIP: address, clusterIPs: [address] }),
      ...ports.assigned,
    });
    return {
      object: complete,
      commit: () =>
        oldSpec === undefined || dryRun ? Promise.resolve() : this.#releaseUnused(oldSpec, specOf(complete)),
      rollback: async () => {
        await rollbackAddress();
        await this.#release(this.#nodePorts, ports.taken);
      },
    };
  }

  removed(object: KubeObject): Promise<void> {
    return this.#releaseUnused(specOf(object), { type: 'ExternalName' });
  }

  /**
   * Brings the two objects in line with the services that there are: creates them in a cluster that has none, takes what
   * services have and nobody noted, and releases what nobody has. `list` gives all services, newer than the call.
   */
  async repair(list: () => Promise<Iterable<KubeObject>>): Promise<void> {
    for (const repair of this.#repairs) await repair.run(list);
  }

  #withFamilies(object: KubeObject): KubeObject {
    const spec = specOf(object);
    const problem = familyProblem(spec, this.#range);
    if (problem !== undefined) {
      const { field, value, detail } = problem;
      const name = object.metadata.name ?? '';
      throw invalidObject({ group: '', kind: 'Service' }, name, [invalid(field, value, detail)]);
    }
    const families = familiesOf(spec, this.#range);
    return Object.keys(families).length === 0 ? object : withFields(object, 'spec', families);
  }

  /** In a dry run a service gets no address, as no other request may be refused because of it. */
  async #takeAddress(
    spec: ServiceSpec,
    oldSpec: ServiceSpec | undefined,
    serviceName: string,
    dryRun: boolean,
  ): Promise<string | undefined> {
    if (dryRun || !wantsAddress(spec, oldSpec)) return undefined;
    return this.#addresses.change((pool) => takeAddress(spec, { range: this.#range, pool, serviceName }));
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
    const kept = new Set(this.#addressIndexes(spec));
    const keptPorts = new Set(nodePortsOf(spec));
    const addresses = this.#addressIndexes(oldSpec).filter((index) => !kept.has(index));
    const ports = nodePortsOf(oldSpec).filter((port) => !keptPorts.has(port));
    await this.#release(this.#addresses, addresses);
    await this.#release(this.#nodePorts, this.#portIndexes(ports));
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

  #addressIndexes(spec: ServiceSpec): readonly number[] {
    return addressesOf(spec)
      .map((address) => this.#range.indexOf(address))
      .filter((index) => index >= 0);
  }

  #portIndexes(ports: readonly number[]): readonly number[] {
    const { first, last } = this.#portRange;
    return ports.filter((port) => port >= first && port <= last).map((port) => port - first);
  }
}
