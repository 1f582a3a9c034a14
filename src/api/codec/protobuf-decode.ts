import { Reader } from 'protobufjs/minimal';
import { badRequest, StatusError, tooLarge } from '../errors/status-error';
import { canonicalQuantity } from '../quantity/quantity';
import type { ScalarName, SpecialType, StructType, TypeRef, WireField } from '../schema/model';
import { formatDuration } from '../time/duration';
import { ZERO_TIME_SECONDS, formatMicroTime, formatTime } from '../time/rfc3339';
import { MAX_JSON_DEPTH, parseJson } from './json-syntax';
import { isEnvelope, openEnvelope } from './protobuf-envelope';
import { readInt64, readInt64Exactly } from './protobuf-int64';
import {
  emptySize,
  finishObject,
  MAX_EMPTY_SIZE,
  planOf,
  tooManyStructs,
  zeroValue,
  type StructPlan,
} from './struct-plan';
import { setOwn, type MutableObject } from './set-own';

/**
 * From Protobuf to canonical JSON objects, the same that the JSON decoder yields. Whatever the bytes are, the outcome is
 * an object or a 400; memory and stack stay in proportion to the input. Each struct is compiled once.
 */

export interface ProtobufDecodeOptions {
  /** Finds the type of an object that is embedded with an envelope of its own (in watch events, reviews, lists). */
  readonly resolve?: (apiVersion: string, kind: string) => StructType | undefined;
  /** Fields and elements of packed lists: an empty message of two bytes becomes an object of a hundred. */
  readonly maxValues?: number;
  /** Values of fields' owners (FieldsV1), which do not count with the others where they are many. */
  readonly maxOwnershipValues?: number;
}

export interface Context {
  readonly resolve: ProtobufDecodeOptions['resolve'];
  depth: number;
  /** What all structs so far are in JSON, had nothing been set in them. */
  size: number;
  /** How many values may still come. */
  values: number;
  ownershipValues: number;
  /** The keys of each map so far, in the order in which they came; only while a large message is read. */
  readonly keysOfMaps: Map<object, string[]> | undefined;
}

type WireType = 0 | 1 | 2;

export interface ValueReader {
  readonly wire: WireType;
  readonly read: (reader: Reader, context: Context) => unknown;
}

/** Reads one occurrence of a field into its slot. */
export type FieldReader = (reader: Reader, wire: number, slots: unknown[], context: Context) => void;

export class Malformed extends Error {}

export class TooManyValues extends Error {}

const UNEXPECTED_EOF = 'unexpected EOF';

/** Where the message ends that follows with its length. */
export function enterMessage(reader: Reader, context: Context): number {
  const length = reader.uint32();
  const end = reader.pos + length;
  if (end > reader.len) throw new Malformed(UNEXPECTED_EOF);
  context.depth += 1;
  if (context.depth > MAX_JSON_DEPTH) throw new Malformed('exceeded max depth');
  return end;
}

export function leaveMessage(reader: Reader, end: number, context: Context): void {
  if (reader.pos !== end) throw new Malformed(UNEXPECTED_EOF);
  context.depth -= 1;
}

/** Calls `readField` for each field of the message that follows with its length. */
function readMessage(reader: Reader, context: Context, readField: (number: number, wire: number) => void): void {
  const end = enterMessage(reader, context);
  readFieldsUntil(reader, end, context, readField);
  leaveMessage(reader, end, context);
}

export function countValue(context: Context, count = 1): void {
  context.values -= count;
  if (context.values < 0) throw new TooManyValues();
}

function readFieldsUntil(
  reader: Reader,
  end: number,
  context: Context,
  readField: (number: number, wire: number) => void,
): void {
  while (reader.pos < end) {
    const tag = readTag(reader, context);
    readField(tag >>> 3, tag & 7);
  }
}

/** The number of a field, and in the last three bits how it is written. */
export function readTag(reader: Reader, context: Context): number {
  countValue(context);
  const tag = reader.uint32();
  if (tag >>> 3 === 0) throw new Malformed('illegal tag 0');
  return tag;
}

export function expectWire(actual: number, expected: WireType): void {
  if (actual !== expected) throw new Malformed(`wrong wireType = ${actual}`);
}

