import { StatusError } from '../errors/status-error';
import { loadBuiltinSchema } from '../schema/builtin-schema';
import type { Field, StructType, TypeRef } from '../schema/model';
import { decodeObject } from './json-decode';

const schema = loadBuiltinSchema();

function kind(group: string, version: string, name: string): StructType {
  const type = schema.kind(group, version, name);
  if (type === undefined) throw new Error(`the schema has no ${name}`);
  return type;
}
const pod = kind('', 'v1', 'Pod');
const configMap = kind('', 'v1', 'ConfigMap');
const service = kind('', 'v1', 'Service');
const lease = kind('coordination.k8s.io', 'v1', 'Lease');
const deployment = kind('apps', 'v1', 'Deployment');

function decode(type: StructType, value: unknown): unknown {
  return decodeObject(type, value, { applyDefaults: false, collectUnknown: false }).object;
}

function messageOf(type: StructType, value: unknown): string {
  try {
    decode(type, value);
  } catch (error) {
    if (error instanceof StatusError && error.status.code === 400) return error.message;
    throw error;
  }
  return 'not refused';
}

describe('types', () => {
  const head = (name: string): string => `${name} in version "v1" cannot be handled as a ${name}: `;
  test.each([
    [configMap, [], 'json: cannot unmarshal array into Go value of type v1.ConfigMap'],
    [
      configMap,
      { metadata: 'x' },
      'json: cannot unmarshal string into Go struct field ConfigMap.metadata of type v1.ObjectMeta',
    ],
    [
      configMap,
      { metadata: { name: 1 } },
      'json: cannot unmarshal number into Go struct field ObjectMeta.metadata.name of type string',
    ],
    [configMap, { data: { k: 1 } }, 'json: cannot unmarshal number into Go struct field ConfigMap.data of type string'],
    [
      configMap,
      { data: 'str' },
      'json: cannot unmarshal string into Go struct field ConfigMap.data of type map[string]string',
    ],
    [
      configMap,
      { immutable: 'x' },
      'json: cannot unmarshal string into Go struct field ConfigMap.immutable of type bool',
    ],
    [configMap, { binaryData: { k: '***' } }, 'binaryData[k]: illegal base64 data at input byte 0'],
    [
      configMap,
      { metadata: { generation: 1.5 } },
      'json: cannot unmarshal number 1.5 into Go struct field ObjectMeta.metadata.generation of type int64',
    ],
    [
      configMap,
      { metadata: { generation: 2 ** 53 } },
      'json: cannot unmarshal number 9007199254740992 into Go struct field ObjectMeta.metadata.generation of type int64',
    ],
    [
      pod,
      { spec: { containers: {} } },
      'json: cannot unmarshal object into Go struct field PodSpec.spec.containers of type []v1.Container',
    ],
    [
      pod,
      { spec: { containers: ['a'] } },
      'json: cannot unmarshal string into Go struct field PodSpec.spec.containers of type v1.Container',
    ],
    [
      pod,
      { spec: { containers: [{ env: [{ name: 'a' }, { name: 'b', value: 5 }] }] } },
      'json: cannot unmarshal number into Go struct field EnvVar.spec.containers.env.value of type string',
    ],
    [
      pod,
      { spec: { containers: [{ resources: { limits: { cpu: '1x' } } }] } },
      "spec.containers[0].resources.limits[cpu]: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    ],
    [
      service,
      { spec: { ports: [{ port: 99999999999 }] } },
      'json: cannot unmarshal number 99999999999 into Go struct field ServicePort.spec.ports.port of type int32',
    ],
    [
      service,
      { spec: { ports: [{ targetPort: {} }] } },
      'spec.ports[0].targetPort: json: cannot unmarshal object into Go value of type int32',
    ],
    [
      service,
      { spec: { ports: [{ targetPort: 1.5 }] } },
      'spec.ports[0].targetPort: json: cannot unmarshal number 1.5 into Go value of type int32',
    ],
    [
      lease,
      { spec: { renewTime: '2020' } },
      'spec.renewTime: parsing time "2020" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "" as "-"',
    ],
    [lease, { spec: { renewTime: 5 } }, 'spec.renewTime: json: cannot unmarshal number into Go value of type string'],
  ])('%#', (type, value, problem) => {
    expect(messageOf(type, value)).toBe(head(type.name.slice(type.name.lastIndexOf('.') + 1)) + problem);
  });
});

describe('canonical form', () => {
  test.each([
    [
      'null is absent',
      configMap,
      { metadata: { name: 'a', labels: null }, data: null, immutable: null },
      { metadata: { name: 'a', creationTimestamp: null } },
    ],
    [
      'a null value of a map is zero',
      configMap,
      { data: { k: null }, binaryData: { b: null } },
      { metadata: { creationTimestamp: null }, data: { k: '' }, binaryData: { b: '' } },
    ],
    ['a null body is an empty object', configMap, null, { metadata: { creationTimestamp: null } }],
    ['names are case-sensitive', configMap, { Data: { a: '1' } }, { metadata: { creationTimestamp: null } }],
    [
      'a false pointer stays, a false value goes',
      pod,
      { spec: { hostNetwork: false, automountServiceAccountToken: false, containers: [] } },
      {
        metadata: { creationTimestamp: null },
        spec: { containers: [], automountServiceAccountToken: false },
        status: {},
      },
    ],
    [
      'times, numbers and base64 get their canonical spelling',
      lease,
      {
        spec: { acquireTime: '2020-01-02T03:04:05.123456+02:00', leaseTransitions: 0 },
        metadata: { creationTimestamp: '2020-01-02T03:04:05.9Z' },
      },
      {
        metadata: { creationTimestamp: '2020-01-02T03:04:05Z' },
        spec: { acquireTime: '2020-01-02T01:04:05.123456Z', leaseTransitions: 0 },
      },
    ],
    [
      'base64 loses line breaks and stray bits',
      configMap,
      { binaryData: { a: 'YWJj\nZGU=', b: 'YR==' } },
      { metadata: { creationTimestamp: null }, binaryData: { a: 'YWJjZGU=', b: 'YQ==' } },
    ],
  ])('%s', (_name, type, value, expected) => {
    expect(decode(type, value)).toEqual(expected);
  });

  test('quantities may be numbers', () => {
    const value = { spec: { containers: [{ resources: { limits: { cpu: 0.25, memory: '1024Mi', a: ' 1 ' } } }] } };
    expect(decode(pod, value)).toMatchObject({
      spec: { containers: [{ resources: { limits: { cpu: '250m', memory: '1Gi', a: '1' } } }] },
    });
  });

  test('keys come in the order of the declaration, those of maps sorted', () => {
    const value = {
      data: { b: '1', a: '2' },
      metadata: { labels: {}, uid: 'u', name: 'n' },
      apiVersion: 'v1',
      kind: 'ConfigMap',
    };
    expect(JSON.stringify(decode(configMap, value))).toBe(
      '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"n","uid":"u","creationTimestamp":null},"data":{"a":"2","b":"1"}}',
    );
  });

  test('raw JSON stays as it is', () => {
    const revision = kind('apps', 'v1', 'ControllerRevision');
    const data = { z: null, a: [1, { b: '' }] };
    expect(decode(revision, { data, revision: 1 })).toMatchObject({ data });
  });

  test('a key called __proto__ is an ordinary key', () => {
    const value: unknown = JSON.parse('{"data":{"__proto__":"x"},"__proto__":{"kind":"Evil"}}');
    const object = decode(configMap, value) as { data: object; kind?: string };
    expect(JSON.stringify(object.data)).toBe('{"__proto__":"x"}');
    expect(object.kind).toBeUndefined();
  });

  test('the schema of a schema takes each of its forms', () => {
    const definition = kind('apiextensions.k8s.io', 'v1', 'CustomResourceDefinition');
    const openAPIV3Schema = {
      type: 'object',
      properties: {
        a: { items: { type: 'string' } },
        b: { items: [{ type: 'string' }], additionalProperties: false },
        c: { additionalProperties: { type: 'string' }, dependencies: { x: ['y'], z: { type: 'object' } } },
        d: { default: { any: [null] }, maximum: 1.5, enum: ['x', 1] },
      },
    };
    expect(decode(definition, { spec: { versions: [{ schema: { openAPIV3Schema } }] } })).toMatchObject({
      spec: { versions: [{ schema: { openAPIV3Schema } }] },
    });
    expect(messageOf(definition, { spec: { versions: [{ schema: { openAPIV3Schema: { items: 5 } } }] } })).toMatch(
      /spec\.versions\[0\]\.schema\.openAPIV3Schema\.items: JSON schema or a list of JSON schemas expected$/,
    );
  });
});

describe('unknown fields', () => {
  test('are dropped, and reported with their paths in document order', () => {
    const value = {
      foo: 1,
      spec: { bar: 2, containers: [{ name: 'a' }, { name: 'b', ports: [{ baz: 1 }] }], Containers: [] },
      metadata: { annotations: { any: 'key' }, nme: 'x' },
    };
    const { object, unknownFields } = decodeObject(pod, value, { applyDefaults: false, collectUnknown: true });
    expect(unknownFields).toEqual([
      'foo',
      'spec.bar',
      'spec.containers[1].ports[0].baz',
      'spec.Containers',
      'metadata.nme',
    ]);
    expect(JSON.stringify(object)).not.toMatch(/foo|bar|baz|nme/);
  });

  test('are a hundred at most', () => {
    const value = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`f${index}`, 1]));
    expect(decodeObject(pod, value, { applyDefaults: false, collectUnknown: true }).unknownFields).toHaveLength(100);
  });
});

