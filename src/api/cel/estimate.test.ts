import { checkExpression } from './compile-expression';
import { estimateCost } from './estimate';
import { schemaType } from './schema-type';
import type { JsonSchema } from '../custom/json-schema';

function estimate(rule: string, schema: JsonSchema): number {
  const self = schemaType(schema, false);
  if (self === undefined) throw new Error('the schema has no type');
  return estimateCost(checkExpression(rule, new Map([['self', self.type]])), new Map([['self', self]]));
}

const TEXT: JsonSchema = { type: 'string', maxLength: 100 };
const map = (maxProperties: number): JsonSchema => ({ type: 'object', maxProperties, additionalProperties: TEXT });

it('takes nothing for the length of a key, as no schema bounds it', () => {
  const ofKeys = estimate("self.all(key, !key.contains('*'))", map(16));
  const ofValues = estimate("self.all(key, !self[key].contains('*'))", map(16));
  expect(ofKeys).toBeLessThan(ofValues);
  expect(ofKeys).toBeLessThan(1_000);
});

it('takes the bound of the values where a macro names both', () => {
  const ofValues = (maxLength: number) =>
    estimate("self.all(key, value, key.contains('a') && value.contains('a'))", {
      ...map(16),
      additionalProperties: { type: 'string', maxLength },
    });
  expect(ofValues(1_000)).toBeGreaterThan(ofValues(100));
});

it('grows with the number of entries', () => {
  const rule = "self.all(key, !key.contains('*'))";
  expect(estimate(rule, map(160))).toBeGreaterThan(9 * estimate(rule, map(16)));
});
