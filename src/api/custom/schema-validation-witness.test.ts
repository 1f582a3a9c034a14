import Ajv, { type AnySchemaObject } from 'ajv';
import fc from 'fast-check';
import type { FieldError } from '../errors/field-error';
import type { JsonValue } from '../object';
import type { JsonSchema } from './json-schema';
import { compileValidation } from './schema-validation';

/**
 * Structural schemas and values at random: ajv and our validation agree about what is valid, where Kubernetes' rules are JSON
 * Schema's. They are not for formats, for integers beyond 2^53, and for a null, of which Kubernetes checks type and enum only.
 */

const RUNS = Number(process.env['STERNPOST_RUNS'] ?? 500);
const NAMES = ['a', 'ö.b', 'toString'] as const;
const PATTERNS = ['^a', 'b$', '[0-9]+', 'a|ö', '^(ab)*$', '.'] as const;

// Exact in binary, as quotients and sums are then: how exact a multiple has to be is another question.
const number = fc.integer({ min: -6, max: 6 }).map((quarters) => quarters / 4);
const integer = fc.integer({ min: -3, max: 3 });
const text = fc
  .array(fc.constantFrom('a', 'b', '7', 'ö', '😀', '\n'), { maxLength: 5 })
  .map((letters) => letters.join(''));
const count = fc.nat({ max: 4 });
const scalar: fc.Arbitrary<JsonValue> = fc.oneof(integer, number, text, fc.boolean());

const numberRules = {
  minimum: number,
  maximum: number,
  exclusiveMinimum: fc.boolean(),
  exclusiveMaximum: fc.boolean(),
  multipleOf: fc.constantFrom(0.25, 0.5, 1, 1.5, 2, 3),
};
const textRules = { minLength: count, maxLength: count, pattern: fc.constantFrom(...PATTERNS) };
const listRules = { minItems: count, maxItems: count };
const mapRules = {
  minProperties: count,
  maxProperties: count,
  required: fc.uniqueArray(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 2 }),
};

function rulesOf<Rules extends Record<string, fc.Arbitrary<unknown>>>(rules: Rules): fc.Arbitrary<JsonSchema> {
  return fc.record(rules, { requiredKeys: [] });
}

/** What stands in anyOf, oneOf, allOf and not: rules about values, without types. */
const { alternative } = fc.letrec<{ alternative: JsonSchema }>((tie) => ({
  alternative: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    rulesOf({ ...numberRules, ...textRules, ...listRules, ...mapRules }),
    fc.array(scalar, { minLength: 1, maxLength: 4 }).map((values) => ({ enum: values })),
    fc.dictionary(fc.constantFrom(...NAMES), tie('alternative'), { maxKeys: 2 }).map((properties) => ({ properties })),
    tie('alternative').map((items) => ({ items })),
  ),
}));

const alternatives = fc.array(alternative, { minLength: 1, maxLength: 3 });
const alternativeRules = rulesOf({ anyOf: alternatives, oneOf: alternatives, allOf: alternatives, not: alternative });

const { schema } = fc.letrec<{ schema: JsonSchema; typed: JsonSchema; items: JsonSchema; members: JsonSchema }>(
  (tie) => ({
    items: fc.tuple(rulesOf(listRules), tie('schema')).map(([rules, items]) => ({ type: 'array', ...rules, items })),
    members: fc
      .tuple(
        rulesOf(mapRules),
        fc.oneof(
          fc
            .dictionary(fc.constantFrom(...NAMES), tie('schema'), { maxKeys: 4 })
            .map((properties): JsonSchema => ({ properties })),
          tie('schema').map((additionalProperties): JsonSchema => ({ additionalProperties })),
        ),
      )
      .map(([rules, members]) => ({ type: 'object', ...rules, ...members })),
    typed: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      rulesOf(numberRules).map((rules) => ({ type: 'number', ...rules })),
      rulesOf(numberRules).map((rules) => ({ type: 'integer', ...rules })),
      rulesOf(textRules).map((rules) => ({ type: 'string', ...rules })),
      fc.constant({ type: 'boolean' }),
      rulesOf({ ...numberRules, ...textRules }).map((rules) => ({ 'x-kubernetes-int-or-string': true, ...rules })),
      tie('items'),
      tie('members'),
    ),
    schema: fc
      .tuple(
        tie('typed'),
        fc.oneof(
          { weight: 8, arbitrary: fc.constant<JsonSchema>({}) },
          fc.array(scalar, { minLength: 1, maxLength: 5 }).map((values): JsonSchema => ({ enum: values })),
          fc.constant<JsonSchema>({ nullable: true }),
          alternativeRules,
        ),
      )
      .map(([typed, more]) => ({ ...typed, ...more })),
  }),
);