describe('constant defaults', () => {
  const field = (name: string, type: TypeRef, more: Partial<Field> = {}): Field => ({
    name,
    type,
    pointer: false,
    always: type.kind === 'struct',
    required: false,
    retainKeys: false,
    description: '',
    ...more,
  });
  const struct = (name: string, fields: readonly Field[], more: Partial<StructType> = {}): StructType => ({
    kind: 'struct',
    name: `test.v1.${name}`,
    description: '',
    fields: new Map(fields.map((one) => [one.name, one])),
    wire: [],
    isKind: false,
    ...more,
  });
  const text: TypeRef = { kind: 'scalar', scalar: 'string' };
  const inner = struct('Inner', [
    field('protocol', text, { defaultValue: 'TCP' }),
    field('mode', { kind: 'scalar', scalar: 'int32' }, { pointer: true, defaultValue: 420 }),
  ]);
  const outer = struct('Outer', [
    field('always', inner),
    field('maybe', inner, { pointer: true, always: false }),
    field('made', inner, { pointer: true, always: false, defaultValue: { protocol: 'UDP' } }),
    field('items', { kind: 'list', items: inner }),
    field('names', { kind: 'list', items: text }, { defaultValue: ['a'] }),
  ]);
  const withDefaults = (value: unknown): unknown =>
    decodeObject(outer, value, { applyDefaults: true, collectUnknown: false }).object;

  test('fill what is absent, nested only where the parent is', () => {
    expect(withDefaults({ items: [{}, null, { protocol: '', mode: 0 }] })).toEqual({
      always: { protocol: 'TCP', mode: 420 },
      made: { protocol: 'UDP', mode: 420 },
      items: [
        { protocol: 'TCP', mode: 420 },
        { protocol: 'TCP', mode: 420 },
        { protocol: 'TCP', mode: 0 },
      ],
      names: ['a'],
    });
    expect(withDefaults({ maybe: {}, names: [] })).toMatchObject({
      maybe: { protocol: 'TCP', mode: 420 },
      names: ['a'],
    });
  });

  test('are not applied unless asked for, and not shared', () => {
    expect(decode(outer, {})).toEqual({ always: {} });
    const first = withDefaults({}) as { names: string[] };
    first.names.push('b');
    expect(withDefaults({})).toMatchObject({ names: ['a'] });
  });

  test('of the built-in kinds do not depend on the order of fields', () => {
    const value = { spec: { template: { spec: { containers: [{ name: 'c', ports: [{ containerPort: 1 }] }] } } } };
    expect(decodeObject(deployment, value, { applyDefaults: true, collectUnknown: false }).object).toMatchObject({
      spec: { template: { spec: { containers: [{ ports: [{ containerPort: 1, protocol: 'TCP' }] }] } } },
    });
  });

  test('a type that keeps unknown fields keeps them after its own', () => {
    const open = struct('Open', [field('a', text)], { preserveUnknownFields: true });
    const { object, unknownFields } = decodeObject(
      open,
      { z: { y: null }, a: 'x' },
      { applyDefaults: false, collectUnknown: true },
    );
    expect(JSON.stringify(object)).toBe('{"a":"x","z":{"y":null}}');
    expect(unknownFields).toEqual([]);
  });
});
