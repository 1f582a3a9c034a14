import { context, RegistryFixture } from '../../test/support/registry-fixture';
import { hasCondition, type CustomResourceDefinition } from '../api/custom/custom-resource-definition';
import { customResourceDefinition } from '../api/kinds/apiextensions/custom-resource-definition';
import type { KubeObject } from '../api/object';
import { loadBuiltinSchema } from '../api/schema/builtin-schema';
import { createLogger } from '../observability/logger';
import { ResourceRegistry } from '../registry/resource-registry';
import { storedDecoder } from '../registry/stored-decoder';
import { CustomResources } from './custom-resources';
import { noFieldOwnership } from './field-ownership';
import { ownResources } from './own-resources';
import { ServedCatalogue } from './served-catalogue';

const schema = loadBuiltinSchema();
const everywhere = { namespace: '' };
const scope = { namespace: 'n' };

let fixture: RegistryFixture;
let definitions: ResourceRegistry;
let catalogue: ServedCatalogue;
let resources: CustomResources;
let removed: { readonly group: string; readonly resource: string }[];

async function follow(): Promise<CustomResources> {
  const { cache, store } = fixture;
  const decoder = storedDecoder(customResourceDefinition, schema);
  const own = ownResources(catalogue, noFieldOwnership)('apiextensions.k8s.io', 'customresourcedefinitions');
  const following = new CustomResources({
    catalogue,
    cache,
    definitions: { cache: cache.register(customResourceDefinition.storagePrefix, decoder), own },
    createRegistry: (definition, { decode, complete }) =>
      new ResourceRegistry({ definition, store, cache, decode, ...(complete === undefined ? {} : { complete }) }),
    schema,
    callConversion: () => Promise.reject(new Error('nobody is asked')),
    keyRoot: '/registry/',
    onRemoved: (gone) => removed.push(gone),
    now: Date.now,
    logger: createLogger({ level: 'fatal' }),
  });
  await following.start();
  return following;
}

beforeEach(async () => {
  removed = [];
  fixture = await RegistryFixture.open();
  const { decode } = storedDecoder(customResourceDefinition, schema);
  definitions = fixture.registry(customResourceDefinition, { decode });
  catalogue = new ServedCatalogue(
    [customResourceDefinition],
    [{ name: 'apiextensions.k8s.io', groupPriority: 1, versions: [{ version: 'v1', versionPriority: 1 }] }],
    schema,
    () => definitions,
  );
  resources = await follow();
});

afterEach(async () => {
  await resources.close();
  await fixture.close();
});

function definition(plural: string, kind: string, spec: object = {}): KubeObject {
  return {
    metadata: { name: `${plural}.example.com` },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties: { a: { type: 'string' } } } },
        },
      ],
      conversion: { strategy: 'None' },
      ...spec,
    },
  };
}

