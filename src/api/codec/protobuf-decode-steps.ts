import type { Reader } from 'protobufjs/minimal';
import { rememberKeys, type Steps } from '../parts';
import type { SpecialType, StructType, TypeRef, WireField } from '../schema/model';
import { JsonPieces, MalformedJsonError, TooManyValuesError } from './json-pieces';
import { parseJson } from './json-syntax';
import {
  absentEntry,
  decodeContext,
  decodeError,
  enterMessage,
  expectWire,
  fieldsOf,
  finishStruct,
  grown,
  leaveMessage,
  Malformed,
  putEntry,
  readTag,
  readerOf,
  schemaFormsOf,
  readersOf,
  TooManyValues,
  valueReader,
  type Context,
  isRaw,
  type FieldReader,
  type ProtobufDecodeOptions,
  type SchemaForms,
} from './protobuf-decode';
import { isEnvelope } from './protobuf-envelope';
import { finishObject, planOf, zeroValue, type StructPlan } from './struct-plan';
import type { MutableObject } from './set-own';

/**
 * `decodeMessage` for large messages, a part at a time: messages, entries of maps and JSON texts that are large are opened here, and
 * what is small in them is read by the reader of its field.
 */

/** Bytes that are read at one stretch: a message of two bytes is a value. */
const PART_BYTES = 1024;
/** Of JSON, which the platform parses. */
const JSON_PART_BYTES = 32 * 1024;

const LENGTH_DELIMITED = 2;

/** The canonical object of a message. Throws what `decodeMessage` throws. */
export function* decodeMessageSteps(
  type: StructType,
  bytes: Uint8Array,
  options: ProtobufDecodeOptions = {},
): Steps<object> {
  const reader = readerOf(bytes);
  const walk = new Walk(reader, decodeContext(options, new Map()));
  try {
    return yield* walk.readRoot(type);
  } catch (error) {
    throw decodeError(error, type, options);
  }
}

class Walk {
  /** Where others could have their turn last. */
  private pausedAt = 0;

  constructor(
    private readonly reader: Reader,
    private readonly context: Context,
  ) {}

  *readRoot(type: StructType): Steps<MutableObject> {
    const { reader } = this;
    const plan = planOf(type);
    const slots = new Array<unknown>(plan.fields.length);
    yield* this.readSlots(reader.len, type.wire, fieldsOf(type), plan, slots);
    if (reader.pos !== reader.len) throw new Malformed('unexpected EOF');
    this.knowMaps(slots);
    return finishObject(plan, slots, false);
  }

  /** Nothing is added to the maps in these slots any more: whoever asks for their keys need not have them listed. */
  private knowMaps(slots: readonly unknown[]): void {
    const { keysOfMaps } = this.context;
    for (const value of slots) {
      const keys = keysOfMaps?.get(value as object);
      if (keys !== undefined) rememberKeys(value as object, keys);
    }
  }

  private get isPauseDue(): boolean {
    const { pos } = this.reader;
    if (pos - this.pausedAt < PART_BYTES) return false;
    this.pausedAt = pos;
    return true;
  }

  /** Whether what follows with its length is worth opening. */
  private get isLarge(): boolean {
    const { reader } = this;
    const { pos } = reader;
    const length = reader.uint32();
    reader.pos = pos;
    return length > PART_BYTES;
  }

  private *readSlots(
    end: number,
    wire: readonly WireField[],
    readers: ReadonlyMap<number, FieldReader>,
    plan: StructPlan,
    slots: unknown[],
  ): Steps<void> {
    const { reader, context } = this;
    while (reader.pos < end) {
      if (this.isPauseDue) yield;
      const tag = readTag(reader, context);
      const number = tag >>> 3;
      const isLarge = (tag & 7) === LENGTH_DELIMITED && this.isLarge;
      const field = isLarge ? wire.find((one) => one.number === number) : undefined;
      if (field !== undefined && (yield* this.readLarge(field, plan, slots))) continue;
      const read = readers.get(number);
      if (read === undefined) reader.skipType(tag & 7, 0, number);
      else read(reader, tag & 7, slots, context);
    }
  }

  /** False: nothing has been read, as the field is one that is not opened. */
  private *readLarge({ json, type }: WireField, plan: StructPlan, slots: unknown[]): Steps<boolean> {
    if (json === undefined) {
      if (type.kind !== 'struct') return false;
      const end = enterMessage(this.reader, this.context);
      yield* this.readSlots(end, type.wire, readersOf(type.wire, plan), plan, slots);
      leaveMessage(this.reader, end, this.context);
      return true;
    }
    const index = plan.byName.get(json)?.index;
    if (index === undefined) return false;
    if (type.kind === 'map') {
      yield* this.readEntry((slots[index] ??= {}) as MutableObject, type.values);
    } else if (type.kind === 'list' && type.wrapped !== true) {
      if (!isOpened(type.items)) return false;
      const list = (slots[index] ??= []) as unknown[];
      list.push((yield* this.readValue(type.items)) ?? zeroValue(type.items, false));
    } else {
      if (!isOpened(type)) return false;
      slots[index] = yield* this.readValue(type);
    }
    return true;
  }

