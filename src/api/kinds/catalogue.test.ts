import type { KubeObject } from '../object';
import { loadBuiltinSchema } from '../schema/builtin-schema';
import { CATALOGUE } from './catalogue';
import { GROUPS } from './groups';
import type { KindDefinition } from './kind-definition';

const schema = loadBuiltinSchema();
const served = CATALOGUE.flatMap((definition) =>
  definition.versions.map((version) => ({ definition, ...version, path: `${version.group}/${version.version}` })),
);

function named(resource: string, group?: string): KindDefinition {
  const found = CATALOGUE.find(
    (definition) => definition.resource === resource && (group === undefined || definition.storage.group === group),
  );
  if (found === undefined) throw new Error(`no kind ${resource}`);
  return found;
}

function expectUnique(values: readonly string[]): void {
  expect(values.filter((value, index) => values.indexOf(value) !== index)).toEqual([]);
}

describe('the catalogue of kinds', () => {
  test('a resource, a kind and a short name are each found once in a group version', () => {
    expectUnique(served.map(({ path, definition }) => `${path}/${definition.resource}`));
    expectUnique(served.map(({ path, definition }) => `${path}/${definition.kind}`));
    expectUnique(served.flatMap(({ path, definition }) => definition.shortNames.map((name) => `${path}/${name}`)));
  });

  test('no two kinds share keys in the store', () => {
    const prefixes = CATALOGUE.filter(({ stored }) => stored).map(({ storagePrefix }) => `${storagePrefix}/`);
    expectUnique(prefixes);
    for (const prefix of prefixes) {
      expect(prefixes.filter((other) => other !== prefix && other.startsWith(prefix))).toEqual([]);
    }
  });

  test('every served version, and every stored one, has a type', () => {
    const missing = served.filter(
      ({ group, version, definition }) => schema.kind(group, version, definition.kind) === undefined,
    );
    expect(missing.map(({ path, definition }) => `${path} ${definition.kind}`)).toEqual([]);
    for (const { kind, storage, versions } of CATALOGUE) {
      expect(schema.kind(storage.group, storage.version, kind)).toBeDefined();
      expect(versions.some(({ group, version }) => group === storage.group && version === storage.version)).toBe(true);
    }
  });

  test('the stored version needs no conversion', () => {
    for (const { storage, versions } of CATALOGUE) {
      const stored = versions.find(({ group, version }) => group === storage.group && version === storage.version);
      expect(stored?.convert).toBeUndefined();
    }
  });

  test('the groups list exactly the versions that kinds are served in', () => {
    const listed = GROUPS.flatMap(({ name, versions }) => versions.map(({ version }) => `${name}/${version}`));
    expect([...new Set(served.map(({ path }) => path))].sort()).toEqual([...listed].sort());
  });

  test('every kind that can be read has a table whose cells match its columns', () => {
    const empty: KubeObject = { metadata: { name: 'n' } };
    for (const { verbs, kind, table } of CATALOGUE) {
      if (!verbs.includes('get')) continue;
      expect({ kind, cells: table?.cells(empty, 0).length }).toEqual({ kind, cells: table?.columns.length });
    }
  });

  test('defaults change nothing that they have set before', () => {
    for (const definition of CATALOGUE) {
      for (const { group, version } of definition.versions) {
        const once = definition.applyDefaults?.(
          {
            apiVersion: group === '' ? version : `${group}/${version}`,
            kind: definition.kind,
            metadata: { name: 'n' },
          },
          version,
        );
        if (once !== undefined) expect(definition.applyDefaults?.(once, version)).toEqual(once);
      }
    }
  });

  test.each([
    ['replicationcontrollers', 'controllers'],
    ['endpoints', 'services/endpoints'],
    ['nodes', 'minions'],
    ['services', 'services/specs'],
    ['ingresses', 'ingress'],
    ['podsecuritypolicies', 'podsecuritypolicy'],
    ['apiservices', 'apiregistration.k8s.io/apiservices'],
    ['customresourcedefinitions', 'apiextensions.k8s.io/customresourcedefinitions'],
    ['pods', 'pods'],
  ])('%s are stored under %s', (resource, prefix) => {
    expect(named(resource).storagePrefix).toBe(prefix);
  });

  test.each([
    ['pods', ['attach', 'binding', 'ephemeralcontainers', 'eviction', 'exec', 'log', 'portforward', 'proxy', 'status']],
    ['deployments', ['scale', 'status']],
    ['namespaces', ['finalize', 'status']],
    ['certificatesigningrequests', ['approval', 'status']],
    ['configmaps', []],
  ])('%s have the subresources %j', (resource, names) => {
    expect(named(resource).subresources.map(({ name }) => name)).toEqual(names);
  });

  test('what is created by a PUT, and what needs a resourceVersion for one', () => {
    const creating = CATALOGUE.filter(({ allowCreateOnUpdate }) => allowCreateOnUpdate).map(({ resource }) => resource);
    expect(creating.sort()).toEqual([
      'clusterrolebindings',
      'clusterroles',
      'endpoints',
      'events',
      'leases',
      'limitranges',
      'rolebindings',
      'roles',
      'runtimeclasses',
    ]);
    const conditional = CATALOGUE.filter(({ allowUnconditionalUpdate }) => !allowUnconditionalUpdate);
    expect(conditional.map(({ resource }) => resource).sort()).toEqual([
      'apiservices',
      'csidrivers',
      'csinodes',
      'csistoragecapacities',
      'customresourcedefinitions',
      'leases',
      'mutatingwebhookconfigurations',
      'poddisruptionbudgets',
      'runtimeclasses',
      'storageversions',
      'validatingadmissionpolicies',
      'validatingadmissionpolicybindings',
      'validatingwebhookconfigurations',
      'volumeattachments',
    ]);
  });

  test.each([
    [
      'ingresses',
      'extensions',
      'v1beta1',
      'extensions/v1beta1 Ingress is deprecated in v1.14+, unavailable in v1.22+; use networking.k8s.io/v1 Ingress',
      '1.22',
    ],
    ['componentstatuses', '', 'v1', 'v1 ComponentStatus is deprecated in v1.19+', undefined],
    // Deprecated with this very release: not announced yet.
    ['podsecuritypolicies', 'policy', 'v1beta1', undefined, undefined],
    ['cronjobs', 'batch', 'v1beta1', undefined, undefined],
    ['flowschemas', 'flowcontrol.apiserver.k8s.io', 'v1beta1', undefined, undefined],
    ['deployments', 'apps', 'v1', undefined, undefined],
  ])('%s of %s/%s: %s', (resource, group, version, warning, removed) => {
    const found = named(resource).versions.find((one) => one.group === group && one.version === version);
    expect(found?.deprecationWarning).toBe(warning);
    expect(found?.removedRelease).toBe(removed);
  });
});
