import { bytesOf, type Tables } from './database';
import {
  decodeCurrentRecord,
  decodeLogRecord,
  decodeOlderKey,
  decodeRevision,
  encodeNumber,
  type CurrentRecord,
  type LogRecord,
} from './records';
import type { ListRange, Revision, StoredValue } from '../store';

/** All functions here are synchronous: within one turn of the loop, all reads see one snapshot. */

export interface Page {
  readonly items: readonly StoredValue[];
  readonly remaining: number;
}

interface Bounds {
  readonly start: Buffer;
  readonly end?: Buffer;
}

/** A version of a key, by the revision of its write. */
interface Version {
  readonly key: Buffer;
  readonly revision: Revision;
}

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
export function* readLog(tables: Tables, after: Revision, last: Revision, limit: number): Iterable<LogRecord> {
  const range = { start: encodeNumber(after + 1), end: encodeNumber(last + 1), limit };
  for (const { key, value } of tables.log.getRange(range)) {
    yield decodeLogRecord(decodeRevision(bytesOf(key)), bytesOf(value));
  }
}

/** The newest state of a range. */
export function listNewest(tables: Tables, range: ListRange): Page {
  const bounds = boundsOf(range);
  if (bounds === undefined) return { items: [], remaining: 0 };
  const limit = range.limit ?? Infinity;
  const items: StoredValue[] = [];
  let last = bounds.start;
  for (const { key, value } of tables.current.getRange(bounds)) {
    if (items.length === limit) return { items, remaining: tables.current.getKeysCount({ ...bounds, start: successorOf(last) }) };
    last = bytesOf(key);
    items.push(readVersion(tables, decodeRevision(bytesOf(value))));
  }
  return { items, remaining: 0 };
}

/** The state of a range as of a past revision that has not been compacted. */
export function listAt(tables: Tables, range: ListRange, revision: Revision): Page {
  const bounds = boundsOf(range);
  if (bounds === undefined) return { items: [], remaining: 0 };
  const limit = range.limit ?? Infinity;
  const items: StoredValue[] = [];
  let remaining = 0;
  for (const version of mergeByKey(currentVersions(tables, bounds, revision), olderVersions(tables, bounds, revision))) {
    if (items.length < limit) items.push(readVersion(tables, version.revision));
    else remaining++;
  }
  return { items, remaining };
}

/** Keys that stand now as they stood at the revision. */
function* currentVersions(tables: Tables, bounds: Bounds, at: Revision): Iterator<Version, undefined> {
  for (const { key, value } of tables.current.getRange(bounds)) {
    const { revision } = decodeCurrentRecord(bytesOf(value));
    if (revision <= at) yield { key: bytesOf(key), revision };
  }
}

/** Versions that stood at the revision, and have been replaced or deleted since. */
function* olderVersions(tables: Tables, bounds: Bounds, at: Revision): Iterator<Version, undefined> {
  for (const { key: bytes, value } of tables.older.getRange(bounds)) {
    const { key, revision } = decodeOlderKey(bytesOf(bytes));
    const replaced = decodeRevision(bytesOf(value));
    // A page starts at a key with a zero byte after it; the older versions of the key before it lie behind that.
    const isBeforeStart = Buffer.compare(key, bounds.start) < 0;
    if (revision <= at && at < replaced && !isBeforeStart) yield { key, revision };
  }
}

/** A key has one version at a revision, so it comes from one of the two only. */
function* mergeByKey(left: Iterator<Version, undefined>, right: Iterator<Version, undefined>): Iterable<Version> {
  let fromLeft = left.next().value;
  let fromRight = right.next().value;
  while (fromLeft !== undefined || fromRight !== undefined) {
    if (fromRight === undefined || (fromLeft !== undefined && Buffer.compare(fromLeft.key, fromRight.key) < 0)) {
      yield fromLeft!;
      fromLeft = left.next().value;
    } else {
      yield fromRight;
      fromRight = right.next().value;
    }
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

function successorOf(key: Buffer): Buffer {
  return Buffer.concat([key, Buffer.from([0])]);
}
