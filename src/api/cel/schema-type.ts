import { isJsonList, isJsonObject, type JsonSchema } from '../custom/json-schema';
import type { JsonObject, JsonValue } from '../object';
import { DataList, DataMap, misfit, type Adapter } from './data';
import { escapeName } from './field-names';
import { durationOf, timestampOf } from './functions/time';
import { MergedList } from './merged-list';
import * as types from './types';
import { DYN, listOf, mapOf, type Type } from './types';
import { ObjectValue, type Value } from './values';

/** The type that a structural schema gives a value, how large values may become, and how they are made of data. */
export interface SchemaType {
  readonly type: Type;
  readonly adapt: Adapter;
  /** Characters, items or entries at most: as the schema limits them, or else a request. */
  readonly maxElements: number;
  /** Bytes that a value takes at least. */
  readonly minSize: number;
  readonly element?: SchemaType;
  /** By the names by which expressions know them. */
  readonly fields?: ReadonlyMap<string, SchemaField>;
}

export interface SchemaField {
  readonly name: string;
  readonly type: SchemaType;
}

/** Of a request's body. */
export const MAX_REQUEST_SIZE = 3 * 1024 * 1024;

const METADATA: JsonSchema = {
  type: 'object',
  properties: { name: { type: 'string' }, generateName: { type: 'string' } },
};
const OF_EVERY_OBJECT: Readonly<Record<string, JsonSchema>> = {
  apiVersion: { type: 'string' },
  kind: { type: 'string' },
  metadata: METADATA,
};

/**
 * Undefined: expressions cannot see such values (of unknown fields, for example). `isRoot`: an object of the API, which has
 * metadata.
 */
export function schemaType(schema: JsonSchema, isRoot: boolean): SchemaType | undefined {
  if (schema['x-kubernetes-int-or-string'] === true) {
    return { type: DYN, adapt: adaptIntOrString, maxElements: MAX_REQUEST_SIZE - 2, minSize: 1 };
  }
  switch (isRoot ? 'object' : schema.type) {
    case 'array':
      return listType(schema);
    case 'object':
      return objectType(schema, isRoot);
    case 'string':
      return textType(schema);
    case 'boolean':
      return scalar(types.BOOL, 4, (data) => (typeof data === 'boolean' ? data : misfit(data, 'bool')));
    case 'number':
      return scalar(types.DOUBLE, 1, (data) => (isNumeric(data) ? Number(data) : misfit(data, 'double')));
    case 'integer':
      return scalar(types.INT, 1, adaptInteger);
    default:
      return undefined;
  }
}

function isNumeric(data: JsonValue): data is number | bigint {
  return typeof data === 'number' || typeof data === 'bigint';
}

function adaptInteger(data: JsonValue): Value {
  if (typeof data === 'bigint') return data;
  return typeof data === 'number' && Number.isInteger(data) ? BigInt(data) : misfit(data, 'int');
}

const adaptIntOrString: Adapter = (data) => (typeof data === 'string' ? data : adaptInteger(data));

function nullable(adapt: Adapter): Adapter {
  return (data) => (data === null ? null : adapt(data));
}

function scalar(type: Type, minSize: number, adapt: Adapter): SchemaType {
  return { type, minSize, maxElements: 1, adapt: nullable(adapt) };
}

function listType(schema: JsonSchema): SchemaType | undefined {
  const { items, maxItems } = schema;
  const element = items && schemaType(items, items['x-kubernetes-embedded-resource'] === true);
  if (element === undefined) return undefined;
  const adapt: Adapter = (data) => {
    if (!isJsonList(data)) return misfit(data, 'list');
    const kind = schema['x-kubernetes-list-type'];
    if (kind === 'set') return new MergedList(data, element.adapt, undefined);
    if (kind === 'map') return new MergedList(data, element.adapt, schema['x-kubernetes-list-map-keys'] ?? []);
    return new DataList(data, element.adapt);
  };
  return {
    type: listOf(element.type),
    adapt: nullable(adapt),
    element,
    maxElements: maxItems ?? Math.floor((MAX_REQUEST_SIZE - 2) / (element.minSize + 1)),
    minSize: 2,
  };
}

function objectType(schema: JsonSchema, isRoot: boolean): SchemaType | undefined {
  const { additionalProperties: values, maxProperties } = schema;
  if (typeof values === 'object' && !isRoot) {
    const element = schemaType(values, values['x-kubernetes-embedded-resource'] === true);
    if (element === undefined) return undefined;
    return {
      type: mapOf(types.STRING, element.type),
      adapt: nullable((data) => (isJsonObject(data) ? new DataMap(data, element.adapt) : misfit(data, 'map'))),
      element,
      maxElements: maxProperties ?? Math.floor((MAX_REQUEST_SIZE - 2) / (element.minSize + 6)),
      minSize: 2,
    };
  }
  return structType(schema, isRoot);
}