const SCALARS: Readonly<Record<ScalarName, ValueReader>> = {
  string: { wire: 2, read: (reader) => reader.string() },
  bool: { wire: 0, read: (reader) => reader.bool() },
  int32: { wire: 0, read: (reader) => reader.int32() },
  int64: { wire: 0, read: readInt64Exactly },
  double: {
    wire: 1,
    read: (reader) => {
      const value = reader.double();
      if (!Number.isFinite(value)) throw new Malformed(`json: unsupported value: ${value}`);
      return value === 0 ? 0 : value;
    },
  },
  bytes: {
    wire: 2,
    read: (reader) => {
      const bytes = reader.bytes();
      return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
    },
  },
};

function timeReader(print: (seconds: number, nanos: number) => string): ValueReader {
  return {
    wire: 2,
    read: (reader, context) => {
      let seconds = 0;
      let nanos = 0;
      const before = reader.pos;
      readMessage(reader, context, (number, wire) => {
        if (number > 2) return void reader.skipType(wire);
        expectWire(wire, 0);
        if (number === 1) seconds = readInt64(reader);
        else nanos = reader.int32();
      });
      // The zero time is the empty message: a length of 0 and nothing else.
      if (reader.pos === before + 1 || seconds === ZERO_TIME_SECONDS) return null;
      return print(seconds, Math.max(0, Math.min(nanos, 999_999_999)));
    },
  };
}

const TIME = timeReader((seconds) => formatTime(seconds));
const MICRO_TIME = timeReader((seconds, nanos) => formatMicroTime({ seconds, nanos }));

const DURATION: ValueReader = {
  wire: 2,
  read: (reader, context) => {
    let nanos = 0n;
    readMessage(reader, context, (number, wire) => {
      if (number !== 1) return void reader.skipType(wire);
      expectWire(wire, 0);
      nanos = BigInt(readInt64Exactly(reader));
    });
    return formatDuration(nanos);
  },
};

const QUANTITY: ValueReader = {
  wire: 2,
  read: (reader, context) => {
    let text = '0';
    readMessage(reader, context, (number, wire) => {
      if (number !== 1) return void reader.skipType(wire);
      expectWire(wire, 2);
      text = reader.string();
    });
    return text === '' ? '0' : canonicalQuantity(text);
  },
};

const INT_OR_STRING: ValueReader = {
  wire: 2,
  read: (reader, context) => {
    let type = 0;
    let integer = 0;
    let text = '';
    readMessage(reader, context, (number, wire) => {
      if (number > 3) return void reader.skipType(wire);
      expectWire(wire, number === 3 ? 2 : 0);
      if (number === 1) type = readInt64(reader);
      else if (number === 2) integer = reader.int32();
      else text = reader.string();
    });
    if (type !== 0 && type !== 1) throw new Malformed('impossible IntOrString.Type');
    return type === 1 ? text : integer;
  },
};

/** JSON text, or an object in an envelope; nothing is null. */
const RAW: ValueReader = {
  wire: 2,
  read: (reader, context) => {
    let bytes: Uint8Array | undefined;
    readMessage(reader, context, (number, wire) => {
      if (number !== 1) return void reader.skipType(wire);
      expectWire(wire, 2);
      bytes = reader.bytes();
    });
    if (bytes === undefined || bytes.length === 0) return null;
    return isEnvelope(bytes) ? readEmbedded(bytes, context) : parseJson(Buffer.from(bytes).toString());
  },
};

function readEmbedded(bytes: Uint8Array, context: Context): unknown {
  const { apiVersion, kind, raw } = openEnvelope(bytes);
  const type = context.resolve?.(apiVersion, kind);
  if (type === undefined)
    throw new Malformed(`no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)}`);
  context.depth += 1;
  if (context.depth > MAX_JSON_DEPTH) throw new Malformed('exceeded max depth');
  const object = readRoot(type, raw, context);
  context.depth -= 1;
  return { kind, apiVersion, ...object };
}

/** What may stand under a type of JSONSchemaProps: a schema under one number, something else under the other. */
export interface SchemaForms {
  readonly schemaNumber: number;
  readonly schema: TypeRef;
  readonly other: TypeRef;
  /** Each occurrence of the other is an element of a list. */
  readonly isList: boolean;
  /** What it is when nothing is in it. */
  readonly empty: unknown;
}

/** Undefined for types that have one form. */
export function schemaFormsOf({ special, schema }: SpecialType): SchemaForms | undefined {
  if (schema === undefined) return undefined;
  switch (special) {
    case 'JSONSchemaPropsOrBool':
      return { schemaNumber: 2, schema, other: { kind: 'scalar', scalar: 'bool' }, isList: false, empty: false };
    case 'JSONSchemaPropsOrArray':
      return { schemaNumber: 1, schema, other: schema, isList: true, empty: null };
    case 'JSONSchemaPropsOrStringArray':
      return { schemaNumber: 1, schema, other: { kind: 'scalar', scalar: 'string' }, isList: true, empty: null };
    default:
      return undefined;
  }
}

