import fc from 'fast-check';
import type { FieldError } from '../errors/field-error';
import type { JsonObject, JsonValue, KubeObject } from '../object';
import { atOnce } from '../parts';
import { take } from '../steps/both-forms.fixture';
import { checkInParts } from '../validation/check-each';
import { CustomValidation } from './custom-validation';
import type { JsonSchema } from './json-schema';

/** What is wrong with an object, and stays as it was, does not stand in the way of a change of something else. */

const UPPER: JsonSchema = { type: 'string', pattern: '^[A-Z]+$' };
const KEYED = { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] } as const;

function validationOf(spec: JsonSchema, status: JsonSchema = { type: 'object' }): CustomValidation {
  const openAPIV3Schema = { type: 'object', properties: { spec, status } };
  return new CustomValidation({ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }, true);
}

function objectOf(spec: JsonValue, rest: JsonObject = {}): KubeObject {
  return {
    apiVersion: 'example.io/v1',
    kind: 'Thing',
    metadata: { name: 'a' },
    spec,
    ...rest,
  };
}

const textsOf = (errors: readonly FieldError[]): readonly string[] =>
  errors.map(({ field, message }) => `${field}: ${message}`);

/** The fields that a change from one spec to the other is refused for. */
function refused(schema: JsonSchema, old: JsonValue, spec: JsonValue): readonly string[] {
  const validation = validationOf(schema);
  return validation.validateUpdate(objectOf(spec), objectOf(old)).map(({ field }) => field);
}

const properties = (members: Readonly<Record<string, JsonSchema>>, more: JsonSchema = {}): JsonSchema => ({
  type: 'object',
  properties: members,
  ...more,
});
const item = properties({ name: { type: 'string' }, code: UPPER });

describe('a change of an object whose schema finds something wrong', () => {
  it.each<[string, JsonSchema, JsonValue, JsonValue, readonly string[]]>([
    ['leaves a field alone', properties({ a: UPPER, b: UPPER }), { a: 'x' }, { a: 'x', b: 'Y' }, []],
    ['breaks another', properties({ a: UPPER, b: UPPER }), { a: 'x' }, { a: 'x', b: 'y' }, ['spec.b']],
    ['changes a wrong field', properties({ a: UPPER }), { a: 'x' }, { a: 'y' }, ['spec.a']],
    ['adds the wrong field', properties({ a: UPPER }), {}, { a: 'x' }, ['spec.a']],
    [
      'lacks what is required of a part that changes',
      properties({ a: UPPER }, { required: ['b'] }),
      { a: 'A' },
      { a: 'B' },
      ['spec.b'],
    ],
    [
      'lacks what is required of a part that stays',
      properties({ a: properties({ x: UPPER }, { required: ['y'] }), b: UPPER }),
      { a: { x: 'A' } },
      { a: { x: 'A' }, b: 'B' },
      [],
    ],
    [
      'reorders a keyed list, and adds to it',
      properties({ list: { type: 'array', items: item, ...KEYED } }),
      {
        list: [
          { name: 'a', code: 'x' },
          { name: 'b', code: 'y' },
        ],
      },
      {
        list: [
          { name: 'c', code: 'Z' },
          { name: 'b', code: 'y' },
          { name: 'a', code: 'x' },
        ],
      },
      [],
    ],
    [
      'changes an item of a keyed list',
      properties({ list: { type: 'array', items: item, ...KEYED } }),
      {
        list: [
          { name: 'a', code: 'x' },
          { name: 'b', code: 'y' },
        ],
      },
      {
        list: [
          { name: 'a', code: 'y' },
          { name: 'b', code: 'y' },
        ],
      },
      ['spec.list.code'],
    ],
    [
      'only reorders a keyed list that is too long',
      properties({ list: { type: 'array', items: item, maxItems: 1, ...KEYED } }),
      { list: [{ name: 'a' }, { name: 'b' }] },
      { list: [{ name: 'b' }, { name: 'a' }] },
      [],
    ],
    [
      'adds to the end of a list',
      properties({ list: { type: 'array', items: UPPER } }),
      { list: ['x'] },
      { list: ['x', 'Y'] },
      [],
    ],
    [
      'adds to the beginning of a list, whose items have their counterparts by place',
      properties({ list: { type: 'array', items: UPPER } }),
      { list: ['x'] },
      { list: ['Y', 'x'] },
      ['spec.list'],
    ],
    [
      'adds to a set, whose items have no counterparts',
      properties({ list: { type: 'array', items: UPPER, 'x-kubernetes-list-type': 'set' } }),
      { list: ['x'] },
      { list: ['x', 'Y'] },
      ['spec.list'],
    ],
    [
      'leaves an atomic list alone',
      properties({ list: { type: 'array', items: UPPER, 'x-kubernetes-list-type': 'atomic' }, b: UPPER }),
      { list: ['x'] },
      { list: ['x'], b: 'B' },
      [],
    ],
    [
      'adds to a map',
      properties({ map: { type: 'object', additionalProperties: UPPER } }),
      { map: { a: 'x' } },
      { map: { a: 'x', b: 'Y' } },
      [],
    ],
    [
      'changes something in a part that fits no alternative',
      properties({ a: properties({ x: { type: 'integer' }, y: { type: 'integer' } }, { not: { required: ['x'] } }) }),
      { a: { x: 1 } },
      { a: { x: 1, y: 1 } },
      ['<nil>'],
    ],
    [
      'leaves a member alone that only an alternative looks at, in a part that changes',
      properties({ a: properties({ x: { type: 'string' }, y: UPPER }, { allOf: [{ properties: { x: UPPER } }] }) }),
      { a: { x: 'x' } },
      { a: { x: 'x', y: 'Y' } },
      ['spec.a.x', '<nil>'],
    ],
    ['has another type than before', properties({ a: { type: 'integer' } }), { a: [] }, { a: {} }, ['spec.a']],
    ['keeps a wrong type', properties({ a: { type: 'integer' }, b: UPPER }), { a: 'x' }, { a: 'x', b: 'B' }, []],
  ])('%s', (_, schema, old, spec, expected) => {
    expect(refused(schema, old, spec)).toEqual(expected);
  });

  it('is refused for a kind or apiVersion that its schema does not allow, as a change of these does not show', () => {
    const openAPIV3Schema = { type: 'object', properties: { kind: { type: 'string', enum: ['Other'] } } };
    const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } };
    const fields = new CustomValidation(version, true)
      .validateUpdate(objectOf({}), objectOf({}, { metadata: { name: 'b' } }))
      .map(({ field }) => field);
    expect(fields).toEqual(['kind']);
  });

  it('is refused with what the schema finds wrong in a status that changes, and only there', () => {
    const validation = validationOf(properties({ a: UPPER }), properties({ a: UPPER, b: UPPER }));
    const fields = (old: JsonValue, status: JsonValue) =>
      validation
        .validateStatusUpdate(objectOf({ a: 'wrong' }, { status }), objectOf({}, { status: old }))
        .map(({ field }) => field);
    expect(fields({ a: 'x' }, { a: 'x', b: 'Y' })).toEqual([]);
    expect(fields({ a: 'x' }, { a: 'y', b: 'y' })).toEqual(['status.a', 'status.b']);
  });
});

