import type { JsonObject, JsonValue } from '../object';
import { isLarge, type Steps } from '../parts';

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
export function* customDefinition(schema: JsonObject, dialect: Dialect, common: JsonObject): Steps<JsonObject> {
  if (dialect === 'v2' && schema[OPEN_ENDED] === true) return { type: 'object' };
  const converted = yield* convertInSteps(schema, DIALECTS[dialect], common);
  return { ...converted, type: 'object', properties: { ...(converted['properties'] as JsonObject), ...common } };
}

/** What becomes of a schema, besides of those in it. */
interface Conversion {
  /** What stays of its members. */
  readonly keep: (schema: JsonObject) => JsonObject;
  /** When those in it have been converted. */
  readonly finish: (schema: JsonObject, converted: JsonObject, common: JsonObject) => JsonObject;
}

function convert(schema: JsonObject, conversion: Conversion, common: JsonObject): JsonObject {
  const inside = mapSchemas(conversion.keep(schema), (nested) => convert(nested, conversion, common));
  return conversion.finish(schema, inside, common);
}

/** A large one in many steps. */
function* convertInSteps(schema: JsonObject, conversion: Conversion, common: JsonObject): Steps<JsonObject> {
  if (!isLarge(schema)) return convert(schema, conversion, common);
  const kept = conversion.keep(schema);
  const converted = new Map<JsonObject, JsonObject>();
  for (const nested of schemasIn(kept)) {
    converted.set(nested, yield* convertInSteps(nested, conversion, common));
    yield;
  }
  const inside = mapSchemas(kept, (nested) => converted.get(nested) ?? nested);
  return conversion.finish(schema, inside, common);
}

/** v2 has no words for these. */
const NOT_IN_V2: ReadonlySet<string> = new Set(['allOf', 'anyOf', 'default', 'not', 'nullable', 'oneOf']);

function isOfManyTypes(schema: JsonObject): boolean {
  return schema['nullable'] === true || schema['x-kubernetes-int-or-string'] === true;
}

function keptInV2(schema: JsonObject): JsonObject {
  const shapeless = isOfManyTypes(schema) || schema[OPEN_ENDED] === true;
  const members = Object.entries(schema).filter(([key]) => {
    if (NOT_IN_V2.has(key)) return false;
    return !(shapeless && (key === 'properties' || key === 'items' || key === 'required'));
  });
  return Object.fromEntries(members);
}

function finishV2(schema: JsonObject, converted: JsonObject, common: JsonObject): JsonObject {
  const ofManyTypes = isOfManyTypes(schema);
  const openEnded = schema[OPEN_ENDED] === true;
  const { type, required: named, ...rest } = converted;
  // Readers cannot take a list without items, nor an object of any shape.
  const untyped = ofManyTypes || (type === 'object' && openEnded) || (type === 'array' && rest['items'] === undefined);
  const required = named === undefined ? [] : requiredInV2(schema, named as readonly string[]);
  const result = {
    ...rest,
    ...(untyped || type === undefined ? {} : { type }),
    ...(required.length === 0 ? {} : { required }),
  };
  return ofManyTypes || openEnded ? result : embed(result, common);
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

const DIALECTS: Readonly<Record<Dialect, Conversion>> = {
  v2: { keep: keptInV2, finish: finishV2 },
  v3: { keep: (schema) => schema, finish: (_, converted, common) => embed(converted, common) },
};

/** Those directly in it. */
function schemasIn({ properties, items, additionalProperties }: JsonObject): readonly JsonObject[] {
  const named = isObject(properties) ? Object.values(properties) : [];
  return [...named, items, additionalProperties].filter(isObject);
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
