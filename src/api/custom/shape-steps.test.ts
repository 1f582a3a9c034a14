import type { JsonValue, KubeObject } from '../object';
import { take } from '../steps/both-forms.fixture';
import { counted, mostReads } from '../steps/counted.fixture';
import { completeStored } from './decode';
import type { JsonSchema } from './json-schema';
import { compileShape, DefaultsRoom, type Shaper } from './shape';

const COUNT = 3_000;
const TEXT: JsonSchema = { type: 'string' };
const ITEM: JsonSchema = {
  type: 'object',
  properties: {
    a: TEXT,
    b: { type: 'integer', default: 5 },
    c: { type: 'object', default: {}, properties: { d: TEXT } },
  },
};
const SPEC: JsonSchema = {
  type: 'object',
  properties: {
    list: { type: 'array', items: ITEM },
    texts: { type: 'object', additionalProperties: TEXT },
    items: { type: 'object', additionalProperties: ITEM },
    free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    embedded: { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
    late: { type: 'string', default: 'x' },
  },
};
const shape = compileShape({ type: 'object', properties: { spec: SPEC } }) as Shaper;

function numbered(make: (index: number) => JsonValue): JsonValue {
  return Array.from({ length: COUNT }, (_, index) => make(index));
}

function byNumber(make: (index: number) => JsonValue): Readonly<Record<string, JsonValue>> {
  return Object.fromEntries(Array.from({ length: COUNT }, (_, index) => [`key-${index}`, make(index)]));
}

const VALUES: readonly [string, JsonValue][] = [
  ['items that lack their defaults', { spec: { list: numbered((index) => ({ a: `a${index}` })) } }],
  [
    'items with nulls and unknown fields',
    { spec: { list: numbered((index) => (index % 7 === 0 ? null : { b: null, z: 1 })) } },
  ],
  ['items that are complete', { spec: { late: 'y', list: numbered(() => ({ a: 'a', b: 1, c: {} })) } }],
  ['keys of a map', { spec: { texts: byNumber((index) => (index === 7 ? null : 'v')) } }],
  ['maps in a map', { spec: { items: byNumber(() => ({})) } }],
  ['unknown fields', { spec: { ...byNumber(() => 'x'), texts: { a: 'b' } } }],
  ['unknown fields of the object', { ...byNumber(() => ({})), spec: { late: null } }],
  ['fields that are kept', { spec: { late: 'y', free: byNumber(() => ({ a: [null] })) } }],
  ['embedded objects', { spec: { embedded: { metadata: {}, kind: 'A', more: byNumber(() => 'x') } } }],
  ['lists where nothing is known', { zzz: numbered(() => ({ a: 1 })) }],
];

describe.each(VALUES)('%s, which are many', (_, value) => {
  it('become the same in steps, and what stays as it is stays itself', () => {
    const [plain, inSteps] = [[], []] as [string[], string[]];
    const wanted = shape(value, { unknown: plain, path: [], room: new DefaultsRoom(true) });
    const { result } = take(shape.inSteps(value, { unknown: inSteps, path: [], room: new DefaultsRoom(true) }));
    expect(result).toEqual(wanted);
    expect(result === value).toBe(wanted === value);
    expect(inSteps).toEqual(plain);
  });

  it('are looked at a few in a step', () => {
    const { inSteps } = completeStored(shape);
    expect(mostReads(inSteps?.(counted(value) as unknown as KubeObject) as never)).toBeLessThan(COUNT / 4);
  });
});

test('defaults for which there is no room are left out in steps as well', () => {
  const schema: JsonSchema = {
    type: 'array',
    items: {
      type: 'object',
      properties: Object.fromEntries(
        Array.from({ length: 60 }, (_, index) => [`p${index}`, { default: 'x'.repeat(20) }]),
      ),
    },
  };
  const large = compileShape({ type: 'object', properties: { list: schema } }) as Shaper;
  const value = { list: numbered(() => ({})) };
  const context = (): Parameters<Shaper>[1] => ({ unknown: undefined, path: [], room: new DefaultsRoom(false) });
  expect(take(large.inSteps(value, context())).result).toEqual(large(value, context()));
  expect(() => take(large.inSteps(value, { ...context(), room: new DefaultsRoom(true) }))).toThrow('defaults add more');
});