describe('rules of an object that changes', () => {
  function outcome(schema: JsonSchema, old: JsonValue, spec: JsonValue) {
    const warnings: string[] = [];
    const steps = validationOf(schema).checkRules(objectOf(spec), objectOf(old), {
      warn: (text) => void warnings.push(text),
    });
    return { errors: textsOf(steps === undefined ? [] : atOnce(steps)), warnings };
  }

  const ruled = (rule: string, more: object = {}): JsonSchema =>
    properties({ n: { type: 'integer' } }, { 'x-kubernetes-validations': [{ rule, message: 'broken', ...more }] });
  const positive = ruled('self.n > 0');

  it('are told as a warning where they were broken before', () => {
    const schema = properties({ a: positive, b: positive });
    expect(outcome(schema, { a: { n: 0 } }, { a: { n: 0 }, b: { n: 1 } })).toEqual({
      errors: [],
      warnings: ['spec.a: Invalid value: "object": broken'],
    });
    expect(outcome(schema, { a: { n: 0 } }, { a: { n: -1 } }).errors).toHaveLength(1);
  });

  it('are checked by key in keyed lists and by place in others', () => {
    const element = {
      ...properties({ name: { type: 'string' }, n: { type: 'integer' } }),
      'x-kubernetes-validations': [{ rule: 'self.n > 0' }],
    };
    const [a, b] = [
      { name: 'a', n: 0 },
      { name: 'b', n: 1 },
    ];
    const keyed = properties({ list: { type: 'array', items: element, ...KEYED } });
    expect(outcome(keyed, { list: [a] }, { list: [b, a] }).errors).toEqual([]);
    const plain = properties({ list: { type: 'array', items: element } });
    expect(outcome(plain, { list: [a] }, { list: [a, b] }).errors).toEqual([]);
    expect(outcome(plain, { list: [a] }, { list: [b, a] }).errors).toHaveLength(1);
  });

  it('are forgiven in a set as long as the whole set stays', () => {
    const set: JsonSchema = {
      type: 'array',
      'x-kubernetes-list-type': 'set',
      items: { type: 'string', 'x-kubernetes-validations': [{ rule: 'self == "a"' }] },
    };
    const schema = properties({ set, n: { type: 'integer' } });
    expect(outcome(schema, { set: ['b'] }, { set: ['b'], n: 1 }).errors).toEqual([]);
    expect(outcome(schema, { set: ['b'] }, { set: ['b', 'a'] }).errors).toHaveLength(1);
  });

  it('are not forgiven when they compare with the old value', () => {
    const schema = properties({ a: ruled('self.n > 0 && oldSelf.n > 0'), b: positive });
    expect(outcome(schema, { a: { n: 0 } }, { a: { n: 0 }, b: { n: 1 } }).errors).toHaveLength(1);
    const optional = ruled('self.n > 0 && oldSelf.hasValue()', { optionalOldSelf: true });
    expect(outcome(properties({ a: optional }), { a: { n: 0 } }, { a: { n: 0 } }).errors).toHaveLength(1);
    expect(outcome(properties({ a: optional }), { a: { n: 0 } }, { a: { n: 1 } }).errors).toEqual([]);
    expect(outcome(properties({ a: optional }), {}, { a: { n: 1 } }).errors).toHaveLength(1);
  });

  it('are not forgiven when they cannot be evaluated, for want of a value of the right type too', () => {
    const schema = properties({ a: positive, b: UPPER });
    expect(outcome(schema, { a: {} }, { a: {}, b: 'B' }).errors).toEqual([
      'spec.a: Invalid value: "object": no such key: n evaluating rule: broken',
    ]);
    expect(outcome(schema, { a: [] }, { a: [], b: 'B' }).errors).toEqual([
      'spec.a: Invalid value: "object": invalid data, expected object, got object evaluating rule: broken',
    ]);
  });
});

