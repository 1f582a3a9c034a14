import { Reader, Writer } from 'protobufjs/minimal';
import { readInt64, readInt64Exactly } from '../../api/codec/protobuf-int64';
import type { Revision } from '../store';

/** The part of etcd's v3 protocol (`etcdserverpb`, `mvccpb`) that the store speaks. Absent numbers are 0, as on the wire. */

const VARINT = 0;
const BYTES = 2;

/** A 64-bit number that is only handed back, in decimal: leases use all their bits. */
export type LeaseId = string;

export interface KeyValue {
  readonly key: Buffer;
  readonly createRevision: Revision;
  readonly modRevision: Revision;
  /** How many times the key has been written since it was created. */
  readonly version: number;
  readonly value: Buffer;
}

export interface RangeRequest {
  readonly key: Uint8Array;
  readonly rangeEnd?: Uint8Array;
  readonly limit?: number;
  readonly revision?: number;
  readonly countOnly?: boolean;
}

export interface RangeResponse {
  /** Of the whole store, when it answered. */
  readonly revision: Revision;
  readonly pairs: readonly KeyValue[];
  /** Of all keys in the range, whatever the limit. */
  readonly count: number;
}

/** One comparison of one key, and one operation for either outcome. */
export interface TxnRequest {
  readonly key: Uint8Array;
  readonly expected: { readonly modRevision: number } | { readonly version: number };
  readonly success: { readonly put: Put } | { readonly remove: Uint8Array };
  /** Read when the comparison fails. */
  readonly failure: RangeRequest;
}

export interface Put {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  readonly lease?: LeaseId;
}

export interface TxnResponse {
  readonly revision: Revision;
  readonly succeeded: boolean;
  /** What the failed transaction read. */
  readonly pairs: readonly KeyValue[];
}

export interface WatchEvent {
  readonly isDelete: boolean;
  readonly pair: KeyValue;
  readonly previous: KeyValue | undefined;
}

export interface WatchResponse {
  readonly revision: Revision;
  readonly created: boolean;
  readonly canceled: boolean;
  /** Above 0 when the watch asked for history that is gone. */
  readonly compactRevision: Revision;
  readonly cancelReason: string;
  /** More of the same revision follows. */
  readonly fragment: boolean;
  readonly events: readonly WatchEvent[];
}

export interface WatchCreation {
  readonly key: Uint8Array;
  readonly rangeEnd: Uint8Array;
  readonly startRevision: number;
  /** Events come with what stood there before. */
  readonly withPrevious: boolean;
}

/** A method of etcd's services: its path, and how its messages are written and read. */
export interface Method<Request, Response> {
  readonly path: string;
  /** The result is good until the next request is encoded. */
  readonly encode: (request: Request) => Uint8Array;
  readonly decode: (message: Buffer) => Response;
}

export const range: Method<RangeRequest, RangeResponse> = {
  path: '/etcdserverpb.KV/Range',
  encode: (request) => encoded(writeRange(newMessage(), request)),
  decode: (message) => readRangeResponse(Reader.create(message), message.length),
};

export const txn: Method<TxnRequest, TxnResponse> = {
  path: '/etcdserverpb.KV/Txn',
  encode: ({ key, expected, success, failure }) => {
    const writer = newMessage();
    writeCompare(writer.uint32(tag(1, BYTES)).fork(), key, expected).ldelim();
    writeOperation(writer.uint32(tag(2, BYTES)).fork(), success).ldelim();
    const otherwise = writer.uint32(tag(3, BYTES)).fork();
    writeRange(otherwise.uint32(tag(1, BYTES)).fork(), failure).ldelim();
    return encoded(otherwise.ldelim());
  },
  decode: (message) => {
    let revision = 0;
    let succeeded = false;
    let pairs: readonly KeyValue[] = [];
    readFields(Reader.create(message), message.length, (reader, field) => {
      if (field === tag(1, BYTES)) revision = readHeader(reader);
      else if (field === tag(2, VARINT)) succeeded = reader.bool();
      else if (field === tag(3, BYTES)) pairs = readOutcome(reader) ?? pairs;
      else return false;
      return true;
    });
    return { revision: revision as Revision, succeeded, pairs };
  },
};

export const compact: Method<{ readonly revision: number }, void> = {
  path: '/etcdserverpb.KV/Compact',
  encode: ({ revision }) => encoded(newMessage().uint32(tag(1, VARINT)).int64(revision)),
  decode: () => undefined,
};

export const leaseGrant: Method<{ readonly ttlSeconds: number }, LeaseId> = {
  path: '/etcdserverpb.Lease/LeaseGrant',
  encode: ({ ttlSeconds }) => encoded(newMessage().uint32(tag(1, VARINT)).int64(ttlSeconds)),
  decode: (message) => {
    let id = '0';
    readFields(Reader.create(message), message.length, (reader, field) => {
      if (field !== tag(2, VARINT)) return false;
      id = String(readInt64Exactly(reader));
      return true;
    });
    return id;
  },
};

