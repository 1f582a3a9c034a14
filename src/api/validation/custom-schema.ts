import { forbiddenField, invalid, notSupported, required, type FieldError } from '../errors/field-error';
import type { JSONSchemaProps as Schema } from '../schema/generated/apiextensions-v1';
import { invalidLiteral, stringListLiteral } from './go-literal';
import { patternProblem } from './custom-pattern';
import { validateStructure } from './structural-schema';
import { repetitions } from './repetitions';

const LIST_TYPES = ['atomic', 'set', 'map'];
const MAP_TYPES = ['atomic', 'granular'];
const UNSUPPORTED = [
  ['id', 'id'],
  ['additionalItems', 'additionalItems'],
  ['patternProperties', 'patternProperties'],
  ['definitions', 'definitions'],
  ['dependencies', 'dependencies'],
  ['$ref', '$ref'],
] as const;

interface Demands {
  readonly structure: boolean;
  readonly noDefaults: boolean;
}

/** A schema of all items, as opposed to one for each. */
export function itemSchema({ items }: Schema): Schema | undefined {
  return items === undefined || Array.isArray(items) ? undefined : (items as Schema);
}

/** The schema of all values of a map. */
export function valueSchema({ additionalProperties: values }: Schema): Schema | undefined {
  return typeof values === 'object' && values !== null ? values : undefined;
}

export function propertiesOf(schema: Schema): readonly (readonly [name: string, schema: Schema])[] {
  return Object.entries(schema.properties ?? {});
}

/** The schemas within a schema, with their paths, in the order in which they are checked. */
function within(schema: Schema, path: string): readonly (readonly [schema: Schema, path: string])[] {
  const values = valueSchema(schema);
  const items = itemSchema(schema);
  const listed = (name: 'allOf' | 'oneOf' | 'anyOf') =>
    (schema[name] ?? []).map((one, index) => [one, `${path}.${name}[${index}]`] as const);
  return [
    ...(values === undefined ? [] : [[values, `${path}.additionalProperties`] as const]),
    ...propertiesOf(schema).map(([name, property]) => [property, `${path}.properties[${name}]`] as const),
    ...(schema.not ? [[schema.not, `${path}.not`] as const] : []),
    ...listed('allOf'),
    ...listed('oneOf'),
    ...listed('anyOf'),
    ...(items === undefined ? [] : [[items, `${path}.items`] as const]),
  ];
}

function validateKeywords(schema: Schema, path: string, { noDefaults }: Demands): readonly FieldError[] {
  const tooOld =
    'must not be set (cannot set default values in apiextensions.k8s.io/v1beta1 CRDs, must use apiextensions.k8s.io/v1)';
  return [
    ...(noDefaults && schema.default !== undefined ? [forbiddenField(`${path}.default`, tooOld)] : []),
    ...UNSUPPORTED.filter(([name]) => schema[name] !== undefined && schema[name] !== '').map(([name, text]) =>
      forbiddenField(`${path}.${name}`, `${text} is not supported`),
    ),
    ...(schema.type === 'null'
      ? [forbiddenField(`${path}.type`, 'type cannot be set to null, use nullable as an alternative')]
      : []),
    ...(Array.isArray(schema.items)
      ? [forbiddenField(`${path}.items`, 'items must be a schema object and not an array')]
      : []),
    ...(schema.type === 'array' && schema.items === undefined ? [required(`${path}.items`, 'must be specified')] : []),
    ...(schema.uniqueItems === true
      ? [
          forbiddenField(
            `${path}.uniqueItems`,
            'uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
          ),
        ]
      : []),
    ...validateMapKeywords(schema, path),
    ...validatePattern(schema.pattern ?? '', `${path}.pattern`),
  ];
}

function validatePattern(pattern: string, field: string): readonly FieldError[] {
  const problem = pattern === '' ? undefined : patternProblem(pattern);
  return problem === undefined
    ? []
    : [invalid(field, pattern, `must be a valid regular expression, but isn't: ${problem}`)];
}

/** Unknown fields are dropped, so that a map with known keys could hold nothing else. */
function validateMapKeywords(schema: Schema, path: string): readonly FieldError[] {
  const values = schema.additionalProperties;
  const field = `${path}.additionalProperties`;
  return [
    ...(values !== undefined && values !== true && propertiesOf(schema).length > 0
      ? [forbiddenField(field, 'additionalProperties and properties are mutual exclusive')]
      : []),
  ];
}

/** Of a type that an extension asks for. */
function validateType(schema: Schema, wanted: string, extension: string, path: string): readonly FieldError[] {
  const { type = '' } = schema;
  const detail = `must be ${wanted} if ${extension}`;
  if (type === wanted) return [];
  return type === '' ? [required(`${path}.type`, detail)] : [invalid(`${path}.type`, type, detail)];
}

