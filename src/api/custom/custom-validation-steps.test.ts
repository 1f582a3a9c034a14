import type { FieldError } from '../errors/field-error';
import type { JsonValue, KubeObject } from '../object';
import { take } from '../steps/both-forms.fixture';
import { counted, mostReads } from '../steps/counted.fixture';
import { checkInParts, checkInPartsIfLong } from '../validation/check-each';
import { CustomValidation } from './custom-validation';

const COUNT = 3_000;
/** Of a stretch: parts of some hundred values, whose rules look at each several times. */
const MOST_READS = 6_000;

const many = (make: (index: number) => JsonValue): JsonValue =>
  Array.from({ length: COUNT }, (_, index) => make(index));
const text = { type: 'string', minLength: 1, pattern: '^[a-z]+$' };
const list = (items: object, rest: object = {}): object => ({ type: 'array', items, ...rest });
const object = (properties: object): object => ({ type: 'object', properties });
const keyed = { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] };
const schema = object({
  spec: object({
    items: list(object({ a: text }), { maxItems: 10 }),
    map: { type: 'object', additionalProperties: { type: 'integer' } },
    nested: list(list(text)),
    keyed: list(object({ name: text }), keyed),
    set: list(text, { 'x-kubernetes-list-type': 'set' }),
    alternatives: { anyOf: [list(text), { type: 'object' }], not: list({ type: 'integer' }) },
  }),
});
const validation = new CustomValidation(
  { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } },
  true,
);
const custom = (spec: Readonly<Record<string, JsonValue>>) =>
  ({ apiVersion: 'e.io/v1', kind: 'A', metadata: { name: 'a' }, spec }) as unknown as KubeObject;

const LARGE: readonly (readonly [string, KubeObject])[] = [
  ['a long list', custom({ items: many((index) => ({ a: index % 500 === 0 ? 'A' : 'a' })) })],
  [
    'a map of many keys',
    custom({
      map: Object.fromEntries(Array.from({ length: COUNT }, (_, index) => [`k${index}`, index % 700 ? 1 : 'a'])),
    }),
  ],
  ['a long list in a short one', custom({ nested: [many((index) => (index % 400 === 0 ? 1 : 'a'))] })],
  ['a keyed list that names some twice', custom({ keyed: many((index) => ({ name: `a${index % 2_990}` })) })],
  ['a set that names some twice', custom({ set: many((index) => String(index % 2_995)) })],
];

const inParts = (check: () => readonly FieldError[]): readonly FieldError[] => take(checkInParts(check)).result;

describe.each(LARGE)('%s', (_, value) => {
  it('has the same problems in parts as at one stretch', () => {
    const wanted = validation.validateCreate(value);
    expect(wanted.length).toBeGreaterThan(0);
    expect(inParts(() => validation.validateCreate(value))).toEqual(wanted);
  });

  it('may keep what its lists name twice', () => {
    const wanted = validation.validateUpdate(value, value);
    expect(inParts(() => validation.validateUpdate(value, value))).toEqual(wanted);
    const changed = inParts(() => validation.validateUpdate(value, custom({})));
    expect(changed).toEqual(validation.validateCreate(value));
  });

  it('is looked at a part at a time', () => {
    const object = counted(value);
    const steps = checkInParts(() => validation.validateCreate(object));
    const most = mostReads(steps);
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThan(MOST_READS);
  });
});

it('compares what is wrong with what it was a part at a time', () => {
  const spec = (more: object): Readonly<Record<string, JsonValue>> => ({
    items: many(() => ({ a: 'A' })),
    nested: [many(() => 'A')],
    ...more,
  });
  const object = counted(custom(spec({ map: { a: 'wrong' } })));
  const old = custom(spec({}));
  const errors = inParts(() => validation.validateUpdate(object, old));
  expect(errors.map(({ field }) => field)).toEqual(['spec.map.a']);
  const most = mostReads(checkInParts(() => validation.validateUpdate(object, old)));
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThan(MOST_READS);
});

