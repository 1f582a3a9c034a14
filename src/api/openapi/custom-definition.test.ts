import type { JsonObject } from '../object';
import { atOnce } from '../parts';
import { customDefinition as customDefinitionSteps, type Dialect } from './custom-definition';

const COMMON = { apiVersion: { type: 'string' }, kind: { type: 'string' }, metadata: { $ref: '#/definitions/Meta' } };
const OPEN_ENDED = 'x-kubernetes-preserve-unknown-fields';
const EMBEDDED = 'x-kubernetes-embedded-resource';

const customDefinition = (schema: JsonObject, dialect: Dialect, common: JsonObject): JsonObject =>
  atOnce(customDefinitionSteps(schema, dialect, common));

const inV2 = (spec: JsonObject): unknown =>
  (customDefinition({ type: 'object', properties: { spec } }, 'v2', COMMON)['properties'] as JsonObject)['spec'];

describe('the definition of a custom kind', () => {
  it('names no field in v2 when the kind is open-ended, or kubectl would refuse all the others', () => {
    const schema = { type: 'object', [OPEN_ENDED]: true, properties: { spec: { type: 'object' } } };
    expect(customDefinition(schema, 'v2', COMMON)).toEqual({ type: 'object' });
    expect(customDefinition(schema, 'v3', COMMON)).toEqual({
      ...schema,
      properties: { spec: { type: 'object' }, ...COMMON },
    });
  });

  it.each<[string, JsonObject, JsonObject]>([
    [
      'no shape where anything may be',
      { type: 'object', [OPEN_ENDED]: true, properties: { a: {} } },
      { [OPEN_ENDED]: true },
    ],
    ['no type for lists of anything', { type: 'array', [OPEN_ENDED]: true, items: {} }, { [OPEN_ENDED]: true }],
    ['no type for lists that have no items', { type: 'array' }, {}],
    ['the type of other values', { type: 'string', [OPEN_ENDED]: true }, { type: 'string', [OPEN_ENDED]: true }],
    ['no shape where null may be', { type: 'object', nullable: true, properties: { a: {} } }, {}],
    [
      'nothing required that may be null',
      {
        type: 'object',
        required: ['a', 'b'],
        properties: { a: { type: 'string', nullable: true }, b: { type: 'string' } },
      },
      { type: 'object', required: ['b'], properties: { a: {}, b: { type: 'string' } } },
    ],
    [
      'no empty list of what is required',
      { type: 'object', required: ['a'], additionalProperties: { type: 'string', nullable: true } },
      { type: 'object', additionalProperties: {} },
    ],
    [
      'the inside of lists and maps as well',
      { type: 'array', items: { type: 'object', additionalProperties: { type: 'string', default: 'a' } } },
      { type: 'array', items: { type: 'object', additionalProperties: { type: 'string' } } },
    ],
    [
      'what every object has in embedded ones',
      { type: 'object', [EMBEDDED]: true, required: ['spec', 'kind'], properties: { spec: { type: 'object' } } },
      {
        type: 'object',
        [EMBEDDED]: true,
        required: ['spec', 'kind', 'apiVersion'],
        properties: { spec: { type: 'object' }, ...COMMON },
      },
    ],
    [
      'nothing of embedded objects that are open-ended',
      { type: 'object', [EMBEDDED]: true, [OPEN_ENDED]: true },
      { [EMBEDDED]: true, [OPEN_ENDED]: true },
    ],
  ])('has in v2 %s', (_, schema, expected) => {
    expect(inV2(schema)).toEqual(expected);
  });

  it('has in v3 what every object has in embedded ones, open-ended or not', () => {
    const spec = { type: 'object', [EMBEDDED]: true, [OPEN_ENDED]: true };
    expect(customDefinition({ type: 'object', properties: { spec } }, 'v3', COMMON)).toEqual({
      type: 'object',
      properties: { spec: { ...spec, properties: COMMON, required: ['kind', 'apiVersion'] }, ...COMMON },
    });
  });
});
