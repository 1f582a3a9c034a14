import type { JsonObject, JsonValue } from '../object';

/** The parts of a CustomResourceDefinition's `openAPIV3Schema` (JSONSchemaProps) that decide about objects. */
export interface JsonSchema {
  readonly type?: string;
  readonly format?: string;
  readonly nullable?: boolean;
  readonly default?: JsonValue;
  readonly enum?: readonly JsonValue[];
  readonly minimum?: number | bigint;
  readonly maximum?: number | bigint;
  readonly exclusiveMinimum?: boolean;
  readonly exclusiveMaximum?: boolean;
  readonly multipleOf?: number | bigint;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly items?: JsonSchema;
  readonly allOf?: readonly JsonSchema[];
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly not?: JsonSchema;
  readonly description?: string;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-embedded-resource'?: boolean;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map';
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-map-type'?: 'atomic' | 'granular';
  readonly 'x-kubernetes-validations'?: readonly ValidationRule[];
}

/** One of `x-kubernetes-validations`. */
export interface ValidationRule {
  readonly rule?: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
}

export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isJsonList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** The same schema with nothing to fill in. */
export function withoutDefaults({ default: _default, ...schema }: JsonSchema): JsonSchema {
  const { properties, items } = schema;
  const values = valueSchema(schema);
  return {
    ...schema,
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, withoutDefaults(one)])),
        }),
    ...(items === undefined ? {} : { items: withoutDefaults(items) }),
    ...(values === undefined ? {} : { additionalProperties: withoutDefaults(values) }),
  };
}

/** The schema of all values of a map; undefined when there is none, or any value will do. */
export function valueSchema({ additionalProperties }: JsonSchema): JsonSchema | undefined {
  return typeof additionalProperties === 'object' ? additionalProperties : undefined;
}

/** The schemas, from the root on, that are as wanted, or that have one within that is. */
export function schemasWith(root: JsonSchema, isWanted: (schema: JsonSchema) => boolean): ReadonlySet<JsonSchema> {
  const found = new Set<JsonSchema>();
  const look = (schema: JsonSchema): boolean => {
    let has = isWanted(schema);
    const values = valueSchema(schema);
    if (schema.items !== undefined && look(schema.items)) has = true;
    if (values !== undefined && look(values)) has = true;
    for (const property of Object.values(schema.properties ?? {})) if (look(property)) has = true;
    if (has) found.add(schema);
    return has;
  };
  look(root);
  return found;
}
