import { bytesOf, type Tables } from './database';
import {
  decodeCurrentRecord,
  decodeLogRecord,
  decodeOlderKey,
  decodeRevision,
  encodeNumber,
  type CurrentRecord,
  type LogRecord,
  type StateRecord,
} from './records';
import type { ListRange, Revision, StoredValue } from '../store';

/** All functions here are synchronous: within one turn of the loop, all reads see one snapshot. */

interface Bounds {
  readonly start: Buffer;
  readonly end?: Buffer;
}

/** A version of a key, by the revision of its write. */
interface Version {
  readonly key: Buffer;
  readonly revision: Revision;
  /** Whether it stood at the revision that is read. */
  readonly stood: boolean;
}

/** Up to this many writes, counting through the log is quicker than through the keys. */
const MAX_WRITES_COUNTED = 10_000;

export function readCurrent(tables: Tables, key: Buffer): CurrentRecord | undefined {
  const bytes = tables.current.get(key);
  return bytes && decodeCurrentRecord(bytesOf(bytes));
}

/** The value that the write of this revision put there, which must still be part of the history. */
export function readVersion(tables: Tables, revision: Revision): StoredValue {
  const bytes = tables.log.get(encodeNumber(revision));
  if (bytes === undefined) throw new Error(`the store has lost revision ${revision}`);
  const { key, value } = decodeLogRecord(revision, bytesOf(bytes));
  return { key, value, revision };
}

/** Up to `limit` writes after one revision, up to and with another one, in order. */
export function* readLog(tables: Tables, after: Revision, last: Revision, limit = Infinity): Iterable<LogRecord> {
  const range = { start: encodeNumber(after + 1), end: encodeNumber(last + 1), limit };
  for (const { key, value } of tables.log.getRange(range)) {
    yield decodeLogRecord(decodeRevision(bytesOf(key)), bytesOf(value));
  }
}

/**
 * The newest revision that was written at or before a time (milliseconds since 1970), or the one that is compacted. Times
 * never fall, so halving finds it.
 */
export function lastRevisionBefore(
  tables: Tables,
  { compacted, revision }: Pick<StateRecord, 'compacted' | 'revision'>,
  time: number,
): Revision {
  let low: number = compacted;
  let high: number = revision;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const [record] = readLog(tables, (middle - 1) as Revision, revision, 1);
    if (record !== undefined && record.time <= time) low = Math.max(middle, record.revision);
    else high = middle - 1;
  }
  return low as Revision;
}

/** A piece of a list. */
export interface Piece {
  readonly items: readonly StoredValue[];
  /** Whether more may follow after the last item. */
  readonly isFull: boolean;
}

/** Up to `limit` values of the newest state of a range. */
export function readNewest(tables: Tables, range: ListRange, limit: number): Piece {
  const bounds = boundsOf(range);
  const items: StoredValue[] = [];
  if (bounds === undefined) return { items, isFull: false };
  for (const { value } of tables.current.getRange({ ...bounds })) {
    if (items.length === limit) return { items, isFull: true };
    items.push(readVersion(tables, decodeRevision(bytesOf(value))));
  }
  return { items, isFull: false };
}

/** The same of the state as of a past revision that has not been compacted. */
export function readAt(tables: Tables, range: ListRange, limit: number, revision: Revision): Piece {
  const bounds = boundsOf(range);
  const items: StoredValue[] = [];
  if (bounds === undefined) return { items, isFull: false };
  for (const version of versionsAt(tables, bounds, revision)) {
    if (items.length === limit) return { items, isFull: true };
    items.push(readVersion(tables, version.revision));
  }
  return { items, isFull: false };
}

/** How many values of a range come after a key, at a revision; `current` is the newest. */
export function countAfter(
  tables: Tables,
  range: ListRange,
  last: string,
  revision: Revision,
  current: Revision,
): number {
  const bounds = boundsOf(range);
  if (bounds === undefined) return 0;
  const rest = { ...bounds, start: successorOf(Buffer.from(last)) };
  return revision === current ? tables.current.getKeysCount({ ...rest }) : countAt(tables, rest, revision, current);
}

function countAt(tables: Tables, bounds: Bounds, at: Revision, current: Revision): number {
  if (current - at > MAX_WRITES_COUNTED) return [...versionsAt(tables, bounds, at)].length;
  // What stands now, less what has come since, plus what has gone.
  const changed = new Map<string, { readonly stood: boolean; stands: boolean }>();
  for (const { key, type, previous } of readLog(tables, at, current)) {
    const change = changed.get(key);
    if (change !== undefined) change.stands = type === 'put';
    else changed.set(key, { stood: previous !== undefined, stands: type === 'put' });
  }
  let count = tables.current.getKeysCount({ ...bounds });
  for (const [key, { stood, stands }] of changed) {
    if (stood !== stands && isWithin(Buffer.from(key), bounds)) count += stood ? 1 : -1;
  }
  return count;
}

/** The versions that stood at a revision, in key order. */
function* versionsAt(tables: Tables, bounds: Bounds, at: Revision): Iterable<Version> {
  const left = currentVersions(tables, bounds, at);
  const right = olderVersions(tables, bounds, at);
  let fromLeft = left.next().value;
  let fromRight = right.next().value;
  try {
    while (fromLeft !== undefined || fromRight !== undefined) {
      if (fromRight === undefined || (fromLeft !== undefined && Buffer.compare(fromLeft.key, fromRight.key) < 0)) {
        if (fromLeft!.stood) yield fromLeft!;
        fromLeft = left.next().value;
      } else {
        if (fromRight.stood) yield fromRight;
        fromRight = right.next().value;
      }
    }
  } finally {
    left.return(undefined);
    right.return(undefined);
  }
}

function* currentVersions(tables: Tables, bounds: Bounds, at: Revision): Generator<Version, undefined> {
  for (const { key, value } of tables.current.getRange({ ...bounds })) {
    const { revision } = decodeCurrentRecord(bytesOf(value));
    yield { key: bytesOf(key), revision, stood: revision <= at };
  }
}

function* olderVersions(tables: Tables, bounds: Bounds, at: Revision): Generator<Version, undefined> {
  for (const { key: bytes, value } of tables.older.getRange({ ...bounds })) {
    const { key, revision } = decodeOlderKey(bytesOf(bytes));
    const replaced = decodeRevision(bytesOf(value));
    // A page starts at a key with a zero byte after it; the older versions of the key before it lie behind that.
    yield { key, revision, stood: revision <= at && at < replaced && isWithin(key, bounds) };
  }
}

/** Undefined when nothing can lie in the range. */
function boundsOf({ prefix, start }: ListRange): Bounds | undefined {
  const prefixBytes = Buffer.from(prefix);
  const startBytes = start === undefined ? prefixBytes : Buffer.from(start);
  const from = Buffer.compare(startBytes, prefixBytes) > 0 ? startBytes : prefixBytes;
  if (prefixBytes.length === 0) return { start: from.length === 0 ? Buffer.from([0]) : from };
  const end = Buffer.from(prefixBytes);
  // UTF-8 has no byte 255, so this does not overflow.
  end[end.length - 1] = end[end.length - 1]! + 1;
  return Buffer.compare(from, end) < 0 ? { start: from, end } : undefined;
}

function isWithin(key: Buffer, { start, end }: Bounds): boolean {
  return Buffer.compare(key, start) >= 0 && (end === undefined || Buffer.compare(key, end) < 0);
}

function successorOf(key: Buffer): Buffer {
  return Buffer.concat([key, Buffer.from([0])]);
}
