import { Writer } from 'protobufjs/minimal';
import { printJson } from './json-print';
import { isLarge, type Steps } from '../parts';
import type { StructType, TypeRef, WireField } from '../schema/model';
import { sortedKeys } from '../steps/generated/codec/key-order';
import { encodeMessage, fieldWriters, tag, type FieldWriter, type JsonObject } from './protobuf-encode';

/**
 * `encodeMessage` for large objects, a part at a time: messages, lists and maps that are large are opened here, and what is small
 * in them is written by the writer of its field.
 */

const LENGTH_DELIMITED = 2;
/** Members of a list or a map that are written together. */
const MEMBERS_AT_ONCE = 32;

/** The message of a canonical object, without envelope. */
export function* encodeMessageSteps(type: StructType, object: object): Steps<Uint8Array> {
  const out = new Chunks();
  yield* writeStruct(type, object as JsonObject, out);
  return Buffer.concat(out.chunks, out.length);
}

/** Bytes of a message, and how many there are: its length comes before it. */
class Chunks {
  readonly chunks: Uint8Array[] = [];
  length = 0;

  write(write: (writer: Writer) => void): void {
    const writer = Writer.create();
    write(writer);
    this.add(writer.finish());
  }

  add(bytes: Uint8Array): void {
    this.chunks.push(bytes);
    this.length += bytes.length;
  }

  /** A message under a field's number. */
  nest(number: number, { chunks, length }: Chunks): void {
    this.write((writer) => writer.uint32(tag(number, LENGTH_DELIMITED)).uint32(length));
    for (const chunk of chunks) this.chunks.push(chunk);
    this.length += length;
  }
}

function* writeStruct(type: StructType, object: JsonObject, out: Chunks): Steps<void> {
  if (!isLarge(object)) return out.add(encodeMessage(type, object));
  const writers = fieldWriters(type);
  for (const [index, field] of type.wire.entries()) {
    yield* writeField(field, writers[index] as FieldWriter, object, out);
    yield;
  }
}

function* writeField(field: WireField, write: FieldWriter, object: JsonObject, out: Chunks): Steps<void> {
  const { number, json: name, type } = field;
  const value = name === undefined ? object : object[name];
  if (isLarge(value)) {
    if (type.kind === 'struct') return yield* nestStruct(number, type, value, out);
    if (name !== undefined && isText(type)) return yield* nestText(number, value as object, out);
    if (name !== undefined && type.kind === 'map') return yield* writeMap(number, name, type.values, write, value, out);
    if (name !== undefined && type.kind === 'list' && type.wrapped !== true) {
      return yield* writeList(number, name, type.items, write, value, out);
    }
  }
  out.write((writer) => write(writer, object));
}

function* nestStruct(number: number, type: StructType, value: unknown, out: Chunks): Steps<void> {
  const inner = new Chunks();
  yield* writeStruct(type, value as JsonObject, inner);
  out.nest(number, inner);
}

/** Any JSON value, as its text. */
function isText(type: TypeRef): boolean {
  return (
    type.kind === 'special' &&
    (type.special === 'FieldsV1' || type.special === 'RawExtension' || type.special === 'JSON')
  );
}

function* nestText(number: number, value: object, out: Chunks): Steps<void> {
  const { bytes } = yield* printJson(value);
  const inner = new Chunks();
  inner.write((writer) => writer.uint32(tag(1, LENGTH_DELIMITED)).uint32(bytes.length));
  inner.add(bytes);
  out.nest(number, inner);
}

function* writeList(
  number: number,
  name: string,
  items: TypeRef,
  write: FieldWriter,
  value: unknown,
  out: Chunks,
): Steps<void> {
  const list = value as readonly unknown[];
  for (let from = 0; from < list.length; yield) {
    const item = list[from];
    if (items.kind === 'struct' && isLarge(item)) {
      yield* nestStruct(number, items, item, out);
      from += 1;
      continue;
    }
    const end = endOfSmall(from, list.length, (index) => list[index]);
    out.write((writer) => write(writer, { [name]: list.slice(from, end) }));
    from = end;
  }
}

function* writeMap(
  number: number,
  name: string,
  values: TypeRef,
  write: FieldWriter,
  value: unknown,
  out: Chunks,
): Steps<void> {
  const map = value as JsonObject;
  const keys = yield* sortedKeys(map);
  for (let from = 0; from < keys.length; yield) {
    const key = keys[from] as string;
    if (values.kind === 'struct' && isLarge(map[key])) {
      const entry = new Chunks();
      entry.write((writer) => writer.uint32(tag(1, LENGTH_DELIMITED)).string(key));
      yield* nestStruct(2, values, map[key], entry);
      out.nest(number, entry);
      from += 1;
      continue;
    }
    const end = endOfSmall(from, keys.length, (index) => map[keys[index] as string]);
    out.write((writer) => {
      for (const one of keys.slice(from, end)) write(writer, { [name]: { [one]: map[one] } });
    });
    from = end;
  }
}

/** Where the members end that are written together: before the next large one. At least one is. */
function endOfSmall(from: number, length: number, memberAt: (index: number) => unknown): number {
  let end = from + 1;
  while (end < length && end - from < MEMBERS_AT_ONCE && !isLarge(memberAt(end))) end += 1;
  return end;
}
