import { context, RegistryFixture } from '../../test/support/registry-fixture';
import { apiService } from '../api/kinds/apiregistration/api-service';
import type { KubeObject } from '../api/object';
import { silentLogger } from '../observability/logger';
import { CustomApiServices } from './custom-api-services';

const EVERYWHERE = { namespace: '' };

function definition(name: string, group: string, ...served: readonly string[]): KubeObject {
  return { metadata: { name }, spec: { group, versions: served.map((one) => ({ name: one, served: true })) } };
}

describe('the APIServices of custom resources', () => {
  let fixture: RegistryFixture;
  beforeEach(async () => {
    fixture = await RegistryFixture.open();
  });
  afterEach(() => fixture.close());

  it('are there at the start, also those that have been seen to before all definitions were known', async () => {
    const registry = fixture.registry(apiService);
    const services = new CustomApiServices(
      { registry, isBuiltIn: () => false, logger: silentLogger },
      { definitions: 'definitions', services: apiService.storagePrefix },
    );
    const [definitions] = services.sinks;
    const eventually = async (isTrue: () => boolean | Promise<boolean>): Promise<void> => {
      for (let waited = 0; waited < 500 && !(await isTrue()); waited++) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      expect(await isTrue()).toBe(true);
    };
    definitions!.put(definition('as.g.io', 'g.io', 'v1'));
    await eventually(async () => {
      const { entries } = await registry.list(EVERYWHERE, {}, context.signal);
      return [...entries].length === 1;
    });
    expect(services.hasRegistered()).toBe(false);
    definitions!.put(definition('bs.h.io', 'h.io', 'v1'));
    services.started();
    expect(services.hasRegistered()).toBe(false);
    await eventually(() => services.hasRegistered());
    const { entries } = await registry.list(EVERYWHERE, {}, context.signal);
    expect([...entries].map(({ name }) => name)).toEqual(['v1.g.io', 'v1.h.io']);
    await services.close();
  });

  it('come with the first definition of a version, come back when they are deleted, and go with the last', async () => {
    const registry = fixture.registry(apiService);
    const services = new CustomApiServices(
      {
        registry,
        isBuiltIn: (group, version) => group === 'apps' && version === 'v1',
        logger: silentLogger,
      },
      { definitions: 'definitions', services: apiService.storagePrefix },
    );
    const [definitions, objects] = services.sinks;
    const names = async (): Promise<readonly string[]> => {
      const { entries } = await registry.list(EVERYWHERE, {}, context.signal);
      return [...entries].map(({ name }) => name);
    };
    const eventually = async (wanted: readonly string[]): Promise<void> => {
      for (let waited = 0; waited < 100 && String(await names()) !== String(wanted); waited++) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      expect(await names()).toEqual(wanted);
    };

    definitions!.put(definition('as.g.io', 'g.io', 'v1', 'v2'));
    definitions!.put(definition('bs.g.io', 'g.io', 'v1'));
    definitions!.put(definition('cs.apps', 'apps', 'v1'));
    await eventually(['v1.g.io', 'v2.g.io']);
    const { object } = await registry.get(EVERYWHERE, 'v1.g.io', {}, context.signal);
    expect(object).toMatchObject({
      metadata: { labels: { 'kube-aggregator.kubernetes.io/automanaged': 'true' } },
      spec: { groupPriorityMinimum: 1000, versionPriority: 100 },
    });

    const { entry } = await registry.delete(EVERYWHERE, 'v2.g.io', {}, {}, context);
    objects!.put(object);
    objects!.delete(entry.object);
    await eventually(['v1.g.io', 'v2.g.io']);

    definitions!.put(definition('as.g.io', 'g.io', 'v1'));
    objects!.put((await registry.get(EVERYWHERE, 'v2.g.io', {}, context.signal)).object);
    await eventually(['v1.g.io']);
    definitions!.delete(definition('as.g.io', 'g.io'));
    await eventually(['v1.g.io']);
    definitions!.delete(definition('bs.g.io', 'g.io'));
    await eventually([]);
    await services.close();
  });
});
