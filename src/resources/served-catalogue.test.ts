import { thingKind } from '../../test/support/registry-fixture';
import { CATALOGUE } from '../api/kinds/catalogue';
import { GROUPS } from '../api/kinds/groups';
import type { KindDefinition } from '../api/kinds/kind-definition';
import { loadBuiltinSchema } from '../api/schema/builtin-schema';
import type { Schema, StructType } from '../api/schema/model';
import type { ResourceRegistry } from '../registry/resource-registry';
import { isServedByDefault, parseRuntimeConfig } from './runtime-config';
import { ServedCatalogue, type CustomResource } from './served-catalogue';

const TYPE: StructType = { kind: 'struct', name: 'Thing', description: '', fields: new Map(), wire: [], isKind: true };
const SCHEMA: Schema = { kind: () => TYPE, message: () => TYPE, messages: () => [TYPE] };
const REGISTRY = {} as ResourceRegistry;

function custom(definition: KindDefinition): CustomResource {
  const served = definition.versions.map((version) => ({
    definition,
    version,
    registry: REGISTRY,
    type: TYPE,
    listKind: `${definition.kind}List`,
    custom: true,
  }));
  return { definition, served, registry: REGISTRY, schemas: new Map([[`${definition.storage.group}/v1/X`, {}]]) };
}

function catalogueOf(...definitions: readonly KindDefinition[]): ServedCatalogue {
  const groups = [
    { name: '', groupPriority: 2, versions: [{ version: 'v1', versionPriority: 1 }] },
    { name: 'apps', groupPriority: 1, versions: [{ version: 'v1', versionPriority: 1 }] },
  ];
  return new ServedCatalogue(definitions, groups, SCHEMA, () => REGISTRY);
}

describe('the catalogue of what is served', () => {
  it('does without what is switched off, and still has it for the server itself', () => {
    const groups = [
      {
        name: 'apps',
        groupPriority: 1,
        versions: ['v1', 'v1beta1'].map((version) => ({ version, versionPriority: 1 })),
      },
      { name: 'gone', groupPriority: 1, versions: [{ version: 'v1', versionPriority: 1 }] },
    ];
    const definitions = [
      thingKind({ group: 'apps', resource: 'as', versions: ['v1', 'v1beta1'] }),
      thingKind({ group: 'gone', resource: 'gs', versions: ['v1'] }),
    ];
    const catalogue = new ServedCatalogue(
      definitions,
      groups,
      SCHEMA,
      () => REGISTRY,
      (group, version) => group !== 'gone' && version !== 'v1beta1',
    );
    expect(catalogue.resolve('apps', 'v1', 'as')).toBeDefined();
    expect(catalogue.resolve('apps', 'v1beta1', 'as')).toBeUndefined();
    expect(catalogue.resolve('gone', 'v1', 'gs')).toBeUndefined();
    expect(catalogue.groups()).toEqual([{ name: 'apps', versions: ['v1'] }]);
    expect(catalogue.definitions().map(({ resource, versions }) => [resource, versions.length])).toEqual([['as', 1]]);
    expect(catalogue.hasBuiltInGroup('gone')).toBe(false);
    expect(catalogue.registryOf('gone', 'gs')).toBe(REGISTRY);
  });

  it('has alpha versions of built-in kinds everywhere or, by default, nowhere', () => {
    const schema = loadBuiltinSchema();
    const seenWith = (isServed: typeof isServedByDefault) => {
      const catalogue = new ServedCatalogue(CATALOGUE, GROUPS, schema, () => REGISTRY, isServed);
      return {
        resolved: catalogue.resolve('node.k8s.io', 'v1alpha1', 'runtimeclasses') !== undefined,
        groups: catalogue.groups().flatMap(({ versions }) => versions),
        kinds: catalogue.definitions().flatMap(({ versions }) => versions.map(({ version }) => version)),
        group: catalogue.hasBuiltInGroup('internal.apiserver.k8s.io'),
      };
    };
    const off = seenWith(isServedByDefault);
    expect(off).toMatchObject({ resolved: false, group: false });
    expect([...off.groups, ...off.kinds].filter((version) => version.includes('alpha'))).toEqual([]);

    const on = seenWith(parseRuntimeConfig({ 'api/alpha': 'true' }, GROUPS).isServed);
    expect(on).toMatchObject({ resolved: true, group: true });
    expect(on.groups.filter((version) => version.includes('alpha'))).toHaveLength(7);
    expect(on.kinds.filter((version) => version.includes('alpha'))).toHaveLength(12);
  });

  it('names groups of custom resources after the built-in ones, by name, their best version first', () => {
    const catalogue = catalogueOf(thingKind());
    catalogue.setCustom('b', custom(thingKind({ group: 'b.io', resource: 'bs', versions: ['v1', 'v1beta1'] })));
    catalogue.setCustom('c', custom(thingKind({ group: 'b.io', resource: 'cs', versions: ['v2'] })));
    catalogue.setCustom('a', custom(thingKind({ group: 'a.io', resource: 'as' })));
    expect(catalogue.groups()).toEqual([
      { name: 'apps', versions: ['v1'] },
      { name: 'a.io', versions: ['v1'] },
      { name: 'b.io', versions: ['v2', 'v1', 'v1beta1'] },
    ]);
    expect(catalogue.groupVersions()).toHaveLength(6);
    expect(catalogue.definitions()).toHaveLength(4);
    expect([...catalogue.customSchemas().keys()]).toEqual(['b.io/v1/X', 'a.io/v1/X']);
    expect(catalogue.hasBuiltInGroup('a.io')).toBe(false);
  });

  it('counts every change, and forgets what is removed', () => {
    const catalogue = catalogueOf(thingKind());
    const generations = [catalogue.generation()];
    const count = () => generations.push(catalogue.generation());
    catalogue.setCustom('a', custom(thingKind({ group: 'a.io' })));
    count();
    catalogue.setCustom('a', custom(thingKind({ group: 'a.io', versions: ['v2'] })));
    count();
    expect(catalogue.resolve('a.io', 'v1', 'things')).toBeUndefined();
    expect(catalogue.resolve('a.io', 'v2', 'things')).toBeDefined();
    catalogue.removeCustom('a');
    count();
    catalogue.removeCustom('a');
    expect(catalogue.generation()).toBe(generations.at(-1));
    expect(new Set(generations).size).toBe(4);
    expect(catalogue.resolve('a.io', 'v2', 'things')).toBeUndefined();
    expect(catalogue.groups().map(({ name }) => name)).toEqual(['apps']);
  });

  it('lets no custom resource take the place of a built-in one', () => {
    const catalogue = catalogueOf(thingKind({ group: 'apps' }));
    const builtIn = catalogue.resolve('apps', 'v1', 'things');
    catalogue.setCustom('things.apps', custom(thingKind({ group: 'apps', versions: ['v1', 'v9'] })));
    expect(catalogue.resolve('apps', 'v1', 'things')).toBe(builtIn);
    expect(catalogue.groups()).toEqual([{ name: 'apps', versions: ['v1', 'v9'] }]);
  });
});
