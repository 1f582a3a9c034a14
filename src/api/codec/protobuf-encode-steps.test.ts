import type { Steps } from '../parts';
import { loadBuiltinSchema } from '../schema/builtin-schema';
import { decodeObject } from './json-decode';
import { encodeMessage } from './protobuf-encode';
import { encodeMessageSteps } from './protobuf-encode-steps';

const schema = loadBuiltinSchema();

function typeOf(name: string) {
  const [group = '', kind = ''] = name.includes('/') ? name.split('/') : ['', name];
  const type = schema.kind(group, 'v1', kind);
  if (type === undefined) throw new Error(name);
  return type;
}

function take(steps: Steps<Uint8Array>): { readonly bytes: Uint8Array; readonly steps: number } {
  for (let count = 1; ; count += 1) {
    const step = steps.next();
    if (step.done === true) return { bytes: step.value, steps: count };
  }
}

const many = <T>(make: (index: number) => T): T[] => Array.from({ length: 500 }, (_, index) => make(index));
const map = (make: (index: number) => unknown): object =>
  Object.fromEntries(many((index) => [`k${index}`, make(index)]));
const env = many((index) => ({ name: `A${index}`, value: 'b' }));
const node = { type: 'object', description: 'd', properties: map(() => ({ type: 'string' })) };

test.each<[string, string, object]>([
  ['a small object', 'ConfigMap', { data: { a: 'b' } }],
  ['a long map of texts', 'ConfigMap', { data: map(String) }],
  ['a long map of bytes', 'Secret', { data: map(() => 'YWFh') }],
  [
    'long lists of texts and of structs',
    'ConfigMap',
    {
      metadata: { finalizers: many(String), ownerReferences: many((index) => ({ kind: 'Pod', name: `p${index}` })) },
    },
  ],
  [
    'a long list of structs',
    'Pod',
    { spec: { containers: many((index) => ({ name: `c${index}`, ports: [{ containerPort: 1 }] })) } },
  ],
  [
    'large structs among small ones',
    'Pod',
    { spec: { containers: many((index) => ({ name: 'c', ...(index % 90 === 0 ? { env } : {}) })) } },
  ],
  [
    'a list of addresses',
    'Endpoints',
    { subsets: [{ addresses: many((index) => ({ ip: `10.0.0.${index % 250}` })) }] },
  ],
  [
    'large values of maps',
    'apiextensions.k8s.io/CustomResourceDefinition',
    {
      spec: {
        versions: [
          {
            name: 'v1',
            schema: {
              openAPIV3Schema: { properties: { a: node, b: { type: 'string' }, c: node, d: { items: node } } },
            },
          },
        ],
      },
    },
  ],
])('encodes %s as it is encoded at one stretch', (_, name, said) => {
  const type = typeOf(name);
  const { object } = decodeObject(
    type,
    { metadata: { name: 'a' }, ...said },
    { applyDefaults: true, collectUnknown: false },
  );
  expect(Buffer.from(take(encodeMessageSteps(type, object)).bytes).equals(encodeMessage(type, object))).toBe(true);
});

test('takes a step for a few members of what is large', () => {
  const large = {
    metadata: { name: 'a' },
    data: Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`k${index}`, 'v'])),
  };
  expect(take(encodeMessageSteps(typeOf('ConfigMap'), large)).steps).toBeGreaterThan(300);
});

test('writes what owners own a part at a time', () => {
  const fieldsV1 = { 'f:data': Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`f:k${index}`, {}])) };
  const managedFields = [{ manager: 'm', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1 }];
  const object = { metadata: { name: 'a', managedFields } };
  const { bytes, steps } = take(encodeMessageSteps(typeOf('ConfigMap'), object));
  expect(Buffer.from(bytes).equals(encodeMessage(typeOf('ConfigMap'), object))).toBe(true);
  expect(steps).toBeGreaterThan(10_000);
});
