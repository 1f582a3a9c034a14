import { context, RegistryFixture } from '../../test/support/registry-fixture';
import { apiService } from '../api/kinds/apiregistration/api-service';
import { GROUPS, type GroupDefinition } from '../api/kinds/groups';
import type { KubeObject } from '../api/object';
import type { ResourceRegistry } from '../registry/resource-registry';
import { bootstrapApiServices, builtInServices, customService, putApiService } from './api-services';

const EVERYWHERE = { namespace: '' };
const { signal } = context;

describe('the APIServices of built-in group versions', () => {
  let fixture: RegistryFixture;
  let registry: ResourceRegistry;
  beforeEach(async () => {
    fixture = await RegistryFixture.open();
    registry = fixture.registry(apiService);
  });
  afterEach(() => fixture.close());

  const get = async (name: string): Promise<KubeObject> => (await registry.get(EVERYWHERE, name, {}, signal)).object;
  const names = async (): Promise<readonly string[]> => {
    const { entries } = await registry.list(EVERYWHERE, {}, signal);
    return [...entries].map(({ name }) => name);
  };
  const group = (name: string, ...versions: readonly string[]): GroupDefinition => ({
    name,
    groupPriority: 17_800,
    versions: versions.map((version, index) => ({ version, versionPriority: 15 - index })),
  });
  const bootstrap = (...groups: readonly GroupDefinition[]): Promise<void> =>
    bootstrapApiServices(registry, groups, signal);

  it('are one for each, but for those of their own group', () => {
    const services = builtInServices(GROUPS);
    expect(services).toContainEqual({ group: '', version: 'v1', groupPriorityMinimum: 18_000, versionPriority: 1 });
    expect(services.some((one) => one.group === 'apiregistration.k8s.io')).toBe(false);
  });

  it('are created as available', async () => {
    await bootstrap(group('apps', 'v1'), group('', 'v1'));
    expect(await names()).toEqual(['v1.', 'v1.apps']);
    expect(await get('v1.apps')).toMatchObject({
      metadata: { labels: { 'kube-aggregator.kubernetes.io/automanaged': 'onstart' } },
      spec: { group: 'apps', version: 'v1', groupPriorityMinimum: 17_800, versionPriority: 15 },
      status: { conditions: [{ type: 'Available', status: 'True', reason: 'Local' }] },
    });
    expect((await get('v1.'))['spec']).not.toHaveProperty('group');
  });

  it('are written once, by however many replicas', async () => {
    await Promise.all([bootstrap(group('apps', 'v1', 'v2')), bootstrap(group('apps', 'v1', 'v2'))]);
    const before = await get('v1.apps');
    await bootstrap(group('apps', 'v1', 'v2'));
    expect(await get('v1.apps')).toEqual(before);
  });

  it('get back what they have to be, keep their labels, and go with their versions', async () => {
    await bootstrap(group('apps', 'v1', 'v1beta1'));
    const change = async (current: KubeObject | undefined): Promise<KubeObject> => ({
      ...current!,
      metadata: { ...current!.metadata, labels: { ...current!.metadata.labels, own: 'label' } },
      spec: { ...(current!['spec'] as object), groupPriorityMinimum: 5 },
    });
    await registry.update(EVERYWHERE, 'v1.apps', { change, retryOnConflict: true }, context);
    await bootstrap(group('apps', 'v1'));
    expect(await names()).toEqual(['v1.apps']);
    expect(await get('v1.apps')).toMatchObject({
      metadata: { labels: { own: 'label' } },
      spec: { groupPriorityMinimum: 17_800 },
    });
  });

  it('are left alone when they are somebody else’s', async () => {
    const own = {
      kind: 'APIService',
      apiVersion: 'apiregistration.k8s.io/v1beta1',
      metadata: { name: 'v1.apps' },
      spec: { group: 'apps', version: 'v1', groupPriorityMinimum: 5, versionPriority: 5 },
    };
    await registry.create(EVERYWHERE, own, {}, context);
    await bootstrap(group('apps', 'v1'));
    await putApiService(registry, customService('apps', 'v1'), 'true', context);
    expect(await get('v1.apps')).toMatchObject({ spec: { groupPriorityMinimum: 5 } });
  });
});
