import { stringifyExact } from './exact-json';
import { Writer } from 'protobufjs/minimal';
import { notAcceptable } from '../errors/status-error';
import type { SpecialType, StructType, TypeRef, WireField } from '../schema/model';
import { parseDuration } from '../time/duration';
import { parseMicroTime, parseTime } from '../time/rfc3339';
import { sortedKeys } from './key-order';

/**
 * From canonical JSON objects to Protobuf, byte for byte as Go's server writes it (reference, API types, "Zero values"):
 * ascending field numbers, fields that are no pointers always there, maps sorted by key. Each struct is compiled once.
 */

type WireType = 0 | 1 | 2;
export type JsonObject = Readonly<Record<string, unknown>>;

/** Writes a value without its tag; undefined and null stand for the zero value. */
interface ValueWriter {
  readonly wire: WireType;
  readonly write: (writer: Writer, value: unknown) => void;
}

/** Writes a field of an object with its tag, or nothing. */
export type FieldWriter = (writer: Writer, object: JsonObject) => void;

const NOTHING: JsonObject = {};

function isAbsent(value: unknown): value is undefined | null {
  return value === undefined || value === null;
}

export function tag(number: number, wire: WireType): number {
  return ((number << 3) | wire) >>> 0;
}

function message(write: (writer: Writer, value: unknown) => void): ValueWriter {
  return {
    wire: 2,
    write: (writer, value) => {
      writer.fork();
      write(writer, value);
      writer.ldelim();
    },
  };
}

function writeInt64(writer: Writer, value: bigint): void {
  writer.int64({
    low: Number(BigInt.asIntN(32, value)),
    high: Number(BigInt.asIntN(32, value >> 32n)),
    unsigned: false,
  });
}

const STRING: ValueWriter = { wire: 2, write: (writer, value) => writer.string((value ?? '') as string) };
const BYTES: ValueWriter = {
  wire: 2,
  write: (writer, value) => writer.bytes(Buffer.from((value ?? '') as string, 'base64')),
};
const SCALARS = {
  string: STRING,
  bytes: BYTES,
  bool: { wire: 0, write: (writer, value) => writer.bool(value === true) },
  int32: { wire: 0, write: (writer, value) => writer.int32((value ?? 0) as number) },
  int64: {
    wire: 0,
    write: (writer, value) => {
      if (typeof value === 'bigint') writeInt64(writer, value);
      else writer.int64((value ?? 0) as number);
    },
  },
  double: { wire: 1, write: (writer, value) => writer.double((value ?? 0) as number) },
} as const satisfies Readonly<Record<string, ValueWriter>>;

function timeWriter(parse: typeof parseTime): ValueWriter {
  return message((writer, value) => {
    if (isAbsent(value)) return;
    const { seconds, nanos } = parse(value as string);
    writer
      .uint32(tag(1, 0))
      .int64(seconds)
      .uint32(tag(2, 0))
      .int32(parse === parseMicroTime ? nanos : 0);
  });
}

/** Any JSON value, as its text. */
const RAW = message((writer, value) => {
  if (!isAbsent(value)) writer.uint32(tag(1, 2)).string(stringifyExact(value));
});

const INT_OR_STRING = message((writer, value) => {
  const text = typeof value === 'string';
  writer
    .uint32(tag(1, 0))
    .int32(text ? 1 : 0)
    .uint32(tag(2, 0))
    .int32(text ? 0 : ((value ?? 0) as number))
    .uint32(tag(3, 2))
    .string(text ? value : '');
});

const QUANTITY = message((writer, value) => {
  writer.uint32(tag(1, 2)).string((value ?? '0') as string);
});

const DURATION = message((writer, value) => {
  writer.uint32(tag(1, 0));
  writeInt64(writer, isAbsent(value) ? 0n : parseDuration(value as string));
});

const TIME = timeWriter(parseTime);
const MICRO_TIME = timeWriter(parseMicroTime);

/** Writes `schema`, a nested message, under the number. */
function writeSchema(writer: Writer, number: number, schema: StructType | undefined, value: unknown): void {
  if (schema === undefined) throw new Error('a schema of schemas lacks its type');
  writer.uint32(tag(number, 2)).fork();
  writeFields(schema, writer, value as JsonObject);
  writer.ldelim();
}

