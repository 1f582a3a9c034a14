import { context, dryRun, refusal, RegistryFixture } from '../../../test/support/registry-fixture';
import { service as serviceKind } from '../../api/kinds/core/service';
import type { KubeObject } from '../../api/object';
import type { ServicePort, ServiceSpec } from '../../api/schema/generated/core-v1';
import { specOf } from '../../api/validation/service-addresses';
import type { ResourceRegistry } from '../resource-registry';
import { ServiceAllocations } from './service-allocations';
import type { RangeAllocation } from './stored-range';

const scope = { namespace: 'n' };
const noLeak = (error: unknown): void => {
  throw error;
};

let fixture: RegistryFixture;

beforeEach(async () => {
  fixture = await RegistryFixture.open();
});
afterEach(() => fixture.close());

function allocations(addressRange = '10.0.0.0/29', ports = { first: 30_000, last: 30_003 }): ServiceAllocations {
  const decode = (value: Buffer): RangeAllocation => JSON.parse(value.toString('utf8')) as RangeAllocation;
  return new ServiceAllocations({ store: fixture.store, addressRange, nodePorts: ports, decode, onLeak: noLeak });
}

function registry(sideEffects: ServiceAllocations): ResourceRegistry {
  return fixture.registry(serviceKind, { sideEffects });
}

function service(name: string, spec: ServiceSpec = {}): KubeObject {
  const ports: readonly ServicePort[] = (spec.ports ?? [{ port: 80 }]).map((port) => ({
    protocol: 'TCP',
    targetPort: port.port ?? 0,
    ...port,
  }));
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name },
    spec: { type: 'ClusterIP', sessionAffinity: 'None', ...spec, ports },
  };
}

async function create(services: ResourceRegistry, object: KubeObject, as = context): Promise<ServiceSpec> {
  return specOf((await services.create(scope, object, {}, as)).entry.object);
}

async function change(services: ResourceRegistry, name: string, spec: Partial<Record<keyof ServiceSpec, unknown>>) {
  const update = async (current?: KubeObject): Promise<KubeObject> => {
    const merged = Object.entries({ ...specOf(current ?? service(name)), ...spec });
    return {
      ...(current ?? service(name)),
      spec: Object.fromEntries(merged.filter(([, value]) => value !== undefined)),
    };
  };
  const { entry } = await services.update(scope, name, { change: update, retryOnConflict: true }, context);
  return specOf(entry.object);
}

function remove(services: ResourceRegistry, name: string): Promise<unknown> {
  return services.delete(scope, name, {}, {}, context);
}

/** The numbers that the stored object calls taken. */
async function taken(key: 'serviceips' | 'servicenodeports'): Promise<readonly number[]> {
  const stored = await fixture.store.get(`/registry/ranges/${key}`);
  const { data } = JSON.parse(stored?.value.toString('utf8') ?? '{"data":""}') as RangeAllocation;
  const bits = BigInt(`0x0${Buffer.from(data, 'base64').toString('hex')}`);
  return Array.from({ length: 64 }, (_, index) => index).filter((index) => (bits >> BigInt(index)) & 1n);
}

