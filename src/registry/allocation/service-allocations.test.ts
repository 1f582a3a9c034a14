import fc from 'fast-check';
import { context, dryRun, putting, refusal, RegistryFixture } from '../../../test/support/registry-fixture';
import { StatusError } from '../../api/errors/status-error';
import { service as serviceKind } from '../../api/kinds/core/service';
import type { KubeObject } from '../../api/object';
import type { ServicePort, ServiceSpec } from '../../api/schema/generated/core-v1';
import { specOf } from '../../api/validation/service-addresses';
import type { ResourceRegistry } from '../resource-registry';
import type { OperationContext } from '../types';
import { ServiceAllocations, type AddressRanges } from './service-allocations';
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

const RANGE: AddressRanges = ['10.0.0.0/29'];
const DUAL_STACK: AddressRanges = ['10.0.0.0/29', 'fd00::/125'];
const PORTS = { first: 30_000, last: 30_003 };

function allocations(addressRanges = RANGE): ServiceAllocations {
  const decode = (value: Buffer): RangeAllocation => JSON.parse(value.toString('utf8')) as RangeAllocation;
  return new ServiceAllocations({ store: fixture.store, addressRanges, nodePorts: PORTS, decode, onLeak: noLeak });
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

async function create(
  services: ResourceRegistry,
  object: KubeObject,
  as: OperationContext = context,
): Promise<ServiceSpec> {
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
async function taken(key: 'serviceips' | 'secondaryserviceips' | 'servicenodeports'): Promise<readonly number[]> {
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

  it('of a balancer that needs no node ports keep those that they name', async () => {
    const ports = [
      { name: 'a', port: 53, protocol: 'TCP' },
      { name: 'b', port: 53, protocol: 'UDP', nodePort: 30_002 },
    ];
    const spec = { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false, ports };
    const created = await create(registry(allocations()), service('a', spec));
    expect(created.ports?.map(({ nodePort }) => nodePort)).toEqual([undefined, 30_002]);
    expect(await taken('servicenodeports')).toEqual([2]);
  });

  it('need a port for their health check as well', async () => {
    const services = registry(allocations());
    const ports = [30_000, 30_001, 30_002, 30_003].map((port) => ({ name: `p${port}`, port, nodePort: port }));
    const status = await refusal(
      services.create(
        scope,
        service('a', { type: 'LoadBalancer', externalTrafficPolicy: 'Local', ports }),
        {},
        context,
      ),
    );
    expect(status.message).toBe('Internal error occurred: failed to allocate a HealthCheck NodePort 0: range is full');
    expect(await taken('servicenodeports')).toEqual([]);
  });

  it('show families only to those who name them', async () => {
    const services = registry(allocations());
    expect(await create(services, service('a'))).not.toHaveProperty('ipFamilies');
    const spec = await create(services, service('b', { ipFamilyPolicy: 'PreferDualStack' }));
    expect(spec).toMatchObject({ ipFamilyPolicy: 'PreferDualStack', ipFamilies: ['IPv4'] });
  });
});

describe('services of two families', () => {
  const V4 = expect.stringMatching(/^10\.0\.0\.[1-6]$/);
  const V6 = expect.stringMatching(/^fd00::[1-7]$/);

  it('get an address of each in the order they name, and give both back', async () => {
    const services = registry(allocations(DUAL_STACK));
    const spec = await create(services, service('a', { ipFamilyPolicy: 'RequireDualStack', ipFamilies: ['IPv6'] }));
    expect(spec).toMatchObject({ ipFamilies: ['IPv6', 'IPv4'], clusterIP: V6, clusterIPs: [V6, V4] });
    expect([await taken('serviceips'), await taken('secondaryserviceips')]).toEqual([
      [expect.anything()],
      [expect.anything()],
    ]);
    await remove(services, 'a');
    expect([await taken('serviceips'), await taken('secondaryserviceips')]).toEqual([[], []]);
  });

  it('get their second address later, and may give it up by their policy alone', async () => {
    const services = registry(allocations(DUAL_STACK));
    const { clusterIP } = await create(services, service('a'));
    const dual = await change(services, 'a', { ipFamilyPolicy: 'PreferDualStack' });
    expect(dual.clusterIPs).toEqual([clusterIP, V6]);
    expect(await taken('secondaryserviceips')).toHaveLength(1);
    const single = await change(services, 'a', { ipFamilyPolicy: 'SingleStack' });
    expect(single).toMatchObject({ clusterIPs: [clusterIP], ipFamilies: ['IPv4'] });
    expect(await taken('secondaryserviceips')).toEqual([]);
  });

  it('keep nothing of one family when they cannot have the other', async () => {
    const services = registry(allocations(DUAL_STACK));
    await create(services, service('a', { clusterIP: 'fd00::3' }));
    const clusterIPs = ['10.0.0.2', 'fd00::3'];
    const clash = { clusterIP: '10.0.0.2', clusterIPs, ipFamilyPolicy: 'RequireDualStack' };
    const status = await refusal(services.create(scope, service('b', clash), {}, context));
    expect(status.message).toContain('failed to allocated ip:fd00::3 with error:provided IP is already allocated');
    expect(await taken('serviceips')).toEqual([]);
  });

  it('show their families and no address in a dry run', async () => {
    const services = registry(allocations(DUAL_STACK));
    const spec = await create(services, service('a', { ipFamilyPolicy: 'PreferDualStack' }), dryRun);
    expect(spec).toMatchObject({ ipFamilies: ['IPv4', 'IPv6'] });
    expect(spec).not.toHaveProperty('clusterIPs');
    expect(await taken('secondaryserviceips')).toEqual([]);
  });

  it('are repaired in both ranges', async () => {
    const clusterIPs = ['fd00::2', '10.0.0.5'];
    await allocations(DUAL_STACK).repair(async () => [service('a', { clusterIP: 'fd00::2', clusterIPs })]);
    expect([await taken('serviceips'), await taken('secondaryserviceips')]).toEqual([[4], [1]]);
  });

  it('outlive the second family: their status can be written, and they can be deleted', async () => {
    await create(registry(allocations(DUAL_STACK)), service('a', { ipFamilyPolicy: 'RequireDualStack' }));
    const services = registry(allocations());
    const status = serviceKind.subresources.find(({ name }) => name === 'status');
    const report = async (current?: KubeObject): Promise<KubeObject> => ({ ...(current ?? service('a')), status: {} });
    await services.update(scope, 'a', { change: report, retryOnConflict: true }, context, status?.strategy);
    await remove(services, 'a');
    expect(await taken('serviceips')).toEqual([]);
  });
});

describe('a service', () => {
  it('is not overwritten by those who do not say what they have read', async () => {
    const services = registry(allocations());
    const spec = await create(services, service('a'));
    const status = await refusal(services.update(scope, 'a', putting(service('a', spec)), context));
    expect(status.message).toBe(
      'Service "a" is invalid: metadata.resourceVersion: Invalid value: "": must be specified for an update',
    );
  });
});

/** What a random client asks for; much of it cannot be had at one time or another. */
const wish = fc.record({
  what: fc.constantFrom('create', 'change', 'remove'),
  name: fc.constantFrom('a', 'b', 'c', 'd'),
  replica: fc.nat({ max: 1 }),
  spec: fc.record(
    {
      type: fc.constantFrom('ClusterIP', 'NodePort', 'LoadBalancer', 'ExternalName'),
      externalName: fc.constant('x.example.com'),
      ipFamilyPolicy: fc.constantFrom('SingleStack', 'PreferDualStack', 'RequireDualStack'),
      ipFamilies: fc.constantFrom(['IPv6'], ['IPv4', 'IPv6']),
      externalTrafficPolicy: fc.constantFrom('Local', 'Cluster'),
      clusterIP: fc.constantFrom('10.0.0.2', 'fd00::2', 'None'),
      ports: fc.constantFrom<readonly ServicePort[]>(
        [{ port: 80 }],
        [{ port: 80, nodePort: 30_001 }],
        [
          { port: 80, name: 'a' },
          { port: 81, name: 'b' },
        ],
      ),
    },
    { requiredKeys: [] },
  ),
});

function sorted(numbers: Iterable<number>): readonly number[] {
  return [...numbers].sort((left, right) => left - right);
}

/** The numbers that the services have, once for each that has it. */
async function held(services: ResourceRegistry): Promise<readonly (readonly number[])[]> {
  const { entries } = await services.list(scope, {}, context.signal);
  const specs = Array.from(entries, ({ object }) => specOf(object));
  const addresses = specs.flatMap(({ clusterIPs = [] }) => clusterIPs);
  const numbersBehind = (prefix: string) =>
    addresses.filter((one) => one.startsWith(prefix)).map((one) => Number(one.slice(prefix.length)) - 1);
  const ports = specs.flatMap(({ ports: own = [], healthCheckNodePort = 0 }) => [
    ...new Set([...own.map(({ nodePort = 0 }) => nodePort), healthCheckNodePort].filter((port) => port > 0)),
  ]);
  return [numbersBehind('10.0.0.'), numbersBehind('fd00::'), ports.map((port) => port - PORTS.first)].map(sorted);
}

describe('the ranges', () => {
  it('get back through one replica what another one took since the first one looked', async () => {
    const [first, second] = [registry(allocations()), registry(allocations())];
    await create(first, service('a'));
    const { ports = [] } = await create(second, service('b', { type: 'NodePort' }));
    expect(ports).toHaveLength(1);
    expect(await taken('servicenodeports')).toHaveLength(1);
    await remove(first, 'b');
    expect(await taken('servicenodeports')).toEqual([]);
    expect(await taken('serviceips')).toHaveLength(1);
  });

  it('hold what services have and nothing else, whatever the clients of two replicas do', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(wish, { maxLength: 25 }), async (wishes) => {
        await fixture.close();
        fixture = await RegistryFixture.open();
        const replicas = [registry(allocations(DUAL_STACK)), registry(allocations(DUAL_STACK))];
        const calls = {
          create: (services: ResourceRegistry, name: string, spec: ServiceSpec) =>
            create(services, service(name, spec)),
          change,
          remove,
        };
        const fulfil = ({ what, name, replica, spec }: (typeof wishes)[number]) =>
          calls[what](replicas[replica]!, name, spec as ServiceSpec).catch((error: unknown) =>
            expect(error).toBeInstanceOf(StatusError),
          );
        for (let index = 0; index < wishes.length; index += 3) {
          await Promise.all(wishes.slice(index, index + 3).map(fulfil));
        }
        const ranges = [await taken('serviceips'), await taken('secondaryserviceips'), await taken('servicenodeports')];
        expect(ranges).toEqual(await held(replicas[0]!));
      }),
      { numRuns: 25 },
    );
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
    const moved = allocations(['10.1.0.0/24']);
    await moved.repair(async () => [service('b', { clusterIP: '10.1.0.9', clusterIPs: ['10.1.0.9'] })]);
    expect(await taken('serviceips')).toEqual([8]);
  });
});