  private *readEntry(map: MutableObject, values: TypeRef): Steps<void> {
    const { reader } = this;
    const { wire } = valueReader(values);
    let key = '';
    let entry: unknown;
    yield* this.readMessage(function* (number, entryWire) {
      expectWire(entryWire, number === 1 ? LENGTH_DELIMITED : wire);
      if (number === 1) key = reader.string();
      else entry = yield* this.readValue(values);
    });
    putEntry(map, key, entry ?? absentEntry(values), this.context);
  }

  private *readValue(type: TypeRef): Steps<unknown> {
    if (isOpened(type) && this.isLarge) {
      if (type.kind === 'struct') return yield* this.readStruct(type);
      if (type.kind === 'list') return yield* this.readList(type.items);
      if (type.kind === 'special') {
        const forms = schemaFormsOf(type);
        return yield* forms === undefined ? this.readRaw(type) : this.readForms(forms);
      }
    }
    return valueReader(type).read(this.reader, this.context);
  }

  private *readStruct(type: StructType): Steps<MutableObject> {
    const plan = planOf(type);
    const slots = new Array<unknown>(plan.fields.length);
    const end = enterMessage(this.reader, this.context);
    yield* this.readSlots(end, type.wire, fieldsOf(type), plan, slots);
    leaveMessage(this.reader, end, this.context);
    this.knowMaps(slots);
    return finishStruct(plan, slots, this.context);
  }

  /** A list in a message of its own. */
  private *readList(items: TypeRef): Steps<unknown[]> {
    const { wire } = valueReader(items);
    const list: unknown[] = [];
    yield* this.readMessage(function* (_, itemWire) {
      expectWire(itemWire, wire);
      list.push(yield* this.readValue(items));
    }, 1);
    return list;
  }

  private *readForms({ schemaNumber, schema, other, isList, empty }: SchemaForms): Steps<unknown> {
    let described: unknown;
    let otherwise: unknown;
    yield* this.readMessage(function* (number, wire) {
      const type = number === schemaNumber ? schema : other;
      expectWire(wire, valueReader(type).wire);
      const value = yield* this.readValue(type);
      if (number === schemaNumber) described = value;
      else otherwise = isList ? grown(otherwise, value) : value;
    });
    return described ?? otherwise ?? empty;
  }

  private *readRaw(type: SpecialType): Steps<unknown> {
    const { reader, context } = this;
    let bytes: Uint8Array | undefined;
    const { pos } = reader;
    yield* this.readMessage(function* (_, wire) {
      expectWire(wire, LENGTH_DELIMITED);
      bytes = reader.bytes();
      yield;
    }, 1);
    if (bytes !== undefined && bytes.length > JSON_PART_BYTES && !isEnvelope(bytes)) {
      return yield* parsePieces(bytes, context, type.special === 'FieldsV1' ? 'ownershipValues' : 'values');
    }
    reader.pos = pos;
    return valueReader(type).read(reader, context);
  }

  /** Reads the fields of the message that follows, up to the highest `known` number; others are passed over. */
  private *readMessage(readField: (this: Walk, number: number, wire: number) => Steps<void>, known = 2): Steps<void> {
    const { reader, context } = this;
    const end = enterMessage(reader, context);
    while (reader.pos < end) {
      if (this.isPauseDue) yield;
      const tag = readTag(reader, context);
      if (tag >>> 3 > known) reader.skipType(tag & 7);
      else yield* readField.call(this, tag >>> 3, tag & 7);
    }
    leaveMessage(reader, end, context);
  }
}

/** Of the others none has parts that could be read one after the other. */
function isOpened(type: TypeRef): boolean {
  switch (type.kind) {
    case 'struct':
    case 'list':
      return true;
    case 'special':
      return schemaFormsOf(type) !== undefined || isRaw(type);
    case 'scalar':
    case 'map':
    case 'any':
      return false;
  }
}

/** A JSON text, whose values count as the message's do, or as those of owners. */
function* parsePieces(bytes: Uint8Array, context: Context, counter: 'values' | 'ownershipValues'): Steps<unknown> {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const pieces = new JsonPieces(text, { maxValues: context[counter], pieceBytes: JSON_PART_BYTES });
  let value: unknown;
  try {
    value = yield* pieces.steps();
  } catch (error) {
    if (error instanceof TooManyValuesError) throw new TooManyValues();
    // The parser of whole texts says what is wrong.
    if (error instanceof MalformedJsonError) return parseJson(text.toString());
    throw error;
  }
  context[counter] -= pieces.values;
  return value;
}
