import * as fc from 'fast-check';
import type { JsonValue } from '../object';
import type { JsonSchema } from './json-schema';
import { compileShape, DefaultsRoom } from './shape';

function shape(properties: Readonly<Record<string, JsonSchema>>, spec: JsonValue): JsonValue {
  const schema: JsonSchema = { type: 'object', properties: { spec: { type: 'object', properties } } };
  const result = compileShape(schema)?.(
    { kind: 'Thing', metadata: {}, spec },
    { unknown: undefined, path: [], room: new DefaultsRoom(true) },
  );
  return (result as { readonly spec: JsonValue }).spec;
}

const KEEP: JsonSchema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
const K: JsonSchema = { type: 'object', properties: { k: { type: 'string' } } };

describe('pruning', () => {
  it.each<[string, JsonSchema, JsonValue, JsonValue]>([
    ['drops fields that the schema does not name', K, { k: 'a', drop: 1 }, { k: 'a' }],
    ['drops the fields of items', { type: 'array', items: K }, [{ k: 'a', drop: 1 }, {}], [{ k: 'a' }, {}]],
    ['drops the fields of values', { type: 'object', additionalProperties: K }, { m: { x: 1 } }, { m: {} }],
    [
      'empties objects where any value will do',
      { type: 'object', additionalProperties: true },
      { a: { b: 1 } },
      { a: {} },
    ],
    ['keeps what it is told to keep', KEEP, { any: { deep: 1 } }, { any: { deep: 1 } }],
    [
      'prunes again inside of what it keeps, where the schema goes on',
      { ...KEEP, properties: { inner: K } },
      { any: 1, inner: { k: 'x', drop: 1 } },
      { any: 1, inner: { k: 'x' } },
    ],
    [
      'keeps the head of embedded objects',
      { type: 'object', 'x-kubernetes-embedded-resource': true, properties: { spec: K } },
      { apiVersion: 'v1', kind: 'X', metadata: { name: 'n' }, spec: { drop: 1 }, other: 1 },
      { apiVersion: 'v1', kind: 'X', metadata: { name: 'n' }, spec: {} },
    ],
    ['leaves values of another type for validation', K, 'text', 'text'],
  ])('%s', (_, schema, value, expected) => {
    expect(shape({ field: schema }, { field: value })).toEqual({ field: expected });
  });

  it('tells which fields it dropped, and where', () => {
    const unknown: string[] = [];
    const schema: JsonSchema = {
      type: 'object',
      properties: { spec: { type: 'object', properties: { list: { type: 'array', items: K } } } },
    };
    const value = { top: 1, spec: { list: [{}, { drop: 1 }], gone: {} } };
    compileShape(schema)?.(value, { unknown, path: [], room: new DefaultsRoom(true) });
    expect(unknown).toEqual(['top', 'spec.list[1].drop', 'spec.gone']);
  });

  it('has nothing to do where everything is kept', () => {
    expect(compileShape(KEEP)).toBeUndefined();
  });
});

describe('defaulting', () => {
  const properties: Readonly<Record<string, JsonSchema>> = {
    a: { type: 'string', default: 'A' },
    n: { type: 'integer', nullable: true, default: 5 },
    o: { type: 'object', default: {}, properties: { q: { type: 'string', default: 'Q' } } },
    o2: { type: 'object', properties: { q: { type: 'string', default: 'Q2' } } },
    l: { type: 'array', items: { type: 'object', properties: { k: { type: 'string', default: 'K' } } } },
    mp: {
      type: 'object',
      additionalProperties: { type: 'object', properties: { v: { type: 'number', default: 1.5 } } },
    },
  };
  const filled = { a: 'A', n: 5, o: { q: 'Q' } };

  it.each<[string, JsonValue, JsonValue]>([
    ['fills in what is absent, and what is inside of defaults', {}, filled],
    ['leaves zero values alone', { a: '', n: 0 }, { ...filled, a: '', n: 0 }],
    ['replaces a null where none is allowed', { a: null }, filled],
    ['keeps a null where one is allowed', { n: null }, { ...filled, n: null }],
    ['drops a null that has no default', { l: null, o2: null }, filled],
    [
      'reaches into lists, maps and objects that are there',
      { l: [{}, { k: 'own' }], mp: { x: {} }, o2: {} },
      { ...filled, l: [{ k: 'K' }, { k: 'own' }], mp: { x: { v: 1.5 } }, o2: { q: 'Q2' } },
    ],
  ])('%s', (_, spec, expected) => {
    expect(shape(properties, spec)).toEqual(expected);
  });

  it('makes nothing out of an object that is not there', () => {
    const schema: JsonSchema = { type: 'object', properties: { spec: { type: 'object', properties } } };
    const value = { metadata: {} };
    expect(compileShape(schema)?.(value, { unknown: undefined, path: [], room: new DefaultsRoom(true) })).toBe(value);
  });
});