describe('any change of any object', () => {
  const schema = properties({
    a: UPPER,
    list: { type: 'array', items: item, maxItems: 3, ...KEYED },
    plain: { type: 'array', items: UPPER },
    set: { type: 'array', items: UPPER, 'x-kubernetes-list-type': 'set' },
    map: { type: 'object', additionalProperties: UPPER, maxProperties: 2 },
  });
  const code = fc.constantFrom('A', 'B', 'x', 'y');
  const spec: fc.Arbitrary<JsonValue> = fc.record(
    {
      a: code,
      list: fc.uniqueArray(fc.record({ name: fc.constantFrom('a', 'b', 'c', 'd'), code }), {
        selector: ({ name }) => name,
      }),
      plain: fc.array(code, { maxLength: 4 }),
      set: fc.uniqueArray(code),
      map: fc.dictionary(fc.constantFrom('a', 'b', 'c'), code, { noNullPrototype: true }),
    },
    { requiredKeys: [], noNullPrototype: true },
  );
  const validation = validationOf(schema);
  const copyOf = (value: JsonValue): JsonValue => JSON.parse(JSON.stringify(value)) as JsonValue;

  it('is refused for nothing that its creation would not be refused for, and in the same words', () => {
    fc.assert(
      fc.property(spec, spec, (old, value) => {
        const all = textsOf(validation.validateCreate(objectOf(value)));
        const some = textsOf(validation.validateUpdate(objectOf(value), objectOf(old)));
        expect(all).toEqual(expect.arrayContaining([...some]));
      }),
    );
  });

  it('is refused for nothing when nothing changes, and for all from an empty object', () => {
    fc.assert(
      fc.property(spec, (value) => {
        expect(validation.validateUpdate(objectOf(value), objectOf(copyOf(value)))).toEqual([]);
        const all = validation.validateCreate(objectOf(value));
        expect(validation.validateUpdate(objectOf(value), objectOf({ other: 1 }))).toEqual(all);
      }),
    );
  });

  it('is judged the same in parts as at one stretch', () => {
    const many = (list: readonly JsonValue[]): readonly JsonValue[] => Array.from({ length: 60 }, () => list).flat();
    fc.assert(
      fc.property(fc.array(code, { minLength: 4, maxLength: 8 }), fc.array(code, { minLength: 4 }), (old, value) => {
        const [before, after] = [objectOf({ plain: many(old), a: 'x' }), objectOf({ plain: many(value), a: 'y' })];
        const wanted = validation.validateUpdate(after, before);
        expect(take(checkInParts(() => validation.validateUpdate(after, before))).result).toEqual(wanted);
      }),
    );
  });
});