const DB_SIZE = tag(3, VARINT);
const DB_SIZE_IN_USE = tag(9, VARINT);
const DB_SIZE_QUOTA = tag(12, VARINT);

/** How a server is. */
export interface ServerStatus {
  readonly version: string;
  readonly fileBytes: number;
  /** Undefined: a server that does not tell (before 3.4). */
  readonly inUseBytes: number | undefined;
  /** Undefined: a server that does not tell (before 3.6). */
  readonly quotaBytes: number | undefined;
  /** Alarms that are raised, in the server's words: `memberID:1234 alarm:NOSPACE `. */
  readonly errors: readonly string[];
}

export const status: Method<void, ServerStatus> = {
  path: '/etcdserverpb.Maintenance/Status',
  encode: () => new Uint8Array(),
  decode: (message) => {
    let version = '';
    const errors: string[] = [];
    const bytes = new Map<number, number>();
    readFields(Reader.create(message), message.length, (reader, field) => {
      if (field === tag(2, BYTES)) version = reader.string();
      else if (field === tag(8, BYTES)) errors.push(reader.string());
      else if (field === DB_SIZE || field === DB_SIZE_IN_USE || field === DB_SIZE_QUOTA) {
        bytes.set(field, readInt64(reader));
      } else return false;
      return true;
    });
    return {
      version,
      fileBytes: bytes.get(DB_SIZE) ?? 0,
      inUseBytes: bytes.get(DB_SIZE_IN_USE),
      quotaBytes: bytes.get(DB_SIZE_QUOTA),
      errors,
    };
  },
};

export const WATCH_PATH = '/etcdserverpb.Watch/Watch';

/** Asks for all events of a range, and for regular reports of progress. */
export function encodeWatchCreation({ key, rangeEnd, startRevision, withPrevious }: WatchCreation): Uint8Array {
  const writer = Writer.create().uint32(tag(1, BYTES)).fork();
  writer.uint32(tag(1, BYTES)).bytes(key).uint32(tag(2, BYTES)).bytes(rangeEnd);
  writer.uint32(tag(3, VARINT)).int64(startRevision);
  // progress_notify, fragment, prev_kv
  for (const field of withPrevious ? [4, 8, 6] : [4, 8]) writer.uint32(tag(field, VARINT)).bool(true);
  return writer.ldelim().finish();
}

/** Asks how far the stream's watches are. */
export const PROGRESS_REQUEST: Uint8Array = Writer.create().uint32(tag(3, BYTES)).fork().ldelim().finish();

export function decodeWatchResponse(message: Buffer): WatchResponse {
  let [revision, compactRevision] = [0, 0];
  let [created, canceled, fragment] = [false, false, false];
  let cancelReason = '';
  const events: WatchEvent[] = [];
  readFields(Reader.create(message), message.length, (reader, field) => {
    switch (field) {
      case tag(1, BYTES):
        revision = readHeader(reader);
        return true;
      case tag(3, VARINT):
        created = reader.bool();
        return true;
      case tag(4, VARINT):
        canceled = reader.bool();
        return true;
      case tag(5, VARINT):
        compactRevision = readInt64(reader);
        return true;
      case tag(6, BYTES):
        cancelReason = reader.string();
        return true;
      case tag(7, VARINT):
        fragment = reader.bool();
        return true;
      case tag(11, BYTES):
        events.push(readEvent(reader));
        return true;
      default:
        return false;
    }
  });
  return {
    revision: revision as Revision,
    created,
    canceled,
    compactRevision: compactRevision as Revision,
    cancelReason,
    fragment,
    events,
  };
}

function tag(field: number, wireType: number): number {
  return (field << 3) | wireType;
}

/** One writer for all requests: memory for each, and for what it outgrows, is most of what encoding costs. */
let spare: Writer | undefined;
const MAX_SPARE_BYTES = 64 * 1024;

/** The writer is away until its message is whole: what is left of a message that could not be written is not used. */
function newMessage(): Writer {
  const writer = spare ?? Writer.create();
  spare = undefined;
  return writer;
}

/** What was written, in the writer's memory. */
function encoded(writer: Writer): Uint8Array {
  const message = writer.finish(true);
  if (message.length <= MAX_SPARE_BYTES) spare = writer.reset();
  return message;
}