describe('services', () => {
  it('get an address that is theirs until they are deleted', async () => {
    const services = registry(allocations());
    const { clusterIP = '', clusterIPs } = await create(services, service('a'));
    expect(clusterIP).toMatch(/^10\.0\.0\.[1-6]$/);
    expect(clusterIPs).toEqual([clusterIP]);
    const status = await refusal(services.create(scope, service('b', { clusterIP }), {}, context));
    expect(status.message).toBe(
      `Service "b" is invalid: spec.clusterIPs: Invalid value: []string{"${clusterIP}"}: ` +
        `failed to allocated ip:${clusterIP} with error:provided IP is already allocated`,
    );
    await remove(services, 'a');
    expect(await taken('serviceips')).toEqual([]);
    expect((await create(services, service('b', { clusterIP }))).clusterIP).toBe(clusterIP);
  });

  it('of two replicas never get the same address or port, and each gets one while there is one', async () => {
    const replicas = [registry(allocations()), registry(allocations())];
    const names = ['a', 'b', 'c', 'd'];
    const specs = await Promise.all(
      names.map((name, index) => create(replicas[index % 2] ?? replicas[0]!, service(name, { type: 'NodePort' }))),
    );
    expect(new Set(specs.map(({ clusterIP }) => clusterIP)).size).toBe(4);
    expect(new Set(specs.map(({ ports = [] }) => ports[0]?.nodePort)).size).toBe(4);
    const status = await refusal(replicas[0]!.create(scope, service('e', { type: 'NodePort' }), {}, context));
    expect(status.message).toBe('Internal error occurred: failed to allocate a nodePort: range is full');
    expect(await taken('serviceips')).toHaveLength(4);
  });

  it('that another replica has deleted leave their addresses to all', async () => {
    const [one, other] = [registry(allocations()), registry(allocations())];
    const { clusterIP = '' } = await create(one, service('a'));
    await create(other, service('b'));
    await remove(one, 'a');
    expect((await create(other, service('c', { clusterIP }))).clusterIP).toBe(clusterIP);
  });

  it('that cannot be created keep nothing', async () => {
    const services = registry(allocations());
    await create(services, service('a', { clusterIP: '10.0.0.1' }));
    const clash = service('a', { type: 'NodePort' });
    expect((await refusal(services.create(scope, clash, {}, context))).code).toBe(409);
    const validate = async () => Promise.reject(new Error('refused by admission'));
    await expect(services.create(scope, { ...clash, metadata: { name: 'b' } }, { validate }, context)).rejects.toThrow(
      'refused by admission',
    );
    expect([await taken('serviceips'), await taken('servicenodeports')]).toEqual([[0], []]);
  });

  it('of a dry run show node ports and no address, and take neither', async () => {
    const services = registry(allocations());
    const spec = await create(services, service('a', { type: 'NodePort' }), dryRun);
    expect(spec.clusterIP).toBeUndefined();
    expect(spec.ports?.[0]?.nodePort).toBeGreaterThanOrEqual(30_000);
    expect([await taken('serviceips'), await taken('servicenodeports')]).toEqual([[], []]);
  });

  it('get and give back with their type', async () => {
    const services = registry(allocations());
    const { clusterIP } = await create(services, service('a'));
    const external = await change(services, 'a', { type: 'NodePort', externalTrafficPolicy: 'Cluster' });
    expect(external).toMatchObject({ clusterIP, ports: [{ nodePort: expect.any(Number) }] });
    const balanced = await change(services, 'a', { type: 'LoadBalancer', externalTrafficPolicy: 'Local' });
    expect(balanced.ports).toEqual(external.ports);
    expect(await taken('servicenodeports')).toHaveLength(2);
    const inner = await change(services, 'a', { type: 'ClusterIP' });
    expect(inner).toMatchObject({ clusterIP });
    expect(inner).not.toHaveProperty('healthCheckNodePort');
    expect(await taken('servicenodeports')).toEqual([]);
    const name = await change(services, 'a', { type: 'ExternalName', externalName: 'x.example.com' });
    expect(name).not.toHaveProperty('clusterIP');
    expect(await taken('serviceips')).toEqual([]);
    expect((await change(services, 'a', { type: 'ClusterIP', externalName: undefined })).clusterIP).toBeDefined();
  });

  it.each<[string, ServiceSpec, string]>([
    [
      'an address outside',
      { clusterIP: '10.0.0.7' },
      'spec.clusterIPs: Invalid value: []string{"10.0.0.7"}: failed to allocated ip:10.0.0.7 with error:' +
        'provided IP is not in the valid range. The range of valid IPs is 10.0.0.0/29',
    ],
    [
      'a port outside',
      { type: 'NodePort', ports: [{ port: 1, nodePort: 1 }] },
      'spec.ports[0].nodePort: Invalid value: 1: provided port is not in the valid range. ' +
        'The range of valid ports is 30000-30003',
    ],
    [
      'two families',
      { ipFamilyPolicy: 'RequireDualStack' },
      'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack services',
    ],
  ])('are refused %s', async (_what, spec, problem) => {
    const services = registry(allocations());
    const status = await refusal(services.create(scope, service('a', spec), {}, context));
    expect(status.message).toBe(`Service "a" is invalid: ${problem}`);
  });

  it('share one node port between the protocols of one port', async () => {
    const ports = [
      { name: 'a', port: 53, protocol: 'UDP' },
      { name: 'b', port: 53, protocol: 'TCP' },
    ];
    const spec = await create(registry(allocations()), service('a', { type: 'NodePort', ports }));
    expect(spec.ports?.[0]?.nodePort).toBe(spec.ports?.[1]?.nodePort);
  });

  it('show families only to those who name them', async () => {
    const services = registry(allocations());
    expect(await create(services, service('a'))).not.toHaveProperty('ipFamilies');
    const spec = await create(services, service('b', { ipFamilyPolicy: 'PreferDualStack' }));
    expect(spec).toMatchObject({ ipFamilyPolicy: 'PreferDualStack', ipFamilies: ['IPv4'] });
  });
});

describe('a repair', () => {
  it('notes what services have, and releases what nobody has when it saw that four times', async () => {
    const services = [service('a', { clusterIP: '10.0.0.3', clusterIPs: ['10.0.0.3'] })];
    const repaired = allocations();
    const list = async () => services;
    await repaired.repair(list);
    expect(await taken('serviceips')).toEqual([2]);
    await repaired.begin(service('leak', { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'] }), undefined, context);
    for (let round = 1; round <= 3; round++) {
      await repaired.repair(list);
      expect(await taken('serviceips')).toEqual([0, 2]);
    }
    await repaired.repair(list);
    expect(await taken('serviceips')).toEqual([2]);
  });

  it('starts anew when the range has been changed', async () => {
    await create(registry(allocations()), service('a', { clusterIP: '10.0.0.1' }));
    const moved = allocations('10.1.0.0/24');
    await moved.repair(async () => [service('b', { clusterIP: '10.1.0.9', clusterIPs: ['10.1.0.9'] })]);
    expect(await taken('serviceips')).toEqual([8]);
  });
});
