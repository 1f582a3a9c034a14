import type { FieldError } from '../errors/field-error';
import { take } from '../steps/both-forms.fixture';
import { counted, mostReads } from '../steps/counted.fixture';
import { checkInParts } from './check-each';
import { validateCustomSchema } from './custom-schema';

const COUNT = 2_000;
/** Of a stretch: parts of some hundred values, whose rules look at each several times. */
const MOST_READS = 20_000;

const demands = { structure: true, noDefaults: false, hasStatus: false };
const names = Array.from({ length: COUNT }, (_, index) => `field${index}`);
const allOf = (make: (index: number) => object): object =>
  Object.fromEntries(names.map((name, index) => [name, make(index)]));
const object = (properties: object, rest: object = {}): object => ({ type: 'object', properties, ...rest });
const list = (items: object): object => ({ type: 'array', items });

const validate = (schema: object): readonly FieldError[] => validateCustomSchema(schema, 'schema', demands);

describe.each<[string, object]>([
  ['many fields', object(allOf(() => ({ type: 'string' })))],
  [
    'many fields some levels below',
    object({ spec: list(object({ a: object(allOf(() => object({ b: list({}) }))) })) }),
  ],
  [
    'many fields with defaults',
    object(allOf((index) => ({ type: 'string', default: index % 500 === 0 ? index : 'a' }))),
  ],
  ['many conditions', object({ a: { type: 'string', anyOf: names.map((pattern) => ({ pattern, title: 'a' })) } })],
  ['many conditions on fields', object({}, { not: { properties: allOf(() => ({ type: 'string' })) } })],
  ['a schema that is not structural', object(allOf((index) => (index % 100 === 0 ? {} : { type: 'string' })))],
  ['what cannot be read', object(allOf((index) => ({ type: index === 7 ? 'null' : '', uniqueItems: true })))],
])('%s', (_, schema) => {
  it('has the same problems in parts as at one stretch', () => {
    // What is told has a limit.
    const wanted = validate(schema).slice(0, 40);
    expect(take(checkInParts(() => validate(schema))).result.slice(0, 40)).toEqual(wanted);
  });

  it('is looked at a part at a time', () => {
    const steps = checkInParts(() => validate(counted(schema)));
    const most = mostReads(steps);
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThan(MOST_READS);
  });
});