/** Mostly of the schema's type: of others, nothing else is looked at. */
function valueOf(schema: JsonSchema): fc.Arbitrary<JsonValue> {
  const odd: fc.Arbitrary<JsonValue> = fc.oneof(scalar, fc.constant(null), fc.constant([]), fc.constant({}));
  const listed = schema.enum === undefined ? [] : [{ weight: 8, arbitrary: fc.constantFrom(...schema.enum) }];
  return fc.oneof({ weight: 14, arbitrary: typedValue(schema) }, { weight: 1, arbitrary: odd }, ...listed);
}

function typedValue({
  type,
  items,
  properties = {},
  additionalProperties,
  required,
}: JsonSchema): fc.Arbitrary<JsonValue> {
  switch (type) {
    case 'number':
      return number;
    case 'integer':
      return integer;
    case 'string':
      return text;
    case 'boolean':
      return fc.boolean();
    case 'array':
      return fc.array(valueOf(items!), { maxLength: 4 });
    case 'object': {
      if (typeof additionalProperties === 'object') {
        return fc.dictionary(fc.constantFrom(...NAMES), valueOf(additionalProperties), {
          maxKeys: 4,
          noNullPrototype: true,
        });
      }
      const members = Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, valueOf(one)]));
      const needed = Object.fromEntries(
        (required ?? []).map((name) => [name, Object.hasOwn(members, name) ? members[name]! : scalar]),
      );
      return fc.record({ ...members, ...needed }, { requiredKeys: [], noNullPrototype: true });
    }
    default:
      return fc.oneof(integer, text);
  }
}

const pair = schema.chain((made) => valueOf(made).map((value) => ({ schema: made, value })));

/** The same in the draft of JSON Schema that ajv reads. */
function forAjv(schema: JsonSchema): AnySchemaObject {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, nullable, ...rest } = schema;
  const { 'x-kubernetes-int-or-string': either, ...plain } = rest;
  const each = (list: readonly JsonSchema[] | undefined, name: string): object =>
    list ? { [name]: list.map(forAjv) } : {};
  const values = plain.additionalProperties;
  return {
    ...plain,
    ...(either === true && { type: ['integer', 'string', ...(nullable === true ? ['null'] : [])] }),
    ...(plain.type !== undefined && { type: nullable === true ? [plain.type, 'null'] : plain.type }),
    ...(minimum !== undefined && { [exclusiveMinimum === true ? 'exclusiveMinimum' : 'minimum']: minimum }),
    ...(maximum !== undefined && { [exclusiveMaximum === true ? 'exclusiveMaximum' : 'maximum']: maximum }),
    ...(plain.items && { items: forAjv(plain.items) }),
    ...(typeof values === 'object' && { additionalProperties: forAjv(values) }),
    ...(plain.properties && {
      properties: Object.fromEntries(Object.entries(plain.properties).map(([name, one]) => [name, forAjv(one)])),
    }),
    ...each(plain.anyOf, 'anyOf'),
    ...each(plain.oneOf, 'oneOf'),
    ...each(plain.allOf, 'allOf'),
    ...(plain.not && { not: forAjv(plain.not) }),
  };
}

function isValid(schema: JsonSchema, value: JsonValue): boolean {
  const errors: FieldError[] = [];
  compileValidation(schema)(value, '', errors);
  return errors.length === 0;
}

function isValidForAjv(schema: JsonSchema, value: JsonValue): boolean {
  // Members that every object inherits are not the value's.
  const ajv = new Ajv({ strict: false, ownProperties: true, validateSchema: false, logger: false });
  return ajv.compile(forAjv(schema))(value) === true;
}

describe('validation against a schema, with ajv as a witness', () => {
  it('finds valid what ajv finds valid, and nothing else', () => {
    fc.assert(
      fc.property(pair, ({ schema, value }) => {
        expect(isValid(schema, value)).toBe(isValidForAjv(schema, value));
      }),
      { numRuns: RUNS },
    );
  });

  it('is asked about valid values and invalid ones', () => {
    const valid = fc.sample(pair, { seed: 1, numRuns: 400 }).filter(({ schema, value }) => isValid(schema, value));
    expect(valid.length).toBeGreaterThan(40);
    expect(valid.length).toBeLessThan(360);
  });
});
