import * as fc from 'fast-check';
import type { JsonObject, JsonValue } from '../object';
import type { StructType } from '../schema/model';
import { compare } from './compare';
import { EMPTY_SET, setOf, type FieldSet } from './field-set';
import { parseFieldsV1, shared, toFieldsV1 } from './fields-v1';
import { freeform, list, struct, text, widget } from './merge-model.fixture';
import { mergeTypeOf, TypedError, type MergeType } from './merge-type';
import { equals, union } from './set-algebra';
import { limitRememberedShapes, MOST_SHAPE_BYTES, rememberedShapeBytes, rememberSet, shapeOf } from './shape';
import { toFieldSet } from './value-sets';
import { zeroObject } from './zero-object';

const name = fc.constantFrom('a', 'b', '1:a', 'constructor');
/** Fits where a scalar is wanted, and hardly anywhere else. */
const scalar = fc.constantFrom<JsonValue>('', 'a', 'b', 0, 1, false, null);
const scalars = fc.dictionary(name, scalar, { maxKeys: 2 });

function orAnything(value: fc.Arbitrary<JsonValue>): fc.Arbitrary<JsonValue> {
  return fc.oneof({ weight: 12, arbitrary: value }, fc.constantFrom<JsonValue>(null, {}, [], 'a', ['a'], { a: {} }));
}

const ports = fc.array(
  fc.record({ port: orAnything(fc.constantFrom(1, 2)), protocol: fc.constantFrom('TCP', 'UDP') }, { requiredKeys: [] }),
  { maxLength: 2 },
);
const items = fc.array(
  fc.record(
    { name: orAnything(name), value: scalar, ports: orAnything(ports), source: orAnything(scalars) },
    { requiredKeys: ['name'] },
  ),
  { maxLength: 2 },
);
const spec = fc.record(
  {
    text: orAnything(scalar),
    items: orAnything(items),
    tags: orAnything(fc.array(scalar, { maxLength: 2 })),
    args: orAnything(fc.array(scalar, { maxLength: 2 })),
    options: orAnything(scalars),
    selector: orAnything(fc.record({ a: scalar }, { requiredKeys: [] })),
    strategy: orAnything(fc.record({ type: scalar, unknown: scalar }, { requiredKeys: ['type'] })),
  },
  { requiredKeys: [] },
);
const objects: fc.Arbitrary<JsonObject> = fc.record(
  { spec: orAnything(spec), status: orAnything(fc.record({ phase: scalar, conditions: items }, { requiredKeys: [] })) },
  { requiredKeys: [] },
);

/** What `make` makes of a value, or of the first one that had its shape. */
function setByShape(type: MergeType, before: JsonValue | undefined, value: JsonValue, make: () => FieldSet): FieldSet {
  const found = shapeOf(type, before, value);
  if (found === undefined) return make();
  if (found.shape.set === undefined) rememberSet(found, shared(make()));
  return found.shape.set as FieldSet;
}

/** A set, or what stood in its way. */
function outcome(make: () => FieldSet): FieldSet | string {
  try {
    return make();
  } catch (error) {
    if (error instanceof TypedError) return error.message;
    throw error;
  }
}

function expectSame(found: FieldSet | string, wanted: FieldSet | string): void {
  if (typeof found === 'string' || typeof wanted === 'string') expect(found).toEqual(wanted);
  else expect(equals(found, wanted)).toBe(true);
}

