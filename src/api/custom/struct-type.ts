import type { Field, ScalarType, StructDecoder, StructType, TypeRef } from '../schema/model';
import { valueSchema, type JsonSchema } from './json-schema';

/**
 * A structural schema in the model that server-side apply reads: what is merged piece by piece, what is a set or a keyed
 * list, what is one value.
 */

const ANY: TypeRef = { kind: 'any' };
const SCALARS: ReadonlyMap<string, ScalarType> = new Map(
  Object.entries({
    string: { kind: 'scalar', scalar: 'string' },
    integer: { kind: 'scalar', scalar: 'int64' },
    number: { kind: 'scalar', scalar: 'double' },
    boolean: { kind: 'scalar', scalar: 'bool' },
  }),
);

export interface CustomKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly objectMeta: StructType;
  readonly decode: StructDecoder;
}

/**
 * The struct of a custom kind. Without a schema only metadata is known, and everything is kept. Its fields are built when
 * they are first asked for, because a server that starts may find thousands of definitions that are not used.
 */
export function customStruct(schema: JsonSchema | undefined, custom: CustomKind): StructType {
  const { group, version, kind, objectMeta, decode } = custom;
  const name = `${group}.${version}.${kind}`;
  let fields: ReadonlyMap<string, Field> | undefined;
  return {
    kind: 'struct',
    name,
    description: schema?.description ?? '',
    get fields() {
      return (fields ??= withMetadata(fieldsOf(schema?.properties, name, objectMeta), objectMeta));
    },
    wire: [],
    isKind: true,
    groupVersion: { group, version },
    preserveUnknownFields: schema === undefined || schema['x-kubernetes-preserve-unknown-fields'] === true,
    decode,
  };
}

/** A struct of nothing but `metadata`. */
export function metadataWrapper(objectMeta: StructType, kind: string): StructType {
  return struct(kind, () => withMetadata(new Map(), objectMeta));
}

function fieldOf(name: string, type: TypeRef, schema?: JsonSchema): Field {
  return {
    name,
    type,
    pointer: true,
    always: false,
    required: false,
    retainKeys: false,
    ...(schema?.default === undefined ? {} : { defaultValue: schema.default }),
    description: schema?.description ?? '',
  };
}

/** Its fields are built when they are first asked for, too: of a large schema, objects have few. */
function struct(
  name: string,
  build: () => ReadonlyMap<string, Field>,
  schema: JsonSchema = {},
  isKind = false,
): StructType {
  const mapType = schema['x-kubernetes-map-type'];
  let fields: ReadonlyMap<string, Field> | undefined;
  return {
    kind: 'struct',
    name,
    description: schema.description ?? '',
    get fields() {
      return (fields ??= build());
    },
    wire: [],
    isKind,
    preserveUnknownFields: schema['x-kubernetes-preserve-unknown-fields'] === true,
    ...(mapType === undefined ? {} : { mapType }),
  };
}

function fieldsOf(
  properties: JsonSchema['properties'],
  parent: string,
  objectMeta: StructType,
): ReadonlyMap<string, Field> {
  const entries = Object.entries(properties ?? {});
  return new Map(
    entries.map(([name, schema]) => [name, fieldOf(name, typeOf(schema, `${parent}.${name}`, objectMeta), schema)]),
  );
}

function withMetadata(fields: ReadonlyMap<string, Field>, objectMeta: StructType): ReadonlyMap<string, Field> {
  return new Map([...fields, ['metadata', { ...fieldOf('metadata', objectMeta), pointer: false }]]);
}

function typeOf(schema: JsonSchema, name: string, objectMeta: StructType): TypeRef {
  if (schema['x-kubernetes-int-or-string'] === true) return { kind: 'special', special: 'IntOrString' };
  switch (schema.type) {
    case 'array':
      return listOf(schema, name, objectMeta);
    case 'object':
      return objectOf(schema, name, objectMeta);
    default:
      return SCALARS.get(schema.type ?? '') ?? ANY;
  }
}

function listOf(schema: JsonSchema, name: string, objectMeta: StructType): TypeRef {
  const listType = schema['x-kubernetes-list-type'];
  const listMapKeys = schema['x-kubernetes-list-map-keys'];
  return {
    kind: 'list',
    items: schema.items === undefined ? ANY : typeOf(schema.items, `${name}.items`, objectMeta),
    ...(listType === undefined ? {} : { listType }),
    ...(listMapKeys === undefined ? {} : { listMapKeys }),
  };
}

function objectOf(schema: JsonSchema, name: string, objectMeta: StructType): TypeRef {
  const mapType = schema['x-kubernetes-map-type'];
  const isMap = schema.properties === undefined && schema['x-kubernetes-preserve-unknown-fields'] !== true;
  if (isMap && schema['x-kubernetes-embedded-resource'] !== true) {
    const values = valueSchema(schema);
    return {
      kind: 'map',
      values: values === undefined ? ANY : typeOf(values, `${name}.values`, objectMeta),
      ...(mapType === undefined ? {} : { mapType }),
    };
  }
  const fields = () => fieldsOf(schema.properties, name, objectMeta);
  if (schema['x-kubernetes-embedded-resource'] !== true) return struct(name, fields, schema);
  return struct(name, () => withMetadata(fields(), objectMeta), schema, true);
}
