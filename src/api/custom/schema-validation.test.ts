import { RE2JS } from 're2js';
import type { FieldError } from '../errors/field-error';
import type { JsonValue } from '../object';
import { checkInParts } from '../validation/check-each';
import type { JsonSchema } from './json-schema';
import { compileValidation } from './schema-validation';

function problems(schema: JsonSchema, value: JsonValue): readonly string[] {
  const errors: FieldError[] = [];
  const root: JsonSchema = { type: 'object', properties: { f: schema } };
  compileValidation(root)({ f: value }, '', errors);
  return errors.map(({ field, message }) => `${field}: ${message}`);
}

const EITHER: readonly JsonSchema[] = [{ required: ['a'] }, { required: ['b'] }];

describe('validation against a schema', () => {
  it.each<[JsonSchema, JsonValue, readonly string[]]>([
    [
      { type: 'string', minLength: 2, pattern: '^a' },
      'b',
      ['f: Invalid value: "b": f in body should be at least 2 chars long'],
    ],
    [
      { type: 'string', minLength: 2, pattern: '^a' },
      'bcd',
      ['f: Invalid value: "bcd": f in body should match \'^a\''],
    ],
    [{ type: 'string', maxLength: 2 }, 'long', ['f: Invalid value: "long": f in body should be at most 2 chars long']],
    [{ type: 'string', maxLength: 2 }, '😀😀', []],
    [{ type: 'integer', minimum: 1 }, 0, ['f: Invalid value: 0: f in body should be greater than or equal to 1']],
    [{ type: 'integer' }, 1.5, ['f: Invalid value: "number": f in body must be of type integer: "number"']],
    [
      { type: 'number', minimum: 1, exclusiveMinimum: true },
      1,
      ['f: Invalid value: 1: f in body should be greater than 1'],
    ],
    [
      { type: 'number', maximum: 2, exclusiveMaximum: true },
      2,
      ['f: Invalid value: 2: f in body should be less than 2'],
    ],
    [{ type: 'number' }, 2, []],
    [{ type: 'number', multipleOf: 0.5 }, 0.7, ['f: Invalid value: 0.7: f in body should be a multiple of 0.5']],
    [{ type: 'number', multipleOf: 0.1 }, 0.3, []],
    [{ type: 'string', enum: ['x', 'y'] }, 'z', ['f: Unsupported value: "z": supported values: "x", "y"']],
    [{ type: 'integer', enum: [1, 2] }, 3, ['f: Unsupported value: 3: supported values: "1", "2"']],
    [{ type: 'boolean' }, 'true', ['f: Invalid value: "string": f in body must be of type boolean: "string"']],
    [
      { type: 'array', minItems: 1, items: { type: 'string' } },
      [],
      ['f: Invalid value: 0: f in body should have at least 1 items'],
    ],
    [
      { type: 'array', items: { type: 'string' } },
      [null],
      ['f: Invalid value: "null": f in body must be of type string: "null"'],
    ],
    [{ type: 'object', required: ['k', 'l'] }, {}, ['f.k: Required value', 'f.l: Required value']],
    [{ type: 'object', minProperties: 1 }, {}, ['f: Invalid value: 1: f in body should have at least 1 properties']],
    [
      { type: 'object', additionalProperties: { type: 'integer' } },
      { a: 'x' },
      ['f.a: Invalid value: "string": f.a in body must be of type integer: "string"'],
    ],
    [
      { 'x-kubernetes-int-or-string': true },
      1.5,
      ['f: Invalid value: "number": f in body must be of type integer,string: "number"'],
    ],
    [{ 'x-kubernetes-int-or-string': true }, '5%', []],
    [{ type: 'string', nullable: true }, null, []],
    [
      { type: 'string', format: 'date-time' },
      '2020',
      ['f: Invalid value: "2020": f in body must be of type date-time: "2020"'],
    ],
    [{ type: 'string', format: 'unheard-of' }, 'x', []],
    [
      { type: 'object', oneOf: EITHER },
      {},
      [
        '<nil>: Invalid value: "": "f" must validate one and only one schema (oneOf). Found none valid',
        'f.a: Required value',
      ],
    ],
    [
      { type: 'object', oneOf: EITHER },
      { a: 1, b: 1 },
      ['<nil>: Invalid value: "": "f" must validate one and only one schema (oneOf). Found 2 valid alternatives'],
    ],
    [
      { type: 'object', anyOf: EITHER },
      {},
      ['<nil>: Invalid value: "": "f" must validate at least one schema (anyOf)', 'f.a: Required value'],
    ],
    [
      { type: 'object', allOf: [{ required: ['a'] }, { properties: { a: { minimum: 5 } } }] },
      {},
      ['f.a: Required value', '<nil>: Invalid value: "": "f" must validate all the schemas (allOf)'],
    ],
    [
      { type: 'string', not: { enum: ['bad'] } },
      'bad',
      ['<nil>: Invalid value: "": "f" must not validate the schema (not)'],
    ],
  ])('%j of %j', (schema, value, expected) => {
    expect(problems(schema, value)).toEqual(expected);
  });

  it('takes no exponential time over a pattern', () => {
    const started = performance.now();
    expect(problems({ type: 'string', pattern: '^(a+)+$' }, `${'a'.repeat(40)}!`)).toHaveLength(1);
    expect(performance.now() - started).toBeLessThan(1000);
  });

  it('compiles the patterns of an object one at a time', () => {
    const names = Array.from({ length: 12 }, (_, index) => `f${index}`);
    const schema = {
      type: 'object',
      properties: Object.fromEntries(names.map((name) => [name, { type: 'string', pattern: `^${name}$` }])),
    };
    const compile = jest.spyOn(RE2JS, 'compile');
    const errors: FieldError[] = [];
    const steps = checkInParts(() => {
      compileValidation(schema)(Object.fromEntries(names.map((name) => [name, name])), '', errors);
      return errors;
    });
    const counts: number[] = [];
    for (let done: boolean | undefined = false; done !== true; counts.push(compile.mock.calls.length)) {
      done = steps.next().done;
    }
    compile.mockRestore();
    expect(counts.at(-1)).toBe(names.length);
    expect(counts.every((count, index) => count - (counts[index - 1] ?? 0) <= 1)).toBe(true);
  });
});
