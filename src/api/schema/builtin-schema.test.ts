import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseApiVersion, type JsonValue, type KubeObject } from '../object';
import { loadBuiltinSchema } from './builtin-schema';
import type { Deployment } from './generated/apps-v1';
import type { StructType, TypeRef } from './model';

const repository = join(__dirname, '..', '..', '..');
const schema = loadBuiltinSchema();
const structs = [...schema.messages()];

interface ServedKinds {
  readonly [apiVersion: string]: { readonly listed: readonly string[]; readonly single: readonly string[] };
}
const served = JSON.parse(readFileSync(join(__dirname, 'testdata', 'served-kinds.json'), 'utf8')) as ServedKinds;

function kindOf(apiVersion: string, kind: string): StructType {
  const { group, version } = parseApiVersion(apiVersion);
  const struct = schema.kind(group, version, kind);
  if (struct === undefined) throw new Error(`no ${apiVersion} ${kind}`);
  return struct;
}

function messageOf(name: string): StructType {
  const struct = schema.message(name);
  if (struct === undefined) throw new Error(`no message ${name}`);
  return struct;
}

describe('kinds', () => {
  it.each(Object.entries(served))('of %s resolve, with their lists', (apiVersion, { listed, single }) => {
    for (const kind of [...listed, ...single]) expect(kindOf(apiVersion, kind).isKind).toBe(true);
    for (const kind of listed) {
      const list = kindOf(apiVersion, `${kind}List`);
      const items = list.fields.get('items')?.type;
      expect(items).toMatchObject({ kind: 'list', items: { name: kindOf(apiVersion, kind).name } });
      expect(list.fields.get('metadata')?.type).toMatchObject({ name: expect.stringMatching(/\.v1\.ListMeta$/) });
    }
  });

  it.each(['CreateOptions', 'DeleteOptions', 'ListOptions', 'WatchEvent'])(
    'include %s in every group version',
    (kind) => {
      for (const { group, version } of schema.groupVersions) {
        expect(schema.kind(group, version, kind)?.name).toBe(`k8s.io.apimachinery.pkg.apis.meta.v1.${kind}`);
      }
      expect(schema.kind('example.com', 'v1', kind)).toBeUndefined();
    },
  );

  it.each(['Status', 'APIGroup', 'APIResourceList'])('include %s under any apiVersion at all', (kind) => {
    expect(schema.kind('example.com', 'v3', kind)).toBe(messageOf(`k8s.io.apimachinery.pkg.apis.meta.v1.${kind}`));
  });

  it('have TypeScript types that are API objects', () => {
    const widen = (deployment: Deployment): KubeObject => deployment;
    const deployment: Deployment = { metadata: { name: 'd' }, spec: { replicas: 2 } };
    expect(widen(deployment)).toBe(deployment);
  });

  it('are unknown when nobody declares them', () => {
    expect(schema.kind('apps', 'v1', 'Pod')).toBeUndefined();
    expect(schema.message('k8s.io.api.apps.v1.Pod')).toBeUndefined();
  });
});

describe('fields', () => {
  it.each([
    ['k8s.io.api.core.v1.Pod', 'spec', 2],
    ['k8s.io.api.core.v1.PodSpec', 'containers', 2],
    ['k8s.io.api.core.v1.PodSpec', 'nodeName', 10],
    ['k8s.io.api.core.v1.Container', 'livenessProbe', 10],
    ['k8s.io.api.core.v1.ServiceSpec', 'topologyKeys', 16],
    ['k8s.io.api.apps.v1.DeploymentSpec', 'replicas', 1],
    ['k8s.io.api.networking.v1.NetworkPolicySpec', 'policyTypes', 4],
    ['k8s.io.api.policy.v1beta1.PodSecurityPolicySpec', 'runAsGroup', 22],
    ['k8s.io.apimachinery.pkg.apis.meta.v1.ObjectMeta', 'managedFields', 17],
    ['k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps', '$ref', 3],
  ])('%s.%s has its number on the wire', (message, field, number) => {
    expect(messageOf(message).wire.find(({ json }) => json === field)?.number).toBe(number);
  });

  it('are described, each by a sentence that begins with its name', () => {
    const all = structs.flatMap((struct) => [...struct.fields.values()].map((field) => ({ struct, field })));
    const wrong = all.filter(({ field: { name, description } }) => {
      const rest = description.slice(name.length);
      return !(
        description.toLowerCase().startsWith(name.toLowerCase()) &&
        /^:? \S+ \S.*[.]$/.test(rest) &&
        !description.includes('  ')
      );
    });
    expect(wrong.map(({ struct, field }) => `${struct.name}.${field.name}: ${field.description}`)).toEqual([]);
  });

  it('of inlined messages are flat in JSON and nested on the wire', () => {
    const volume = messageOf('k8s.io.api.core.v1.Volume');
    expect([...volume.fields.keys()].slice(0, 3)).toEqual(['name', 'hostPath', 'emptyDir']);
    expect(volume.wire).toMatchObject([
      { number: 1, json: 'name' },
      { number: 2, json: undefined, type: { name: 'k8s.io.api.core.v1.VolumeSource' } },
    ]);
    const named = messageOf('k8s.io.api.admissionregistration.v1.NamedRuleWithOperations');
    expect([...named.fields.keys()]).toEqual(
      expect.arrayContaining(['resourceNames', 'operations', 'apiGroups', 'resources', 'scope']),
    );
  });

  it('know when they are written', () => {
    const deployment = kindOf('apps/v1', 'Deployment');
    expect(deployment.fields.get('status')).toMatchObject({ always: true, required: false, pointer: false });
    const meta = messageOf('k8s.io.apimachinery.pkg.apis.meta.v1.ObjectMeta');
    expect(meta.fields.get('creationTimestamp')).toMatchObject({ always: true, pointer: false });
    expect(meta.fields.get('deletionTimestamp')).toMatchObject({ always: false, pointer: true });
    const spec = messageOf('k8s.io.api.apps.v1.DeploymentSpec');
    expect(spec.fields.get('selector')).toMatchObject({ always: true, required: true, pointer: true });
    expect(spec.fields.get('replicas')).toMatchObject({ always: false, pointer: true, defaultValue: 1 });
  });

  it('know how they are merged', () => {
    const pod = messageOf('k8s.io.api.core.v1.PodSpec').fields;
    expect(pod.get('containers')?.type).toMatchObject({
      listType: 'map',
      listMapKeys: ['name'],
      patchStrategy: 'merge',
      patchMergeKey: 'name',
    });
    expect(pod.get('volumes')).toMatchObject({ retainKeys: true, type: { listType: 'map', patchMergeKey: 'name' } });
    expect(pod.get('tolerations')?.type).toMatchObject({ listType: 'atomic' });
    expect(messageOf('k8s.io.api.apps.v1.DeploymentSpec').fields.get('strategy')?.retainKeys).toBe(true);
    expect(messageOf('k8s.io.apimachinery.pkg.apis.meta.v1.LabelSelector').mapType).toBe('atomic');
    expect(messageOf('k8s.io.apimachinery.pkg.apis.meta.v1.ObjectMeta').fields.get('finalizers')?.type).toMatchObject({
      listType: 'set',
      patchStrategy: 'merge',
    });
  });

  it('may be lists that the wire wraps, or JSON forms with a schema of their own', () => {
    const user = messageOf('k8s.io.api.authentication.v1.UserInfo').fields.get('extra')?.type;
    expect(user).toMatchObject({ kind: 'map', values: { kind: 'list', wrapped: true, items: { scalar: 'string' } } });
    const props = messageOf('k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1beta1.JSONSchemaProps');
    expect(props.fields.get('items')?.type).toMatchObject({ special: 'JSONSchemaPropsOrArray', schema: props });
  });
});