function schemaReader(type: SpecialType): ValueReader {
  const forms = schemaFormsOf(type);
  if (forms === undefined) throw new Error('a schema of schemas lacks its type');
  const schema = valueReader(forms.schema);
  const other = valueReader(forms.other);
  return {
    wire: 2,
    read: (reader, context) => {
      let described: unknown;
      let otherwise: unknown;
      readMessage(reader, context, (number, wire) => {
        if (number > 2) return void reader.skipType(wire);
        const isSchema = number === forms.schemaNumber;
        expectWire(wire, isSchema ? schema.wire : other.wire);
        if (isSchema) described = schema.read(reader, context);
        else {
          const value = other.read(reader, context);
          otherwise = forms.isList ? grown(otherwise, value) : value;
        }
      });
      return described ?? otherwise ?? forms.empty;
    },
  };
}

/** The list that has been read so far, with one item more. */
export function grown(before: unknown, item: unknown): unknown {
  if (!Array.isArray(before)) return [item];
  before.push(item);
  return before as unknown;
}

/** Whether values are JSON texts, or objects in envelopes. */
export function isRaw({ special }: SpecialType): boolean {
  return special === 'RawExtension' || special === 'FieldsV1' || special === 'JSON';
}

function specialReader(type: SpecialType): ValueReader {
  switch (type.special) {
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
    case 'JSONSchemaPropsOrArray':
    case 'JSONSchemaPropsOrStringArray':
      return schemaReader(type);
  }
}

export function valueReader(type: TypeRef): ValueReader {
  switch (type.kind) {
    case 'scalar':
      return SCALARS[type.scalar];
    case 'special':
      return specialReader(type);
    case 'struct':
      return {
        wire: 2,
        read: (reader, context) => {
          const plan = planOf(type);
          const slots = new Array<unknown>(plan.fields.length);
          readSlots(reader, context, fieldsOf(type), slots);
          return finishStruct(plan, slots, context);
        },
      };
    case 'list': {
      const item = valueReader(type.items);
      return {
        wire: 2,
        read: (reader, context) => {
          const items: unknown[] = [];
          readMessage(reader, context, (number, wire) => {
            if (number !== 1) return void reader.skipType(wire);
            expectWire(wire, item.wire);
            items.push(item.read(reader, context));
          });
          return items;
        },
      };
    }
    case 'map':
    case 'any':
      throw new Malformed(`a value of type ${type.kind} has no protobuf form`);
  }
}

export function finishStruct(plan: StructPlan, slots: readonly unknown[], context: Context): MutableObject {
  context.size += emptySize(plan, false);
  if (context.size > MAX_EMPTY_SIZE) throw tooManyStructs();
  return finishObject(plan, slots, false);
}

function readSlots(reader: Reader, context: Context, fields: ReadonlyMap<number, FieldReader>, slots: unknown[]): void {
  readMessage(reader, context, (number, wire) => {
    const field = fields.get(number);
    if (field === undefined) reader.skipType(wire, 0, number);
    else field(reader, wire, slots, context);
  });
}

function listField(index: number, items: TypeRef): FieldReader {
  const item = valueReader(items);
  return (reader, wire, slots, context) => {
    const list = (slots[index] ??= []) as unknown[];
    if (wire === 2 && item.wire !== 2) {
      // Packed numbers: not written by the API, but read by it.
      const end = reader.uint32() + reader.pos;
      if (end > reader.len) throw new Malformed(UNEXPECTED_EOF);
      while (reader.pos < end) {
        countValue(context);
        list.push(item.read(reader, context));
      }
      return;
    }
    expectWire(wire, item.wire);
    list.push(item.read(reader, context) ?? zeroValue(items, false));
  };
}

function mapField(index: number, values: TypeRef): FieldReader {
  const value = valueReader(values);
  return (reader, wire, slots, context) => {
    expectWire(wire, 2);
    const map = (slots[index] ??= {}) as MutableObject;
    let key = '';
    let entry: unknown;
    const { values: before } = context;
    readMessage(reader, context, (number, entryWire) => {
      if (number > 2) return void reader.skipType(entryWire);
      expectWire(entryWire, number === 1 ? 2 : value.wire);
      if (number === 1) key = reader.string();
      else entry = value.read(reader, context);
    });
    // As in JSON, an entry is one value with its key.
    context.values += Math.min(before - context.values, 2);
    putEntry(map, key, entry ?? absentEntry(values), context);
  };
}