async function until<T>(read: () => T | undefined | false | Promise<T | undefined | false>): Promise<T> {
  const end = Date.now() + 5_000;
  for (;;) {
    const value = await read();
    if (value !== undefined && value !== false) return value;
    if (Date.now() > end) throw new Error('it did not happen within five seconds');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

const served = (plural: string, version = 'v1') => catalogue.resolve('example.com', version, plural);

async function stored(name: string): Promise<CustomResourceDefinition> {
  return (await definitions.get(everywhere, name, {}, context.signal)).object as CustomResourceDefinition;
}

async function change(name: string, next: (current: CustomResourceDefinition) => KubeObject): Promise<void> {
  const hooks = {
    change: async (current: KubeObject | undefined) => next(current as CustomResourceDefinition),
    retryOnConflict: true,
  };
  await definitions.update(everywhere, name, hooks, context);
}

function thing(name: string, fields: object = {}): KubeObject {
  return { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name }, ...fields };
}

describe('a custom resource', () => {
  it('is served soon after it was defined, and its definition is established', async () => {
    const before = catalogue.generation();
    await definitions.create(everywhere, definition('things', 'Thing'), {}, context);
    const { registry, custom } = await until(() => served('things'));
    expect(custom).toBe(true);
    expect(catalogue.generation()).toBeGreaterThan(before);
    expect(catalogue.groups()).toContainEqual({ name: 'example.com', versions: ['v1'] });
    await until(async () => hasCondition(await stored('things.example.com'), 'Established'));
    await registry?.create(scope, thing('x', { a: 'b' }), {}, context);
    expect((await registry?.get(scope, 'x', {}, context.signal))?.object).toMatchObject({ a: 'b' });
  });

  it('is served again after a restart, before anything else happens', async () => {
    await definitions.create(everywhere, definition('things', 'Thing'), {}, context);
    await until(() => served('things'));
    await until(async () => hasCondition(await stored('things.example.com'), 'Established'));
    await resources.close();
    catalogue.removeCustom('things.example.com');
    resources = await follow();
    expect(served('things')).toBeDefined();
  });

  describe('with so many objects that it takes turns to take them in', () => {
    afterEach(() => jest.restoreAllMocks());

    beforeEach(async () => {
      await definitions.create(everywhere, definition('things', 'Thing'), {}, context);
      const { registry } = await until(() => served('things'));
      await until(async () => hasCondition(await stored('things.example.com'), 'Established'));
      for (const name of ['x', 'y', 'z']) await registry?.create(scope, thing(name), {}, context);
      await resources.close();
      catalogue.removeCustom('things.example.com');
      fixture.cache.unregister('example.com/things');
      // Each look at the clock finds that the turn is over.
      let now = performance.now();
      jest.spyOn(performance, 'now').mockImplementation(() => (now += 10));
    });

    it('is served after a restart, and settled', async () => {
      resources = await follow();
      const { entries = [] } = (await served('things')?.registry?.list(scope, {}, context.signal)) ?? {};
      expect([...entries]).toHaveLength(3);
      await until(() => resources.hasSettled());
    });

    it('is emptied when its deletion began before the restart', async () => {
      await definitions.delete(everywhere, 'things.example.com', {}, {}, context);
      resources = await follow();
      await until(() =>
        stored('things.example.com').then(
          () => false,
          () => true,
        ),
      );
      const left = await fixture.store.list({ prefix: '/registry/example.com/things/' });
      expect(left).toMatchObject({ ok: true, items: [] });
    });
  });

  it('reads what was stored before by its newest schema', async () => {
    await definitions.create(everywhere, definition('things', 'Thing'), {}, context);
    const first = await until(() => served('things'));
    await first.registry?.create(scope, thing('x', { a: 'b' }), {}, context);
    const changed = { type: 'object', properties: { late: { type: 'string', default: 'L' } } };
    await change('things.example.com', (crd) => ({
      ...crd,
      spec: { ...crd.spec, versions: [{ ...crd.spec.versions[0], schema: { openAPIV3Schema: changed } }] },
    }));
    const next = await until(() => served('things') !== first && served('things'));
    const { object } = (await next.registry?.get(scope, 'x', {}, context.signal)) ?? {};
    expect(object).toMatchObject({ late: 'L', metadata: { name: 'x' } });
    expect(object).not.toHaveProperty('a');
  });

  it('is not served in versions that are not, nor under names that another has', async () => {
    await definitions.create(everywhere, definition('things', 'Thing'), {}, context);
    await until(() => served('things'));
    await definitions.create(everywhere, definition('others', 'Thing'), {}, context);
    await until(async () => (await stored('others.example.com')).status?.conditions?.length === 2);
    expect(served('others')).toBeUndefined();
    await definitions.delete(everywhere, 'things.example.com', {}, {}, context);
    await until(() => served('others'));
    expect(served('others', 'v2')).toBeUndefined();
  });

  it('goes with its definition, once the last of its objects has gone', async () => {
    await definitions.create(everywhere, definition('things', 'Thing'), {}, context);
    const { registry } = await until(() => served('things'));
    await registry?.create(scope, thing('x'), {}, context);
    const held = { ...thing('y'), metadata: { name: 'y', finalizers: ['a.b/c'] } };
    await registry?.create(scope, held, {}, context);
    await definitions.delete(everywhere, 'things.example.com', {}, {}, context);
    await until(() => served('things')?.terminating);
    await until(async () => {
      const conditions = (await stored('things.example.com')).status?.conditions ?? [];
      return conditions.some(({ reason }) => reason === 'InstanceDeletionInProgress');
    });
    const release = async (current: KubeObject | undefined): Promise<KubeObject> => {
      const { finalizers: _released, ...metadata } = current?.metadata ?? {};
      return { ...current, metadata };
    };
    await registry?.update(scope, 'y', { change: release, retryOnConflict: true }, context, {});
    await until(() => served('things') === undefined);
    expect(removed).toEqual([{ group: 'example.com', resource: 'things' }]);
    await expect(stored('things.example.com')).rejects.toMatchObject({ status: { reason: 'NotFound' } });
    expect(catalogue.groups().map(({ name }) => name)).not.toContain('example.com');
  });

  it('leaves nothing parsed behind, and no events but those of its definition, however often one comes and goes', async () => {
    const ROUNDS = 20;
    const OBJECTS = 10;
    const before = [...fixture.cache.sizes()].length;
    for (let round = 0; round < ROUNDS; round += 1) {
      await definitions.create(everywhere, definition('things', 'Thing'), {}, context);
      const { registry } = await until(() => served('things'));
      await until(async () => hasCondition(await stored('things.example.com'), 'Established'));
      for (let index = 0; index < OBJECTS; index += 1) {
        await registry!.create(scope, thing(`x${index}`), {}, context);
        expect((await registry!.get(scope, `x${index}`, {}, context.signal)).object).toBeDefined();
      }
      await definitions.delete(everywhere, 'things.example.com', {}, {}, context);
      await until(() => served('things') === undefined);
    }
    const { parsedSize, historySize } = fixture.cache;
    // Of the newest events some are kept.
    expect(parsedSize.objects).toBeLessThan(2 * ROUNDS);
    // A definition is created, settled and marked, emptied, and deleted.
    expect(historySize.events).toBeLessThan(ROUNDS * OBJECTS);
    expect([...fixture.cache.sizes()]).toHaveLength(before);
  });
});
