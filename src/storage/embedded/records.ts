import type { Revision } from '../store';

/**
 * How keys and records look in the file. All numbers are big-endian, so that keys sort by value.
 *
 *     log      revision                    -> every write that history still needs, with the value
 *     current  key                         -> revision of what stands there, and when it expires
 *     older    key, zero byte, revision    -> revision of the write that replaced or deleted that version
 *     expiry   time, key                   -> revision that expires then
 *     meta     'state'                     -> see StateRecord
 */
export interface LogRecord {
  readonly type: 'put' | 'delete';
  readonly revision: Revision;
  /** When it was written, in milliseconds since 1970. Never falls from one revision to the next. */
  readonly time: number;
  /** The version that this write replaced or deleted. */
  readonly previous: Revision | undefined;
  readonly key: string;
  /** Empty for a delete. */
  readonly value: Buffer;
}

export interface CurrentRecord {
  readonly revision: Revision;
  /** In milliseconds since 1970; undefined: never. */
  readonly expires: number | undefined;
}

export interface StateRecord {
  readonly revision: Revision;
  /** The revision below which history may not be read; 0 before the first compaction. */
  readonly compacted: Revision;
  /** Up to here the versions that the compaction gave up are really gone. */
  readonly scrubbed: Revision;
  /** The time of the newest record of the log. */
  readonly time: number;
}

const NUMBER_BYTES = 8;
const LOG_HEADER_BYTES = 1 + NUMBER_BYTES + NUMBER_BYTES + 2;
const PUT = 1;
const DELETE = 2;
const HIGH_WORD = 0x1_0000_0000;

/** LMDB's bound for a key of its own, less the revision that follows ours in `older`. */
export const MAX_KEY_BYTES = 1978 - 1 - NUMBER_BYTES;

function writeNumber(target: Buffer, value: number, offset: number): number {
  target.writeUInt32BE(Math.floor(value / HIGH_WORD), offset);
  return target.writeUInt32BE(value % HIGH_WORD, offset + 4);
}

function readNumber(source: Buffer, offset: number): number {
  return source.readUInt32BE(offset) * HIGH_WORD + source.readUInt32BE(offset + 4);
}

/** A number as eight bytes that sort as the number does. */
export function encodeNumber(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(NUMBER_BYTES);
  writeNumber(bytes, value, 0);
  return bytes;
}

export function decodeRevision(bytes: Buffer): Revision {
  return readNumber(bytes, 0) as Revision;
}

export function encodeKey(key: string): Buffer {
  const bytes = Buffer.from(key);
  // `older` ends each key with a zero byte; and LMDB has no empty keys.
  if (bytes.length === 0 || bytes.length > MAX_KEY_BYTES || bytes.includes(0)) {
    throw new RangeError(`a key must have 1 to ${MAX_KEY_BYTES} bytes and no zero byte; this one has ${bytes.length}`);
  }
  return bytes;
}

export function encodeLogRecord(record: Omit<LogRecord, 'key' | 'value'>, key: Buffer, value: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(LOG_HEADER_BYTES + key.length + value.length);
  bytes[0] = record.type === 'put' ? PUT : DELETE;
  let offset = writeNumber(bytes, record.time, 1);
  offset = writeNumber(bytes, record.previous ?? 0, offset);
  offset = bytes.writeUInt16BE(key.length, offset);
  bytes.set(key, offset);
  bytes.set(value, offset + key.length);
  return bytes;
}

/** The value shares the memory of `bytes`. */
export function decodeLogRecord(revision: Revision, bytes: Buffer): LogRecord {
  const valueOffset = LOG_HEADER_BYTES + bytes.readUInt16BE(1 + 2 * NUMBER_BYTES);
  const previous = readNumber(bytes, 1 + NUMBER_BYTES);
  return {
    type: bytes[0] === PUT ? 'put' : 'delete',
    revision,
    time: readNumber(bytes, 1),
    previous: previous === 0 ? undefined : (previous as Revision),
    key: bytes.toString('utf8', LOG_HEADER_BYTES, valueOffset),
    value: bytes.subarray(valueOffset),
  };
}

export function encodeCurrentRecord({ revision, expires }: CurrentRecord): Buffer {
  const bytes = Buffer.allocUnsafe(2 * NUMBER_BYTES);
  writeNumber(bytes, expires ?? 0, writeNumber(bytes, revision, 0));
  return bytes;
}

export function decodeCurrentRecord(bytes: Buffer): CurrentRecord {
  const expires = readNumber(bytes, NUMBER_BYTES);
  return { revision: decodeRevision(bytes), expires: expires === 0 ? undefined : expires };
}

export function encodeOlderKey(key: Buffer, revision: Revision): Buffer {
  const bytes = Buffer.allocUnsafe(key.length + 1 + NUMBER_BYTES);
  bytes.set(key);
  bytes[key.length] = 0;
  writeNumber(bytes, revision, key.length + 1);
  return bytes;
}

export function decodeOlderKey(bytes: Buffer): { readonly key: Buffer; readonly revision: Revision } {
  const end = bytes.length - NUMBER_BYTES - 1;
  return { key: bytes.subarray(0, end), revision: readNumber(bytes, end + 1) as Revision };
}

export function encodeExpiryKey(expires: number, key: Buffer): Buffer {
  return Buffer.concat([encodeNumber(expires), key]);
}

export function decodeExpiryKey(bytes: Buffer): { readonly expires: number; readonly key: Buffer } {
  return { expires: readNumber(bytes, 0), key: bytes.subarray(NUMBER_BYTES) };
}

export function encodeState(state: StateRecord): Buffer {
  const bytes = Buffer.allocUnsafe(4 * NUMBER_BYTES);
  let offset = writeNumber(bytes, state.revision, 0);
  offset = writeNumber(bytes, state.compacted, offset);
  offset = writeNumber(bytes, state.scrubbed, offset);
  writeNumber(bytes, state.time, offset);
  return bytes;
}

export function decodeState(bytes: Buffer): StateRecord {
  return {
    revision: readNumber(bytes, 0) as Revision,
    compacted: readNumber(bytes, NUMBER_BYTES) as Revision,
    scrubbed: readNumber(bytes, 2 * NUMBER_BYTES) as Revision,
    time: readNumber(bytes, 3 * NUMBER_BYTES),
  };
}
