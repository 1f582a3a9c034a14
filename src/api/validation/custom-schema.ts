import { forbiddenField, invalid, notSupported, required, type FieldError } from '../errors/field-error';
import type { JSONSchemaProps as Schema } from '../schema/generated/apiextensions-v1';
import { checkAfter, checkEach } from './check-each';
import { invalidLiteral, stringListLiteral } from './go-literal';
import { patternProblem } from './custom-pattern';
import { validateStructure } from './structural-schema';
import { repetitionsInOrder } from './repetitions';

const LIST_TYPES = ['atomic', 'set', 'map'];
const MAP_TYPES = ['atomic', 'granular'];
const UNSUPPORTED = ['id', 'additionalItems', 'patternProperties', 'definitions', 'dependencies', '$ref'] as const;

interface Demands {
  readonly structure: boolean;
  readonly noDefaults: boolean;
  /** The status is a resource of its own, validated by what the root's properties say of it. */
  readonly hasStatus: boolean;
}

/** Where a schema stands: what it may not say there, and why no default. */
interface Place {
  readonly isRoot?: boolean;
  /** In metadata, kind or apiVersion of an object. */
  readonly inMetadata?: boolean;
  readonly noDefaultBecause?: string;
}

const TOO_OLD = '(cannot set default values in apiextensions.k8s.io/v1beta1 CRDs, must use apiextensions.k8s.io/v1)';
/** However small an object is, all of them may be filled in, at one stretch. Those of the largest definitions in use are 800. */
const MAX_DEFAULTS = 3_000;
const TOO_MANY_DEFAULTS = `must not have more than ${MAX_DEFAULTS} defaults`;
const METADATA_FIELDS: readonly string[] = ['apiVersion', 'kind', 'metadata'];
const TYPES = ['array', 'boolean', 'integer', 'number', 'object', 'string'];

/** A schema of all items, as opposed to one for each. */
export function itemSchema({ items }: Schema): Schema | undefined {
  return items === undefined || Array.isArray(items) ? undefined : (items as Schema);
}