describe.each<[string, StructType]>([
  ['a kind with a schema', widget],
  ['a kind without one', freeform],
])('sets found by the shapes of objects of %s', (_case, structType) => {
  const type = mergeTypeOf(structType);
  const zero = zeroObject(structType) as unknown as JsonValue;

  it('are those that each object by itself would have', () => {
    fc.assert(
      fc.property(objects, (object) => {
        const applied = (): FieldSet => toFieldSet(type, object);
        expectSame(
          outcome(() => setByShape(type, undefined, object, applied)),
          outcome(applied),
        );
        const created = (): FieldSet => {
          const { added, modified } = compare(type, zero, object, 'refused');
          return union(modified, added);
        };
        expectSame(
          outcome(() => setByShape(type, zero, object, created)),
          outcome(created),
        );
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('shapes', () => {
  /** Whether the set that was made for one value serves for another. */
  function serves(one: JsonValue, other: JsonValue, before?: JsonValue): boolean {
    // Nothing is known of a type that is new.
    const type = mergeTypeOf({ ...widget });
    let made = 0;
    const make = (): FieldSet => {
      made++;
      return EMPTY_SET;
    };
    setByShape(type, before, one, make);
    setByShape(type, before, other, make);
    return made === 1;
  }

  it('are forgotten beyond the limit that the machine has room for', () => {
    limitRememberedShapes(20_000);
    let most = 0;
    for (let index = 0; index < 1_000; index += 1) {
      shapeOf(mergeTypeOf(widget), undefined, { spec: { options: { [`name-${index}`]: 'x' } } });
      most = Math.max(most, rememberedShapeBytes());
    }
    limitRememberedShapes(MOST_SHAPE_BYTES);
    expect(most).toBeGreaterThan(15_000);
    expect(most).toBeLessThan(25_000);
  });

  it.each<[string, JsonValue, JsonValue]>([
    ['scalars', { text: 'x' }, { text: 'y' }],
    ['values of a map', { options: { a: 'x' } }, { options: { a: 'y' } }],
    ['lists that are replaced as a whole', { args: ['x'] }, { args: ['y', 'z'] }],
    ['what items hold', { items: [{ name: 'a', value: 'x' }] }, { items: [{ name: 'a', value: 'y' }] }],
    ['members that are absent', { text: 'x' }, { text: 'x', args: undefined }],
  ])('do not tell of %s', (_case, one, other) => {
    expect(serves({ spec: one }, { spec: other })).toBe(true);
  });

  it.each<[string, JsonValue, JsonValue]>([
    ['members', { text: 'x' }, { args: ['x'] }],
    ['names of items', { items: [{ name: 'a' }] }, { items: [{ name: 'b' }] }],
    ['items of a set', { tags: ['a'] }, { tags: ['b'] }],
    ['numbers and texts that look like them', { tags: [1] }, { tags: ['1'] }],
    [
      'keys that are left out',
      { items: [{ name: 'a', ports: [{ port: 1 }] }] },
      { items: [{ name: 'a', ports: [{}] }] },
    ],
    ['null', { options: null }, { options: {} }],
    ['what is empty', { options: {} }, { options: { a: 'x' } }],
    ['where a map ends', { options: { a: 'x' }, text: 'x' }, { options: { a: 'x', text: 'x' } }],
  ])('tell of %s', (_case, one, other) => {
    expect(serves({ spec: one }, { spec: other })).toBe(false);
  });

  it('tell of what is as before', () => {
    const before = { spec: { selector: { a: 'x' } } };
    expect(serves({ spec: { selector: { a: 'x' } } }, { spec: { selector: { a: 'y' } } }, before)).toBe(false);
    expect(serves({ spec: { selector: { a: 'y' } } }, { spec: { selector: { a: 'z' } } }, before)).toBe(true);
  });

  it('are not kept of very large values', () => {
    const options = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`o${index}`, 'x']));
    expect(serves({ spec: { options } }, { spec: { options } })).toBe(false);
  });

  it('are forgotten when there are too many, and come again', () => {
    const type = mergeTypeOf(struct('Many', { sets: list(text, { listType: 'set' }) }));
    const fields = (item: string): FieldSet =>
      setByShape(type, undefined, { sets: [item] }, () => toFieldSet(type, { sets: [item] }));
    for (let index = 0; index < 40_000; index++) fields(`item-${index}`);
    expect(equals(fields('item-1'), setOf(['f:sets', 'v:"item-1"']))).toBe(true);
    expect(fields('item-1')).toBe(fields('item-1'));
  });

  it('lead to the set that is read from managed fields of the same text', () => {
    const type = mergeTypeOf(widget);
    const object = { spec: { text: 'x', options: { shared: 'x' } } };
    const set = setByShape(type, undefined, object, () => toFieldSet(type, object));
    expect(parseFieldsV1(JSON.parse(JSON.stringify(toFieldsV1(set))) as JsonObject)).toBe(set);
  });
});
