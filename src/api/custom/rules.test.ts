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
