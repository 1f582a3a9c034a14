import { atOnce } from '../parts';
import { compileRules } from './rules';
import type { JsonSchema } from './json-schema';
import type { JsonValue } from '../object';

const rulesOf = (
  properties: Record<string, JsonSchema>,
  rules: NonNullable<JsonSchema['x-kubernetes-validations']>,
) => ({
  type: 'object',
  properties: { spec: { type: 'object', properties, 'x-kubernetes-validations': rules } },
});

function problems(schema: JsonSchema, object: JsonValue, old?: JsonValue): readonly string[] {
  const rules = compileRules(schema);
  return rules === undefined
    ? []
    : atOnce(rules.check(object, old)).map(({ field, message }) => `${field}: ${message}`);
}

const RANGE = { min: { type: 'integer' }, max: { type: 'integer' } };

it('a rule that is broken is told with the type of the value and the rule', () => {
  const schema = rulesOf(RANGE, [{ rule: 'self.min <= self.max' }]);
  expect(problems(schema, { spec: { min: 1, max: 2 } })).toEqual([]);
  expect(problems(schema, { spec: { min: 3, max: 2 } })).toEqual([
    'spec: Invalid value: "object": failed rule: self.min <= self.max',
  ]);
});

it('a message expression is told instead, with the reason and at the field that the rule names', () => {
  const schema = rulesOf(RANGE, [
    {
      rule: 'self.min <= self.max',
      message: 'unused',
      messageExpression: '"min is " + string(self.min) + ", max " + string(self.max)',
      reason: 'FieldValueForbidden',
      fieldPath: '.min',
    },
  ]);
  expect(problems(schema, { spec: { min: 3, max: 2 } })).toEqual(['spec.min: Forbidden: min is 3, max 2']);
});

it('an absent field fails the rule that reads it', () => {
  const schema = rulesOf(RANGE, [{ rule: 'self.min <= self.max' }, { rule: '!has(self.min) || self.min > 0' }]);
  expect(problems(schema, { spec: { max: 2 } })).toEqual([
    'spec: Invalid value: "object": no such key: min evaluating rule: self.min <= self.max',
  ]);
});

it('a message that costs too much ends the check, and is told instead', () => {
  const costly = 'string(self.list.all(a, self.list.all(b, self.list.all(c, a + b + c != 1))))';
  const list: JsonSchema = { type: 'array', items: { type: 'integer' } };
  const schema = rulesOf({ list }, [
    { rule: 'false', messageExpression: costly, fieldPath: '.list' },
    { rule: 'self.list.size() > 1000' },
  ]);
  const object = (length: number) => ({ spec: { list: Array.from({ length }, () => 5) } });
  expect(problems(schema, object(2))).toEqual([
    'spec.list: Invalid value: "object": true',
    'spec: Invalid value: "object": failed rule: self.list.size() > 1000',
  ]);
  expect(problems(schema, object(200))).toEqual([
    `spec.list: Invalid value: "object": no further validation rules will be run due to call cost exceeds limit for messageExpression: ${JSON.stringify(costly)}`,
  ]);
});

it('messages share the budget of the object with its rules', () => {
  const item: JsonSchema = {
    type: 'object',
    properties: { n: { type: 'array', items: { type: 'integer' } } },
    'x-kubernetes-validations': [
      { rule: 'false', messageExpression: 'string(self.n.all(a, self.n.all(b, a + b != 1)))' },
    ],
  };
  const schema = rulesOf({ list: { type: 'array', items: item } }, [{ rule: 'true' }]);
  const n = Array.from({ length: 300 }, () => 5);
  const found = problems(schema, { spec: { list: Array.from({ length: 100 }, () => ({ n })) } });
  expect(found.length).toBeLessThan(100);
  expect(found.at(-1)).toContain('messageExpression evaluation failed due to running out of cost budget');
});