function validateMapType(schema: Schema, path: string): readonly FieldError[] {
  const type = schema['x-kubernetes-map-type'];
  if (type === undefined) return [];
  return [
    ...validateType(schema, 'object', 'x-kubernetes-map-type is specified', path),
    ...(MAP_TYPES.includes(type) ? [] : [notSupported(`${path}.x-kubernetes-map-type`, type, MAP_TYPES)]),
  ];
}

/** The keys of a list that is a map are scalars which every item has. */
function validateMapKeys(schema: Schema, keys: readonly string[], path: string): readonly FieldError[] {
  const field = `${path}.x-kubernetes-list-map-keys`;
  const items = itemSchema(schema);
  if (items === undefined) return [required(`${path}.items`, 'must have a schema if x-kubernetes-list-type is map')];
  const literal = stringListLiteral('[]string', keys);
  const ofParent = "if parent array's x-kubernetes-list-type is map";
  const repeated = repetitions(keys);
  const alwaysThere = new Set(items.required ?? []);
  return [
    ...(keys.length === 0 ? [required(field, 'must not be empty if x-kubernetes-list-type is map')] : []),
    ...(items.type === 'object' ? [] : [invalid(`${path}.items.type`, items.type ?? '', `must be object ${ofParent}`)]),
    ...keys.flatMap((key, index) => {
      const property = items.properties?.[key];
      const keyPath = `${path}.items.properties[${key}]`;
      if (property === undefined)
        return [invalidLiteral(field, literal, 'entries must all be names of item properties')];
      return [
        ...(repeated[index] ? [invalid(`${field}[${index}]`, key, 'must not contain duplicate entries')] : []),
        ...(['array', 'object'].includes(property.type ?? '')
          ? [invalid(`${keyPath}.type`, property.type, `must be a scalar type ${ofParent}`)]
          : []),
        ...(alwaysThere.has(key) || property.default !== undefined
          ? []
          : [
              required(
                `${keyPath}.default`,
                'this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property',
              ),
            ]),
      ];
    }),
  ];
}

/** Items of a set are compared whole, so that they must be values without parts, or atomic ones. */
function validateSetItems(schema: Schema, path: string): readonly FieldError[] {
  const items = itemSchema(schema);
  if (items === undefined) return [];
  const detail = (kind: string): string => `must be atomic as item of a list with x-kubernetes-${kind}=set`;
  const kind = items.type === 'object' ? 'map-type' : items.type === 'array' ? 'list-type' : undefined;
  const given = kind && items[`x-kubernetes-${kind}`];
  return [
    ...(items.nullable === true
      ? [forbiddenField(`${path}.items.nullable`, 'cannot be nullable when x-kubernetes-list-type is set')]
      : []),
    ...(kind === undefined || given === 'atomic'
      ? []
      : [
          invalidLiteral(
            `${path}.items.x-kubernetes-${kind}`,
            given === undefined ? '"null"' : JSON.stringify(given),
            detail('list-type'),
          ),
        ]),
  ];
}

function validateListType(schema: Schema, path: string): readonly FieldError[] {
  const type = schema['x-kubernetes-list-type'];
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const needsMap = 'must be map if x-kubernetes-list-map-keys is non-empty';
  const field = `${path}.x-kubernetes-list-type`;
  if (type === undefined) return keys.length > 0 ? [required(field, needsMap)] : [];
  return [
    ...validateType(schema, 'array', 'x-kubernetes-list-type is specified', path),
    ...(LIST_TYPES.includes(type) ? [] : [notSupported(field, type, LIST_TYPES)]),
    ...(keys.length > 0 && type !== 'map' ? [invalid(field, type, needsMap)] : []),
    ...(type === 'map' ? validateMapKeys(schema, keys, path) : []),
    ...(type === 'set' ? validateSetItems(schema, path) : []),
  ];
}

function validateAll(schema: Schema, path: string, demands: Demands): readonly FieldError[] {
  return [
    ...validateKeywords(schema, path, demands),
    ...within(schema, path).flatMap(([inner, innerPath]) => validateAll(inner, innerPath, demands)),
    ...(schema['x-kubernetes-preserve-unknown-fields'] === false
      ? [invalid(`${path}.x-kubernetes-preserve-unknown-fields`, false, 'must be true or undefined')]
      : []),
    ...validateMapType(schema, path),
    ...validateListType(schema, path),
  ];
}

/**
 * The problems of a custom resource's schema: keywords that the API does not know or would be too slow with, extensions
 * that do not fit; when there are none and `structure` is asked for, what is not structural.
 */
export function validateCustomSchema(schema: Schema, path: string, demands: Demands): readonly FieldError[] {
  const errors = validateAll(schema, path, demands);
  return demands.structure && errors.length === 0 ? validateStructure(schema, path) : errors;
}