export function putEntry(map: MutableObject, key: string, value: unknown, { keysOfMaps }: Context): void {
  if (keysOfMaps !== undefined && !Object.hasOwn(map, key)) {
    const keys = keysOfMaps.get(map);
    if (keys === undefined) keysOfMaps.set(map, [key]);
    else keys.push(key);
  }
  setOwn(map, key, value);
}

/** An entry without bytes has empty ones, though elsewhere bytes that are absent are null. */
export function absentEntry(values: TypeRef): unknown {
  return values.kind === 'scalar' && values.scalar === 'bytes' ? '' : zeroValue(values, false);
}

function fieldReader({ json, type }: WireField, plan: StructPlan): FieldReader | undefined {
  if (json === undefined) {
    // An inlined message: its fields are the outer object's.
    if (type.kind !== 'struct') return undefined;
    const fields = readersOf(type.wire, plan);
    return (reader, wire, slots, context) => {
      expectWire(wire, 2);
      readSlots(reader, context, fields, slots);
    };
  }
  const index = plan.byName.get(json)?.index;
  if (index === undefined) return undefined;
  if (type.kind === 'map') return mapField(index, type.values);
  if (type.kind === 'list' && type.wrapped !== true) return listField(index, type.items);
  const value = valueReader(type);
  return (reader, wire, slots, context) => {
    expectWire(wire, value.wire);
    slots[index] = value.read(reader, context);
  };
}

export function readersOf(wire: readonly WireField[], plan: StructPlan): ReadonlyMap<number, FieldReader> {
  const readers = new Map<number, FieldReader>();
  for (const field of wire) {
    const reader = fieldReader(field, plan);
    if (reader !== undefined) readers.set(field.number, reader);
  }
  return readers;
}

const compiled = new WeakMap<StructType, ReadonlyMap<number, FieldReader>>();

export function fieldsOf(type: StructType): ReadonlyMap<number, FieldReader> {
  let fields = compiled.get(type);
  if (fields === undefined) {
    fields = readersOf(type.wire, planOf(type));
    compiled.set(type, fields);
  }
  return fields;
}

/** The Buffer flavour of the reader decodes strings several times faster. */
export function readerOf(bytes: Uint8Array): Reader {
  return Reader.create(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
}

function readRoot(type: StructType, bytes: Uint8Array, context: Context): MutableObject {
  const reader = readerOf(bytes);
  const plan = planOf(type);
  const fields = fieldsOf(type);
  const slots = new Array<unknown>(plan.fields.length);
  readFieldsUntil(reader, reader.len, context, (number, wire) => {
    const field = fields.get(number);
    if (field === undefined) reader.skipType(wire, 0, number);
    else field(reader, wire, slots, context);
  });
  if (reader.pos !== reader.len) throw new Malformed(UNEXPECTED_EOF);
  return finishObject(plan, slots, false);
}

/**
 * The canonical object of a message, without apiVersion and kind, which only the envelope knows. Throws a 400
 * StatusError for anything malformed.
 */
export function decodeMessage(type: StructType, bytes: Uint8Array, options: ProtobufDecodeOptions = {}): object {
  try {
    return readRoot(type, bytes, decodeContext(options));
  } catch (error) {
    throw decodeError(error, type, options);
  }
}

export function decodeContext(
  { resolve, maxValues = Infinity, maxOwnershipValues = maxValues }: ProtobufDecodeOptions,
  keysOfMaps?: Map<object, string[]>,
): Context {
  return { resolve, depth: 0, size: 0, values: maxValues, ownershipValues: maxOwnershipValues, keysOfMaps };
}

/** What stood in the way, as the answer tells it. */
export function decodeError(error: unknown, type: StructType, { maxValues }: ProtobufDecodeOptions): unknown {
  if (error instanceof TooManyValues) {
    return tooLarge(`Request entity too large: the body has more than ${maxValues} values`);
  }
  // The reader's own complaints are RangeErrors and plain Errors; a TypeError would be a fault of this file.
  if (!(error instanceof Error) || error instanceof TypeError || error instanceof StatusError) return error;
  const [version = '', kind = ''] = type.name.split('.').slice(-2);
  const problem = error instanceof RangeError ? UNEXPECTED_EOF : error.message;
  return badRequest(`${kind} in version ${JSON.stringify(version)} cannot be handled as a ${kind}: ${problem}`);
}