describe('laws', () => {
  it.each(structs.map((struct) => [struct.name, struct] as const))('%s keeps them', (_, struct) => {
    expect(struct.description).not.toBe('');
    expect(new Set(struct.wire.map(({ number }) => number)).size).toBe(struct.wire.length);
    expect(struct.wire.map(({ number }) => number)).toEqual([...struct.wire].map(({ number }) => number).sort(byValue));
    if (struct.wire.length > 0) expect(wireNames(struct).sort()).toEqual([...struct.fields.keys()].sort());
    for (const field of struct.fields.values()) {
      if (field.defaultValue !== undefined) expect(fits(field.type, field.defaultValue)).toBe(true);
      if (field.required) expect(field.always).toBe(true);
      if (field.type.kind === 'list') expectListLaws(field.type);
    }
  });
});

function byValue(a: number, b: number): number {
  return a - b;
}

/** JSON names in the order of the wire, those of inlined messages among them. */
function wireNames(struct: StructType): string[] {
  return struct.wire.flatMap(({ json, type }) => {
    if (json !== undefined) return [json];
    return type.kind === 'struct' ? wireNames(type) : [];
  });
}

function expectListLaws(list: Extract<TypeRef, { kind: 'list' }>): void {
  const { items, listType, listMapKeys = [], patchMergeKey } = list;
  expect(listMapKeys.length > 0).toBe(listType === 'map');
  if (listType === 'set') expect(items.kind).not.toBe('list');
  for (const key of patchMergeKey === undefined ? listMapKeys : [...listMapKeys, patchMergeKey]) {
    const field = items.kind === 'struct' ? items.fields.get(key) : undefined;
    expect(field?.type.kind).toBe('scalar');
  }
}

/** Whether a default is a value of its type. */
function fits(type: TypeRef, value: JsonValue): boolean {
  switch (type.kind) {
    case 'scalar':
      if (type.scalar === 'string') return type.enum?.includes(value as string) ?? typeof value === 'string';
      return typeof value === (type.scalar === 'bool' ? 'boolean' : 'number');
    case 'special':
      return type.special === 'IntOrString' && (typeof value === 'string' || typeof value === 'number');
    case 'list':
      return Array.isArray(value) && value.every((item: JsonValue) => fits(type.items, item));
    case 'map':
    case 'any':
      return false;
    case 'struct':
      return Object.entries(value as object).every(([name, inner]) => {
        const field = type.fields.get(name);
        return field !== undefined && fits(field.type, inner as JsonValue);
      });
  }
}

describe('generation', () => {
  it('gives the same bytes each time, and those that are in use', () => {
    const [first, second] = [generate(), generate()];
    expect(first.size).toBeGreaterThan(40);
    expect(second).toEqual(first);
    for (const [name, text] of first) expect(readFileSync(join(repository, name), 'utf8')).toBe(text);
  });

  /** File names and texts of one run into a folder of its own. */
  function generate(): Map<string, string> {
    const out = mkdtempSync(join(tmpdir(), 'sternpost-generate-'));
    try {
      execFileSync(process.execPath, [
        '--require',
        'tsx/cjs',
        join(repository, 'scripts', 'generate.ts'),
        '--out',
        out,
      ]);
      const names = readdirSync(out, { recursive: true, encoding: 'utf8' }).filter((name) => /\.\w+$/.test(name));
      return new Map(names.sort().map((name) => [name, readFileSync(join(out, name), 'utf8')]));
    } finally {
      rmSync(out, { recursive: true, force: true });
    }
  }
});