describe('a shape', () => {
  const schema: JsonSchema = {
    type: 'object',
    properties: {
      a: { type: 'string', default: 'A' },
      b: { type: 'array', items: { type: 'object', properties: { a: { type: 'integer', default: 1 } } } },
      c: { ...KEEP, properties: { a: { type: 'object', additionalProperties: { type: 'string', nullable: true } } } },
    },
  };
  const names = fc.constantFrom('a', 'b', 'c', 'd', '__proto__');
  const { value } = fc.letrec<{ value: JsonValue }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom<JsonValue>(null, 1, 'x'),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(names, tie('value'), { maxKeys: 4 }),
    ),
  }));
  const apply = (input: JsonValue): JsonValue =>
    compileShape(schema)?.(input, { unknown: undefined, path: [], room: new DefaultsRoom(true) }) ?? null;

  it('has no effect on its own result, and says so by giving back the same object', () => {
    fc.assert(
      fc.property(value, (input) => {
        const once = apply(input);
        expect(apply(once)).toBe(once);
      }),
    );
  });

  it('never changes what it is given', () => {
    fc.assert(
      fc.property(value, (input) => {
        const before = JSON.stringify(input);
        apply(input);
        expect(JSON.stringify(input)).toBe(before);
      }),
    );
  });
});

describe('the room for defaults', () => {
  const long = 'd'.repeat(1_000);
  const item: JsonSchema = { type: 'object', properties: { a: { type: 'string', default: long } } };
  const list = (count: number): JsonValue => Array.from({ length: count }, () => ({}));

  it('refuses an object to which defaults add more than a store takes', () => {
    expect(() => shape({ list: { type: 'array', items: item } }, { list: list(2_000) })).toThrow(
      'Request entity too large: defaults add more than 1572864 bytes to the object',
    );
  });

  it('shares defaults with all who have them', () => {
    const shared: JsonSchema = { type: 'object', properties: { a: { type: 'object', default: { b: 'c' } } } };
    const shaped = shape({ list: { type: 'array', items: shared } }, { list: list(2) }) as never;
    const [first, second] = (shaped as { list: readonly { a: object }[] }).list;
    expect(first?.a).toBe(second?.a);
  });

  it('leaves defaults out of stored objects where there is no room', () => {
    const schema: JsonSchema = { type: 'object', properties: { list: { type: 'array', items: item } } };
    const room = new DefaultsRoom(false);
    const shaped = compileShape(schema)?.({ list: list(20_000) }, { unknown: undefined, path: [], room });
    const items = (shaped as { readonly list: readonly { readonly a?: string }[] }).list;
    expect([items[0]?.a, items[19_999]?.a]).toEqual([long, undefined]);
  });
});

test('a null that a map does not allow goes', () => {
  const shape = compileShape({
    type: 'object',
    properties: { m: { type: 'object', additionalProperties: { type: 'integer' } } },
  });
  const context = { unknown: undefined, path: [], room: new DefaultsRoom(true) };
  expect(shape?.({ m: { a: null, b: 1 } }, context)).toEqual({ m: { b: 1 } });
});