it('decides between alternatives of a large value when it has been tried against each, a part at a time', () => {
  const value = custom({ alternatives: many(() => 'a') });
  expect(inParts(() => validation.validateCreate(value))).toEqual([]);
  const wrong = custom({ alternatives: many(() => 1) });
  expect(inParts(() => validation.validateCreate(wrong))).toEqual(validation.validateCreate(wrong));
  const object = counted(wrong);
  expect(mostReads(checkInParts(() => validation.validateCreate(object)))).toBeLessThan(MOST_READS);
});

describe('a small object with a schema of many alternatives', () => {
  const WIDTH = 12;
  type Listed = 'allOf' | 'anyOf' | 'oneOf';
  const nested = (depth: number, names: readonly Listed[]): object =>
    depth === 0
      ? { properties: { x: { minLength: 2 } } }
      : { [names[depth % names.length]!]: Array.from({ length: WIDTH }, () => nested(depth - 1, names)) };

  it('has one long enum read after the other', () => {
    const text = { type: 'string', enum: Array.from({ length: 1_000 }, (_, index) => `v${index}`) };
    const fields = Array.from({ length: 10 }, (_, index) => `f${index}`);
    const openAPIV3Schema = object({ spec: object(Object.fromEntries(fields.map((name) => [name, counted(text)]))) });
    const long = new CustomValidation({ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }, true);
    expect(long.hasManyTrials).toBe(true);
    const value = custom(Object.fromEntries(fields.map((name) => [name, 'v7'])));
    const most = mostReads(checkInParts(() => long.validateCreate(value)));
    expect(most).toBeGreaterThan(1_000);
    expect(most).toBeLessThan(3_000);
    const wrong = custom(Object.fromEntries(fields.map((name) => [name, 'w'])));
    expect(inParts(() => long.validateCreate(wrong))).toEqual(long.validateCreate(wrong));
  });

  it.each<[string, readonly Listed[]]>([
    ['all of which', ['allOf']],
    ['some of which', ['anyOf']],
    ['one of which', ['oneOf']],
    ['all, some or one of which', ['allOf', 'anyOf', 'oneOf']],
  ])('%s it has to fit, is tried against them a few at a time', (_, names) => {
    const spec = { ...object({ x: { type: 'string' } }), ...nested(3, names), not: nested(1, names) };
    const openAPIV3Schema = object({ spec });
    const many = new CustomValidation({ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }, true);
    for (const x of ['y', 'yes']) {
      const value = custom({ x });
      expect(inParts(() => many.validateCreate(value))).toEqual(many.validateCreate(value));
      const steps = checkInParts(() => many.validateCreate(counted(value)));
      const most = mostReads(steps);
      expect(most).toBeGreaterThan(0);
      expect(most).toBeLessThan(100);
    }
  });
});

describe('a long text and a pattern that repeats much', () => {
  const pattern = '^([ab]*a[ab]{101}){3}$';
  const ofPattern = (schemaOf: object): CustomValidation =>
    new CustomValidation(
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: object({ spec: object({ a: schemaOf }) }) },
      },
      true,
    );
  const long = 'ab'.repeat(2_000);

  it('are looked at in steps, though the object is small', () => {
    const plain = ofPattern({ type: 'string', pattern });
    const check = (a: string) => take(checkInPartsIfLong(() => plain.validateCreate(custom({ a }))));
    expect(check(long)).toMatchObject({ result: [], pauses: expect.any(Number) as number });
    expect(check(long).pauses).toBeGreaterThan(10);
    expect(check(`${long}x`).result).toMatchObject([{ reason: 'FieldValueInvalid', field: 'spec.a' }]);
    expect(check('a').pauses).toBe(0);
  });

  it('are too much where alternatives are decided at once', () => {
    const alternatives = ofPattern({ anyOf: [{ pattern }, { type: 'integer' }], type: 'string' });
    const check = (a: string) => take(checkInPartsIfLong(() => alternatives.validateCreate(custom({ a })))).result;
    expect(check(long)).toEqual([]);
    expect(() => check('ab'.repeat(60_000))).toThrow('too many alternatives');
  });
});
