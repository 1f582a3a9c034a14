import type { CacheEntry } from '../../../storage/cache/cache';
import type { ItemForm } from './item-form';
import { eachItem, type ListParts } from './list-parts';

/**
 * The Protobuf form of a list, in its envelope (spec, "Representations" 4). Put together by hand, because its items are
 * ready bytes and many: they are written one after the other and never copied into one message.
 */

const MAGIC = Buffer.from([0x6b, 0x38, 0x73, 0x00]);
/** Unknown: 1 typeMeta, 2 raw, 3 contentEncoding, 4 contentType. The last two are always written, empty. */
const TYPE_META = 0x0a;
const RAW = 0x12;
const EMPTY_TAIL = Buffer.from([0x1a, 0x00, 0x22, 0x00]);
const NO_SEPARATOR = Buffer.alloc(0);

/** The numbers of a list message's fields. */
export interface ListFields {
  readonly metadata: number;
  readonly items: number;
}
/** Of all lists but one. */
const USUAL: ListFields = { metadata: 1, items: 2 };

/** Around the items; the envelope says first how long they are. Fields stand in the order of their numbers. */
export function protobufEnvelope(
  apiVersion: string,
  listKind: string,
  listMeta: Uint8Array,
  { metadata: number, items }: ListFields = USUAL,
): Pick<ListParts, 'head' | 'tail'> {
  const metadata = Buffer.concat([field(messageTag(number), listMeta.length), listMeta]);
  const before = number < items ? [metadata] : [];
  const after = number < items ? [] : [metadata];
  return {
    head: (itemsLength) => Buffer.concat([head(apiVersion, listKind, metadata.length + itemsLength), ...before]),
    tail: Buffer.concat([...after, EMPTY_TAIL]),
  };
}

/** `message`: an entry without its envelope, as one of so many. */
export function protobufItems(
  message: (entry: CacheEntry, among: readonly CacheEntry[]) => Uint8Array,
  { items } = USUAL,
): ItemForm {
  const form = eachItem(NO_SEPARATOR, true, (entry, among) => protobufItem(message(entry, among), items));
  return {
    ...form,
    length: (entries, from, to) => {
      let sum = 0;
      for (let index = from; index < to; index++) {
        const { length } = message(entries[index]!, entries);
        sum += fieldLength(length) + length;
      }
      return sum;
    },
  };
}

/** A message as an item of a list. */
export function protobufItem(message: Uint8Array, number: number = USUAL.items): readonly Uint8Array[] {
  return [field(messageTag(number), message.length), message];
}

/** Of a field that holds a message or bytes. */
function messageTag(number: number): number {
  return (number << 3) | 2;
}

function head(apiVersion: string, kind: string, rawLength: number): Buffer {
  const version = Buffer.from(apiVersion);
  const kindBytes = Buffer.from(kind);
  const typeMeta = Buffer.concat([field(0x0a, version.length), version, field(0x12, kindBytes.length), kindBytes]);
  return Buffer.concat([MAGIC, field(TYPE_META, typeMeta.length), typeMeta, field(RAW, rawLength)]);
}

/** A field's tag, of one byte, and the length of what follows as a varint. */
function field(tag: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(fieldLength(length));
  bytes[0] = tag;
  let at = 1;
  let rest = length;
  while (rest > 0x7f) {
    bytes[at++] = (rest & 0x7f) | 0x80;
    rest = Math.floor(rest / 128);
  }
  bytes[at] = rest;
  return bytes;
}

function fieldLength(length: number): number {
  let bytes = 2;
  for (let rest = length; rest > 0x7f; rest = Math.floor(rest / 128)) bytes++;
  return bytes;
}