/** The schema of all values of a map. */
export function valueSchema({ additionalProperties: values }: Schema): Schema | undefined {
  return typeof values === 'object' && values !== null ? values : undefined;
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function propertiesOf(schema: Schema): readonly (readonly [name: string, schema: Schema])[] {
  return Object.entries(schema.properties ?? {});
}

/** The schemas within a schema, with their paths, in the order in which they are checked. */
function within(
  schema: Schema,
  path: string,
  place: Place,
): readonly (readonly [schema: Schema, path: string, place: Place])[] {
  const values = valueSchema(schema);
  const items = itemSchema(schema);
  const inside = place.isRoot === true ? { ...place, isRoot: false } : place;
  const ofValues = place.inMetadata
    ? { ...inside, noDefaultBecause: 'inside additionalProperties applying to object metadata' }
    : inside;
  const listed = (name: 'allOf' | 'oneOf' | 'anyOf') =>
    (schema[name] ?? []).map((one, index) => [one, `${path}.${name}[${index}]`, inside] as const);
  /** Not supported, and yet looked into. */
  const named = (name: 'definitions' | 'dependencies') =>
    Object.entries(schema[name] ?? {}).flatMap(([key, one]) =>
      isSchema(one) ? [[one, `${path}.${name}[${key}]`, inside] as const] : [],
    );
  return [
    ...(values === undefined ? [] : [[values, `${path}.additionalProperties`, ofValues] as const]),
    ...propertiesOf(schema).map(
      ([name, property]) => [property, `${path}.properties[${name}]`, placeOf(schema, name, place, inside)] as const,
    ),
    ...(schema.not ? [[schema.not, `${path}.not`, inside] as const] : []),
    ...listed('allOf'),
    ...listed('oneOf'),
    ...listed('anyOf'),
    ...named('definitions'),
    ...(items === undefined ? [] : [[items, `${path}.items`, inside] as const]),
    ...(Array.isArray(schema.items) ? (schema.items as readonly Schema[]) : []).map(
      (one, index) => [one, `${path}.items[${index}]`, inside] as const,
    ),
    ...named('dependencies'),
  ];
}

function placeOf(schema: Schema, property: string, { isRoot = false }: Place, inside: Place): Place {
  if (!METADATA_FIELDS.includes(property) || !(isRoot || schema['x-kubernetes-embedded-resource'] === true)) {
    return inside;
  }
  return { ...inside, inMetadata: true, ...(isRoot ? { noDefaultBecause: `in top-level ${property}` } : {}) };
}

/** Whether a keyword is there, as Go sees it: an empty text or map counts where its type is a pointer. */
function says(schema: Schema, name: (typeof UNSUPPORTED)[number]): boolean {
  const value = schema[name];
  if (name === 'id') return value !== undefined && value !== '';
  if (name === 'definitions' || name === 'patternProperties') return Object.keys(value ?? {}).length > 0;
  return value !== undefined;
}

function validateKeywords(schema: Schema, path: string, demands: Demands, place: Place): readonly FieldError[] {
  const { type = '' } = schema;
  const noDefaultBecause = place.noDefaultBecause ?? (demands.noDefaults ? TOO_OLD : undefined);
  return [
    ...(demands.structure && type !== '' && !TYPES.includes(type) ? [notSupported(`${path}.type`, type, TYPES)] : []),
    ...(noDefaultBecause !== undefined && schema.default !== undefined
      ? [forbiddenField(`${path}.default`, `must not be set ${noDefaultBecause}`)]
      : []),
    ...UNSUPPORTED.filter((name) => says(schema, name)).map((name) =>
      forbiddenField(`${path}.${name}`, `${name} is not supported`),
    ),
    ...(schema.type === 'null'
      ? [forbiddenField(`${path}.type`, 'type cannot be set to null, use nullable as an alternative')]
      : []),
    ...(Array.isArray(schema.items)
      ? [forbiddenField(`${path}.items`, 'items must be a schema object and not an array')]
      : []),
    ...(place.inMetadata === true && schema['x-kubernetes-embedded-resource'] === true
      ? [forbiddenField(`${path}.x-kubernetes-embedded-resource`, 'must not be used inside of resource meta')]
      : []),
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

/** To read one takes some tenths of a millisecond. */
function validatePattern(pattern: string, field: string): readonly FieldError[] {
  if (pattern === '') return [];
  return checkAfter(() => {
    const problem = patternProblem(pattern);
    return problem === undefined
      ? []
      : [invalid(field, pattern, `must be a valid regular expression, but isn't: ${problem}`)];
  });
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

/** A property may have any name, also one that every object knows. */
function propertyOf({ properties = {} }: Schema, name: string): Schema | undefined {
  return Object.hasOwn(properties, name) ? properties[name] : undefined;
}

/** The keys of a list that is a map are scalars which every item has. */
function validateMapKeys(schema: Schema, keys: readonly string[], path: string): readonly FieldError[] {
  const field = `${path}.x-kubernetes-list-map-keys`;
  const empty = keys.length === 0 ? [required(field, 'must not be empty if x-kubernetes-list-type is map')] : [];
  const items = itemSchema(schema);
  if (items === undefined) {
    return [...empty, required(`${path}.items`, 'must have a schema if x-kubernetes-list-type is map')];
  }
  const ofParent = "if parent array's x-kubernetes-list-type is map";
  if (items.type !== 'object') {
    return [...empty, invalid(`${path}.items.type`, items.type ?? '', `must be object ${ofParent}`)];
  }
  const literal = stringListLiteral('[]string', keys);
  const isRepeated = repetitionsInOrder();
  return [
    ...empty,
    ...checkEach(keys, (key) => {
      const property = propertyOf(items, key);
      // The type that the message shows is that of the items.
      const isScalar = !['array', 'object'].includes(property?.type ?? '');
      return [
        ...(property === undefined
          ? [invalidLiteral(field, literal, 'entries must all be names of item properties')]
          : []),
        ...(isScalar
          ? []
          : [invalid(`${path}.items.properties[${key}].type`, items.type, `must be a scalar type ${ofParent}`)]),
        ...(isRepeated(key) ? [invalidLiteral(field, literal, 'must not contain duplicate entries')] : []),
      ];
    }),
  ];
}

/** Items of sets and maps are something, and what pairs them is there. */
function validatePairedItems(schema: Schema, type: string, keys: readonly string[], path: string) {
  const items = itemSchema(schema);
  if (items === undefined) return [];
  const nullable = forbiddenField(
    `${path}.items.nullable`,
    `cannot be nullable when x-kubernetes-list-type is ${type}`,
  );
  const alwaysThere = new Set(items.required ?? []);
  const ofKey = 'this property is in x-kubernetes-list-map-keys, so it';
  return [
    ...(items.nullable === true ? [nullable] : []),
    ...checkEach(type === 'map' ? keys : [], (key) => {
      const property = propertyOf(items, key);
      const keyPath = `${path}.items.properties[${key}]`;
      if (property === undefined) return [];
      return [
        ...(alwaysThere.has(key) || property.default !== undefined
          ? []
          : [required(`${keyPath}.default`, `${ofKey} must have a default or be a required property`)]),
        ...(property.nullable === true ? [forbiddenField(`${keyPath}.nullable`, `${ofKey} cannot be nullable`)] : []),
      ];
    }),
  ];
}

/** Items of a set are compared whole, so that they must be values without parts, or atomic ones. */
function validateSetItems(schema: Schema, path: string): readonly FieldError[] {
  const items = itemSchema(schema);
  const kind = items?.type === 'object' ? 'map-type' : items?.type === 'array' ? 'list-type' : undefined;
  const given = kind && items?.[`x-kubernetes-${kind}`];
  // A list is atomic unless it says something else; a map is not.
  if (kind === undefined || given === 'atomic' || (kind === 'list-type' && given === undefined)) return [];
  return [
    invalidLiteral(
      `${path}.items.x-kubernetes-${kind}`,
      items?.['x-kubernetes-list-type'] === undefined ? '"null"' : JSON.stringify(items['x-kubernetes-list-type']),
      'must be atomic as item of a list with x-kubernetes-list-type=set',
    ),
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
    ...(type === 'set' && schema.type === 'array' ? validateSetItems(schema, path) : []),
    ...(LIST_TYPES.includes(type) ? [] : [notSupported(field, type, LIST_TYPES)]),
    ...(keys.length > 0 && type !== 'map' ? [invalid(field, type, needsMap)] : []),
    ...(type === 'map' ? validateMapKeys(schema, keys, path) : []),
    ...(type === 'map' || type === 'set' ? validatePairedItems(schema, type, keys, path) : []),
  ];
}

function validateAll(
  schema: Schema,
  path: string,
  demands: Demands,
  place: Place,
  learned: Learned,
): readonly FieldError[] {
  learned.isReadable &&= hasReadableKeywords(schema);
  if (schema.default !== undefined) learned.defaults += 1;
  return [
    ...validateKeywords(schema, path, demands, place),
    ...checkEach(within(schema, path, place), ([inner, innerPath, innerPlace]) =>
      validateAll(inner, innerPath, demands, innerPlace, learned),
    ),
    ...(schema['x-kubernetes-preserve-unknown-fields'] === false
      ? [invalid(`${path}.x-kubernetes-preserve-unknown-fields`, false, 'must be true or undefined')]
      : []),
    ...validateMapType(schema, path),
    ...validateListType(schema, path),
  ];
}

/** What the walk over a schema has found so far. */
interface Learned {
  /** Nothing has been met without which nothing can be said of the structure. */
  isReadable: boolean;
  defaults: number;
}

function hasReadableKeywords(schema: Schema): boolean {
  return (
    !UNSUPPORTED.some((name) => says(schema, name)) &&
    schema.type !== 'null' &&
    schema['x-kubernetes-preserve-unknown-fields'] !== false &&
    !Array.isArray(schema.items)
  );
}

/** What the root may say when the status, one of its properties, is validated alone. */
const BESIDE_STATUS: ReadonlySet<string> = new Set([
  ...['description', 'type', 'format', 'title', 'maximum', 'exclusiveMaximum', 'minimum', 'exclusiveMinimum'],
  ...['maxLength', 'minLength', 'pattern', 'maxItems', 'minItems', 'uniqueItems', 'multipleOf', 'required', 'items'],
  ...['properties', 'externalDocs', 'example', 'x-kubernetes-preserve-unknown-fields'],
]);

function validateRoot(schema: Schema, path: string, { hasStatus }: Demands): readonly FieldError[] {
  const { type = '' } = schema;
  const ifStatus = 'at the root of the schema if the status subresource is enabled';
  const names = [...BESIDE_STATUS].map((name) =>
    name === 'x-kubernetes-preserve-unknown-fields'
      ? 'XPreserveUnknownFields'
      : `${name.charAt(0).toUpperCase()}${name.slice(1)}`,
  );
  const other = Object.entries(schema).find(([name, value]) => Boolean(value) && !BESIDE_STATUS.has(name));
  return [
    ...(hasStatus && type !== '' && type !== 'object'
      ? [invalid(`${path}.type`, type, `only "object" is allowed as the type ${ifStatus}`)]
      : []),
    ...(hasStatus && other !== undefined
      ? [invalid(path, schema, `only [${names.join(' ')}] fields are allowed ${ifStatus}`)]
      : []),
    ...(schema.nullable === true ? [forbiddenField(`${path}.nullable`, 'nullable cannot be true at the root')] : []),
  ];
}

/**
 * The problems of a custom resource's schema: keywords that the API does not know or would be too slow with, extensions
 * that do not fit; when `structure` is asked for, what is not structural.
 */
export function validateCustomSchema(schema: Schema, path: string, demands: Demands): readonly FieldError[] {
  const learned: Learned = { isReadable: true, defaults: 0 };
  return [
    ...validateRoot(schema, path, demands),
    ...validateAll(schema, path, demands, { isRoot: true }, learned),
    ...checkAfter(() => (learned.defaults > MAX_DEFAULTS ? [forbiddenField(path, TOO_MANY_DEFAULTS)] : [])),
    ...checkAfter(() => (demands.structure && learned.isReadable ? validateStructure(schema, path) : [])),
  ];
}
