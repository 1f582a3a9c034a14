import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { Reader } from 'protobufjs/minimal';
import type { KubeObject } from '../object';
import { knownKeysOf, type Steps } from '../parts';
import { loadBuiltinSchema } from '../schema/builtin-schema';
import type { StructType } from '../schema/model';
import { take } from '../steps/both-forms.fixture';
import { decodeMessage } from './protobuf-decode';
import { decodeMessageSteps } from './protobuf-decode-steps';
import { encodeMessage } from './protobuf-encode';

const schema = loadBuiltinSchema();
const OPTIONS = { maxValues: 50_000 };

function typeOf(name: string): StructType {
  const [group = '', kind = ''] = name.includes('/') ? name.split('/') : ['', name];
  const type = schema.kind(group, 'v1', kind);
  if (type === undefined) throw new Error(name);
  return type;
}

const many = <T>(make: (index: number) => T, count = 500): T[] =>
  Array.from({ length: count }, (_, index) => make(index));
const map = (make: (index: number) => unknown, count = 500): object =>
  Object.fromEntries(many((index) => [`k${index}`, make(index)], count));
const env = many((index) => ({ name: `A${index}`, value: 'b' }));
const node = { type: 'object', description: 'd', properties: map(() => ({ type: 'string', enum: ['a', 1] }), 60) };
const schemas = {
  properties: { a: node, b: { not: node, default: map(() => ({ a: [1] }), 4_000) } },
  items: many(() => node, 3),
  additionalProperties: node,
  additionalItems: false,
  dependencies: { a: many(String), c: node },
};

const LARGE: readonly (readonly [string, string, object])[] = [
  ['a long map of texts', 'ConfigMap', { data: map(String) }],
  ['a long map of bytes', 'Secret', { data: map(() => 'YWFh') }],
  ['long texts', 'ConfigMap', { data: { a: 'b'.repeat(5_000), c: 'd'.repeat(3_000) } }],
  [
    'long lists of texts and of structs',
    'ConfigMap',
    { metadata: { finalizers: many(String), ownerReferences: many((index) => ({ kind: 'Pod', name: `p${index}` })) } },
  ],
  [
    'large structs among small ones',
    'Pod',
    { spec: { containers: many((index) => ({ name: 'c', ...(index % 90 === 0 ? { env } : {}) })) } },
  ],
  [
    'a large struct that is inlined',
    'Pod',
    { spec: { volumes: [{ name: 'v', projected: { sources: many(() => ({ secret: { name: 's' } })) } }] } },
  ],
  [
    'a long list that the wire wraps',
    'authorization.k8s.io/SubjectAccessReview',
    { spec: { user: 'u', extra: { a: many(String), b: ['c'] } } },
  ],
  [
    'each form of a schema of schemas',
    'apiextensions.k8s.io/CustomResourceDefinition',
    { spec: { versions: [{ name: 'v1', schema: { openAPIV3Schema: schemas } }] } },
  ],
  ['a large JSON text', 'apps/ControllerRevision', { data: map((index) => ({ a: [index] }), 4_000), revision: 1 }],
];

function outcomeOf(decode: () => object): unknown {
  try {
    // The order of keys counts.
    return { text: createHash('sha1').update(JSON.stringify(decode())).digest('hex') };
  } catch (error) {
    return (error as Error).message;
  }
}

function expectSame(type: StructType, bytes: Uint8Array): void {
  const whole = outcomeOf(() => decodeMessage(type, bytes, OPTIONS));
  expect(outcomeOf(() => take(decodeMessageSteps(type, bytes, OPTIONS)).result)).toEqual(whole);
}

test.each(LARGE)('%s are decoded as at one stretch', (_, name, object) => {
  const type = typeOf(name);
  const bytes = encodeMessage(type, object);
  expectSame(type, bytes);
  expect(outcomeOf(() => take(decodeMessageSteps(type, bytes, OPTIONS)).result)).toHaveProperty('text');
});

test.each(LARGE)('%s are refused as at one stretch when bytes are wrong', (_, name, object) => {
  const type = typeOf(name);
  const bytes = encodeMessage(type, object);
  const position = fc.nat({ max: bytes.length - 1 });
  fc.assert(
    fc.property(position, fc.option(fc.nat({ max: 255 }), { nil: undefined }), (at, byte) => {
      // Near the beginning are the lengths of what is opened.
      const place = at % 3 === 0 ? at % 40 : at;
      if (byte === undefined) return expectSame(type, bytes.slice(0, place));
      const changed = Uint8Array.from(bytes);
      changed[place] = byte;
      expectSame(type, changed);
    }),
    { numRuns: 40 },
  );
});

const pod = typeOf('Pod');
const spec = (message: Buffer): Buffer => {
  const { length } = message;
  return Buffer.concat([
    Buffer.from([0x12, 0x80 | (length & 127), 0x80 | ((length >> 7) & 127), length >> 14]),
    message,
  ]);
};

test('more values than are read are refused, those of JSON among them', () => {
  expectSame(pod, spec(Buffer.alloc(120_000, Buffer.from([0x12, 0]))));
  const revision = typeOf('apps/ControllerRevision');
  const bytes = encodeMessage(revision, { data: many(() => ({}), 60_000), revision: 1 });
  expect(() => take(decodeMessageSteps(revision, bytes, OPTIONS))).toThrow('more than 50000 values');
});

test.each<[string, StructType, Uint8Array]>([
  ['containers without a byte', pod, spec(Buffer.alloc(8_000, Buffer.from([0x12, 0])))],
  ['fields that are not known', pod, spec(Buffer.alloc(30_000, Buffer.from([0xa8, 0x7d, 0x01])))],
  ...LARGE.map(([what, name, object]): [string, StructType, Uint8Array] => {
    const type = typeOf(name);
    return [what, type, encodeMessage(type, object)];
  }),
])('no step reads more than a part of %s', (_, type, bytes) => {
  const reads = jest.spyOn(Reader.prototype, 'uint32');
  let most = 0;
  try {
    const steps: Steps<object> = decodeMessageSteps(type, bytes);
    for (let done: boolean | undefined = false; done !== true; most = Math.max(most, reads.mock.calls.length)) {
      reads.mockClear();
      done = steps.next().done;
    }
  } finally {
    reads.mockRestore();
  }
  expect(most).toBeGreaterThan(0);
  // Two parts of 1,024 bytes, of which each may be a tag or a length, that is read twice where it may be long.
  expect(most).toBeLessThanOrEqual(4_096);
});

test('the keys of a large map are known to whoever looks at it afterwards', () => {
  const labels = map(() => 'v', 4_000);
  const type = typeOf('Pod');
  const bytes = encodeMessage(type, { metadata: { labels, annotations: { a: 'b' } }, spec: { nodeSelector: labels } });
  const keys = jest.spyOn(Object, 'keys');
  try {
    const { metadata, spec } = take(decodeMessageSteps(type, bytes)).result as KubeObject;
    const most = Math.max(0, ...keys.mock.results.map(({ value }) => (value as readonly string[]).length));
    expect(most).toBeLessThan(100);
    expect(knownKeysOf(metadata.labels!)).toEqual(Object.keys(metadata.labels!));
    expect(knownKeysOf((spec as { nodeSelector: object }).nodeSelector)).toEqual(Object.keys(metadata.labels!));
  } finally {
    keys.mockRestore();
  }
});