let typeNumber = 0;

/** Of large schemas, rules name few fields: they have types when they are asked for. */
function structType(schema: JsonSchema, isRoot: boolean): SchemaType {
  typeNumber += 1;
  const name = `object.${typeNumber}`;
  let fields: ReadonlyMap<string, SchemaField> | undefined;
  let fieldTypes: ReadonlyMap<string, Type> | undefined;
  let minSize: number | undefined;
  const known = (): ReadonlyMap<string, SchemaField> => (fields ??= fieldsOf(propertiesOf(schema, isRoot)));
  return {
    type: {
      kind: 'object',
      name,
      get fields() {
        return (fieldTypes ??= new Map([...known()].map(([field, { type }]) => [field, type.type])));
      },
    },
    adapt: nullable((data) => (isJsonObject(data) ? new Struct(name, data, known()) : misfit(data, 'object'))),
    get fields() {
      return known();
    },
    maxElements: 1,
    get minSize() {
      return (minSize ??= minSizeOf(propertiesOf(schema, isRoot), schema.required));
    },
  };
}

function fieldType(schema: JsonSchema): SchemaType | undefined {
  return schemaType(schema, schema['x-kubernetes-embedded-resource'] === true);
}

type Properties = NonNullable<JsonSchema['properties']>;

function propertiesOf({ properties = {} }: JsonSchema, isRoot: boolean): Properties {
  return isRoot ? { ...properties, ...OF_EVERY_OBJECT } : properties;
}

function fieldsOf(properties: Properties): ReadonlyMap<string, SchemaField> {
  const fields = new Map<string, SchemaField>();
  for (const [name, property] of Object.entries(properties)) {
    const type = fieldType(property);
    const escaped = type && escapeName(name);
    if (escaped !== undefined) fields.set(escaped, { name, type: type! });
  }
  return fields;
}

/** With the fields that must be there. */
function minSizeOf(properties: Properties, required: JsonSchema['required']): number {
  let size = 2;
  for (const name of new Set(required)) {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (property === undefined || property.default !== undefined) continue;
    const type = fieldType(property);
    if (type !== undefined) size += name.length + type.minSize + 4;
  }
  return size;
}

/** An object whose schema names its fields; others are not seen. */
class Struct extends ObjectValue {
  constructor(
    readonly typeName: string,
    readonly data: JsonObject,
    private readonly known: ReadonlyMap<string, SchemaField>,
  ) {
    super();
  }

  get(field: string): Value | undefined {
    const known = this.known.get(field);
    if (known === undefined || !Object.hasOwn(this.data, known.name)) return undefined;
    const member = this.data[known.name];
    return member === undefined ? undefined : known.type.adapt(member);
  }

  fields(): readonly string[] {
    return [...this.known].flatMap(([field, { name }]) =>
      Object.hasOwn(this.data, name) && this.data[name] !== undefined ? [field] : [],
    );
  }
}

function textType({ format, maxLength, enum: values }: JsonSchema): SchemaType {
  const text = (wanted: string, make: (text: string) => Value): Adapter =>
    nullable((data) => (typeof data === 'string' ? make(data) : misfit(data, wanted)));
  const unlimited = MAX_REQUEST_SIZE - 2;
  switch (format) {
    case 'byte':
      return {
        type: types.BYTES,
        adapt: text('bytes', (data) => Buffer.from(data, 'base64')),
        maxElements: maxLength ?? MAX_REQUEST_SIZE / 2,
        minSize: 2,
      };
    case 'duration':
      return { type: types.DURATION, adapt: text('duration', durationOf), maxElements: 32, minSize: 3 };
    case 'date':
      return {
        type: types.TIMESTAMP,
        adapt: text('timestamp', (data) => timestampOf(`${data}T00:00:00Z`)),
        maxElements: 12,
        minSize: 12,
      };
    case 'date-time':
      return { type: types.TIMESTAMP, adapt: text('timestamp', timestampOf), maxElements: 27, minSize: 22 };
    default:
  }
  const longest = (values ?? []).reduce<number>(
    (most, one) => Math.max(most, typeof one === 'string' ? one.length : 0),
    0,
  );
  // A character may take four bytes.
  const limit = maxLength !== undefined ? maxLength * 4 : (values?.length ?? 0) > 0 ? longest : unlimited;
  return { type: types.STRING, adapt: text('string', (data) => data), maxElements: limit, minSize: 2 };
}
