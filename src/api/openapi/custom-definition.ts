import type { JsonObject, JsonValue } from '../object';

/** The two OpenAPI versions say some things differently. */
export type Dialect = 'v2' | 'v3';

/** Marks what may hold anything besides what its schema names. */
const OPEN_ENDED = 'x-kubernetes-preserve-unknown-fields';
/** Marks a value that is an object of the API itself. */
const EMBEDDED = 'x-kubernetes-embedded-resource';

/**
 * The definition of a custom kind: its CustomResourceDefinition's schema with what every object has (`common`:
 * apiVersion, kind and metadata), embedded objects included. OpenAPI v3 takes the rest of the schema as it is. For v2,
 * what v2 or its readers cannot take is left out, as kube-apiserver does: alternatives, defaults, and the shape of
 * values that are open-ended, may be null or are of several types. kubectl's validation takes properties for all there
 * are, so that a kind that is open-ended as a whole names none, not even `common`.
 */
export function customDefinition(schema: JsonObject, dialect: Dialect, common: JsonObject): JsonObject {
  if (dialect === 'v2' && schema[OPEN_ENDED] === true) return { type: 'object' };
  const converted = dialect === 'v3' ? forV3(schema, common) : forV2(schema, common);
  return { ...converted, type: 'object', properties: { ...(converted['properties'] as JsonObject), ...common } };
}

function forV3(schema: JsonObject, common: JsonObject): JsonObject {
  return embed(
    mapSchemas(schema, (nested) => forV3(nested, common)),
    common,
  );
}

/** v2 has no words for these. */
const NOT_IN_V2: ReadonlySet<string> = new Set(['allOf', 'anyOf', 'default', 'not', 'nullable', 'oneOf']);

function forV2(schema: JsonObject, common: JsonObject): JsonObject {
  const ofManyTypes = schema['nullable'] === true || schema['x-kubernetes-int-or-string'] === true;
  const openEnded = schema[OPEN_ENDED] === true;
  const shapeless = ofManyTypes || openEnded;
  const members = Object.entries(schema).filter(([key]) => {
    if (NOT_IN_V2.has(key)) return false;
    return !(shapeless && (key === 'properties' || key === 'items' || key === 'required'));
  });
  const converted = mapSchemas(Object.fromEntries(members), (nested) => forV2(nested, common));
  const { type, required: named, ...rest } = converted;
  // Readers cannot take a list without items, nor an object of any shape.
  const untyped = ofManyTypes || (type === 'object' && openEnded) || (type === 'array' && rest['items'] === undefined);
  const required = named === undefined ? [] : requiredInV2(schema, named as readonly string[]);
  const result = {
    ...rest,
    ...(untyped || type === undefined ? {} : { type }),
    ...(required.length === 0 ? {} : { required }),
  };
  return shapeless ? result : embed(result, common);
}

/** What may be null would seem to be missing, so that it cannot be required. */
function requiredInV2(schema: JsonObject, required: readonly string[]): readonly string[] {
  if (isNullable(schema['additionalProperties'])) return [];
  const properties = (schema['properties'] ?? {}) as JsonObject;
  return required.filter((name) => !isNullable(properties[name]));
}

function isNullable(schema: JsonValue | undefined): boolean {
  return isObject(schema) && schema['nullable'] === true;
}

/** An embedded object has what every object has, and says what it is. */
function embed(schema: JsonObject, common: JsonObject): JsonObject {
  if (schema[EMBEDDED] !== true) return schema;
  const required = (schema['required'] ?? []) as readonly string[];
  return {
    ...schema,
    properties: { ...(schema['properties'] as JsonObject | undefined), ...common },
    required: [...new Set([...required, 'kind', 'apiVersion'])],
  };
}

/** Only `properties`, `items` and `additionalProperties` hold schemas. */
function mapSchemas(schema: JsonObject, convert: (nested: JsonObject) => JsonObject): JsonObject {
  const one = (value: JsonValue | undefined): JsonValue | undefined => (isObject(value) ? convert(value) : value);
  const members = Object.entries(schema).map(([key, value]): [string, JsonValue | undefined] => {
    if (key === 'items' || key === 'additionalProperties') return [key, one(value)];
    if (key !== 'properties' || !isObject(value)) return [key, value];
    return [key, Object.fromEntries(Object.entries(value).map(([name, property]) => [name, one(property)]))];
  });
  return Object.fromEntries(members);
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