function writeRange(writer: Writer, { key, rangeEnd, limit, revision, countOnly }: RangeRequest): Writer {
  writer.uint32(tag(1, BYTES)).bytes(key);
  if (rangeEnd !== undefined) writer.uint32(tag(2, BYTES)).bytes(rangeEnd);
  if (limit !== undefined && limit !== Infinity) writer.uint32(tag(3, VARINT)).int64(limit);
  if (revision !== undefined) writer.uint32(tag(4, VARINT)).int64(revision);
  if (countOnly === true) writer.uint32(tag(9, VARINT)).bool(true);
  return writer;
}

/** `result` stays out: its 0 means "equal". */
function writeCompare(writer: Writer, key: Uint8Array, expected: TxnRequest['expected']): Writer {
  const byRevision = 'modRevision' in expected;
  writer.uint32(tag(2, VARINT)).int32(byRevision ? 2 : 0);
  writer.uint32(tag(3, BYTES)).bytes(key);
  return byRevision
    ? writer.uint32(tag(6, VARINT)).int64(expected.modRevision)
    : writer.uint32(tag(4, VARINT)).int64(expected.version);
}

function writeOperation(writer: Writer, operation: TxnRequest['success']): Writer {
  if ('remove' in operation) {
    return writer.uint32(tag(3, BYTES)).fork().uint32(tag(1, BYTES)).bytes(operation.remove).ldelim();
  }
  const { key, value, lease } = operation.put;
  writer.uint32(tag(2, BYTES)).fork().uint32(tag(1, BYTES)).bytes(key).uint32(tag(2, BYTES)).bytes(value);
  if (lease !== undefined) writer.uint32(tag(3, VARINT)).int64(lease);
  return writer.ldelim();
}

/** Gives each field's tag to `read`, which says whether it took it; others are skipped. */
function readFields(reader: Reader, end: number, read: (reader: Reader, field: number) => boolean): void {
  while (reader.pos < end) {
    const field = reader.uint32();
    if (!read(reader, field)) reader.skipType(field & 7);
  }
}

/** Reads the length of a message; returns where it ends. */
function endOfMessage(reader: Reader): number {
  const length = reader.uint32();
  return reader.pos + length;
}

/** The revision of a ResponseHeader. */
function readHeader(reader: Reader): number {
  let revision = 0;
  readFields(reader, endOfMessage(reader), (_, field) => {
    if (field !== tag(3, VARINT)) return false;
    revision = readInt64(reader);
    return true;
  });
  return revision;
}

function readRangeResponse(reader: Reader, end: number): RangeResponse {
  let [revision, count] = [0, 0];
  const pairs: KeyValue[] = [];
  readFields(reader, end, (_, field) => {
    if (field === tag(1, BYTES)) revision = readHeader(reader);
    else if (field === tag(2, BYTES)) pairs.push(readPair(reader));
    else if (field === tag(4, VARINT)) count = readInt64(reader);
    else return false;
    return true;
  });
  return { revision: revision as Revision, pairs, count };
}

/** What a transaction's operation answered, if it was a read. */
function readOutcome(reader: Reader): readonly KeyValue[] | undefined {
  let pairs: readonly KeyValue[] | undefined;
  readFields(reader, endOfMessage(reader), (_, field) => {
    if (field !== tag(1, BYTES)) return false;
    pairs = readRangeResponse(reader, endOfMessage(reader)).pairs;
    return true;
  });
  return pairs;
}

const NOTHING: Buffer = Buffer.alloc(0);

function readPair(reader: Reader): KeyValue {
  const end = endOfMessage(reader);
  let key = NOTHING;
  let value = NOTHING;
  let [createRevision, modRevision, version] = [0, 0, 0];
  while (reader.pos < end) {
    const field = reader.uint32();
    if (field === tag(1, BYTES)) key = reader.bytes() as Buffer;
    else if (field === tag(2, VARINT)) createRevision = readInt64(reader);
    else if (field === tag(3, VARINT)) modRevision = readInt64(reader);
    else if (field === tag(4, VARINT)) version = readInt64(reader);
    else if (field === tag(5, BYTES)) value = reader.bytes() as Buffer;
    else reader.skipType(field & 7);
  }
  return {
    key,
    createRevision: createRevision as Revision,
    modRevision: modRevision as Revision,
    version,
    value,
  };
}

function readEvent(reader: Reader): WatchEvent {
  const end = endOfMessage(reader);
  let isDelete = false;
  let pair: KeyValue | undefined;
  let previous: KeyValue | undefined;
  while (reader.pos < end) {
    const field = reader.uint32();
    if (field === tag(1, VARINT)) isDelete = reader.int32() === 1;
    else if (field === tag(2, BYTES)) pair = readPair(reader);
    else if (field === tag(3, BYTES)) previous = readPair(reader);
    else reader.skipType(field & 7);
  }
  if (pair === undefined) throw new Error('an event of etcd has no key');
  return { isDelete, pair, previous };
}