function specialWriter({ special, schema }: SpecialType): ValueWriter {
  switch (special) {
    case 'Time':
      return TIME;
    case 'MicroTime':
      return MICRO_TIME;
    case 'Duration':
      return DURATION;
    case 'Quantity':
      return QUANTITY;
    case 'IntOrString':
      return INT_OR_STRING;
    case 'RawExtension':
    case 'FieldsV1':
    case 'JSON':
      return RAW;
    case 'JSONSchemaPropsOrBool':
      return message((writer, value) => {
        const isSchema = typeof value === 'object' && value !== null;
        // A schema allows what it describes.
        writer.uint32(tag(1, 0)).bool(isSchema || value === true);
        if (isSchema) writeSchema(writer, 2, schema, value);
      });
    case 'JSONSchemaPropsOrArray':
      return message((writer, value) => {
        if (Array.isArray(value)) for (const item of value) writeSchema(writer, 2, schema, item);
        else if (!isAbsent(value)) writeSchema(writer, 1, schema, value);
      });
    case 'JSONSchemaPropsOrStringArray':
      return message((writer, value) => {
        if (Array.isArray(value)) for (const item of value) writer.uint32(tag(2, 2)).string(item as string);
        else if (!isAbsent(value)) writeSchema(writer, 1, schema, value);
      });
  }
}

function valueWriter(type: TypeRef): ValueWriter {
  switch (type.kind) {
    case 'scalar':
      return SCALARS[type.scalar];
    case 'special':
      return specialWriter(type);
    case 'struct':
      return message((writer, value) => writeFields(type, writer, (value ?? NOTHING) as JsonObject));
    case 'list': {
      // Only a wrapped list is a value of its own: a message with its elements in field 1.
      const item = valueWriter(type.items);
      return message((writer, value) => writeItems(writer, tag(1, item.wire), item, value));
    }
    case 'map':
    case 'any':
      throw notAcceptable(`a value of type ${type.kind} has no protobuf form`);
  }
}

function writeItems(writer: Writer, itemTag: number, item: ValueWriter, value: unknown): void {
  for (const one of (value ?? []) as readonly unknown[]) {
    writer.uint32(itemTag);
    item.write(writer, one);
  }
}

function mapWriter(number: number, name: string, values: TypeRef): FieldWriter {
  const value = valueWriter(values);
  const isBytes = value === BYTES;
  const entryTag = tag(number, 2);
  const keyTag = tag(1, 2);
  const valueTag = tag(2, value.wire);
  return (writer, object) => {
    const map = object[name] as JsonObject | undefined | null;
    if (isAbsent(map)) return;
    for (const key of sortedKeys(map)) {
      const one = map[key];
      writer.uint32(entryTag).fork().uint32(keyTag).string(key);
      if (!isBytes || !isAbsent(one)) {
        writer.uint32(valueTag);
        value.write(writer, one);
      }
      writer.ldelim();
    }
  };
}

function fieldWriter({ number, json: name, type, pointer }: WireField): FieldWriter {
  if (name === undefined) {
    const inlined = valueWriter(type);
    return (writer, object) => {
      writer.uint32(tag(number, inlined.wire));
      inlined.write(writer, object);
    };
  }
  if (type.kind === 'map') return mapWriter(number, name, type.values);
  if (type.kind === 'list' && type.wrapped !== true) {
    const item = valueWriter(type.items);
    const itemTag = tag(number, item.wire);
    return (writer, object) => writeItems(writer, itemTag, item, object[name]);
  }
  const value = valueWriter(type);
  const valueTag = tag(number, value.wire);
  const optional = pointer || type.kind === 'list' || value === BYTES;
  return (writer, object) => {
    const one = object[name];
    if (optional && isAbsent(one)) return;
    writer.uint32(valueTag);
    value.write(writer, one);
  };
}

const compiled = new WeakMap<StructType, readonly FieldWriter[]>();

function writeFields(type: StructType, writer: Writer, object: JsonObject): void {
  for (const write of fieldWriters(type)) write(writer, object);
}

/** One for each field of the wire, in its order. */
export function fieldWriters(type: StructType): readonly FieldWriter[] {
  let fields = compiled.get(type);
  if (fields === undefined) {
    fields = type.wire.map(fieldWriter);
    compiled.set(type, fields);
  }
  return fields;
}

/**
 * The message of a canonical object, without envelope. Throws a 406 StatusError for types that have no Protobuf form
 * (tables).
 */
export function encodeMessage(type: StructType, object: object): Uint8Array {
  const writer = Writer.create();
  writeFields(type, writer, object as JsonObject);
  return writer.finish();
}
