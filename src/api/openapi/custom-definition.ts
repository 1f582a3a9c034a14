import type { JsonObject, JsonValue } from '../object';

/** The two OpenAPI versions say some things differently. */
export type Dialect = 'v2' | 'v3';

/**
 * The definition of a custom kind: its CustomResourceDefinition's schema with what every object has (`common`:
 * apiVersion, kind and metadata). OpenAPI v3 takes the schema as it is. For v2, what v2 or its readers cannot take is left out, as
 * kube-apiserver does: alternatives, defaults, and the shape of values that may be null or of several types.
 */
export function customDefinition(schema: JsonObject, dialect: Dialect, common: JsonObject): JsonObject {
  const converted = dialect === 'v3' ? schema : forV2(schema);
  const openEnded = dialect === 'v2' && schema['x-kubernetes-preserve-unknown-fields'] === true;
  const own = openEnded ? {} : (converted['properties'] as JsonObject | undefined);
  return { ...converted, type: 'object', properties: { ...own, ...common } };
}

/** v2 has no words for these. */
const NOT_IN_V2: ReadonlySet<string> = new Set(['allOf', 'anyOf', 'default', 'not', 'nullable', 'oneOf']);

function forV2(schema: JsonObject): JsonObject {
  const shapeless = schema['nullable'] === true || schema['x-kubernetes-int-or-string'] === true;
  const openEnded = schema['x-kubernetes-preserve-unknown-fields'] === true;
  const kept = Object.entries(schema).filter(([key]) => {
    if (NOT_IN_V2.has(key)) return false;
    if (shapeless && key === 'type') return false;
    return !((shapeless || openEnded) && (key === 'properties' || key === 'items' || key === 'required'));
  });
  return Object.fromEntries(kept.map(([key, value]) => [key, convertMember(key, value)]));
}

/** Only these members hold schemas. */
function convertMember(key: string, value: JsonValue | undefined): JsonValue | undefined {
  if (!isObject(value)) return value;
  if (key === 'properties') {
    return Object.fromEntries(
      Object.entries(value).map(([name, property]) => [name, isObject(property) ? forV2(property) : property]),
    );
  }
  return key === 'items' || key === 'additionalProperties' ? forV2(value) : value;
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
