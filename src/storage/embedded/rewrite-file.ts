import { closeSync, fsyncSync, openSync, renameSync } from 'node:fs';
import { dirname } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RootDatabase } from 'lmdb';
import { makePrivateFile, type Warn } from '../../files/private-files';
import {
  bytesOf,
  LmdbFile,
  LOCK_FILE_BYTES,
  lockFileOf,
  metaEntries,
  openRoot,
  openTables,
  removeLeftovers,
  rewrittenFileOf,
  StoreFileError,
  type Table,
  type Tables,
} from './database';
import { makeZeroedFile } from './disk-space';
import { findDamage } from './file-check';
import { decodeCurrentRecord, decodeOlderKey, decodeRevision, encodeNumber, type StateRecord } from './records';
import type { Revision } from '../store';

/** Entries are copied in transactions of about this size. */
const BATCH_BYTES = 8 * 1024 * 1024;
const APPEND = { append: true } as const;

interface Entry {
  readonly key: Buffer;
  readonly value: Buffer;
}

/**
 * Writes a new file beside a store's, which holds what the other does and not its empty pages, nor the history before
 * `compacted`. When this rejects, nothing has changed. The store must not be written to meanwhile.
 */
export async function writeCompacted(file: LmdbFile, compacted: Revision): Promise<void> {
  const rewritten = rewrittenFileOf(file.path);
  removeLeftovers(file.path);
  try {
    makeZeroedFile(lockFileOf(rewritten), LOCK_FILE_BYTES);
    makePrivateFile(rewritten);
    await copyTo(rewritten, file, compacted);
    syncPath(rewritten);
  } catch (error) {
    removeLeftovers(file.path);
    throw error;
  }
}

/**
 * Puts what {@link writeCompacted} has written in the place of the file, which is closed, and opens it. A process that is
 * killed at any point leaves one of the two, whole: the new one takes the name of the old one when all of it is on the
 * disk. The old one stays open, and thereby the store ours, until then.
 */
export async function replaceFile(file: LmdbFile, warn?: Warn): Promise<LmdbFile> {
  const { path } = file;
  renameSync(rewrittenFileOf(path), path);
  removeLeftovers(path);
  syncPath(dirname(path));
  await file.close();
  return LmdbFile.open(path, warn);
}

async function copyTo(path: string, source: LmdbFile, compacted: Revision): Promise<void> {
  const state = { ...source.state(), compacted, scrubbed: compacted };
  const root = openRoot(path, { noSync: true });
  try {
    const tables = openTables(root);
    const rows = revisionsKept(source.tables, compacted);
    await copyEntries(root, tables.log, entriesOf(source.tables.log, rows));
    await copyEntries(root, tables.log, range(source.tables.log, { start: encodeNumber(compacted + 1) }));
    await copyEntries(root, tables.current, range(source.tables.current));
    await copyEntries(root, tables.older, olderKept(source.tables.older, compacted));
    await copyEntries(root, tables.expiry, range(source.tables.expiry));
    await copyEntries(root, tables.meta, metaEntries(state));
    compare(path, source.tables, tables, state, rows.length);
  } finally {
    await root.close();
  }
  const damage = findDamage(path);
  if (damage !== undefined) throw new StoreFileError(path, `the rewritten file is damaged: ${damage}`);
}

/** In order, the writes up to a revision whose values stood there at it. */
function revisionsKept({ current, older }: Tables, compacted: Revision): readonly Revision[] {
  const kept: Revision[] = [];
  for (const { value } of current.getRange({})) {
    const { revision } = decodeCurrentRecord(bytesOf(value));
    if (revision <= compacted) kept.push(revision);
  }
  for (const { key } of olderKept(older, compacted)) {
    const { revision } = decodeOlderKey(key);
    if (revision <= compacted) kept.push(revision);
  }
  return kept.sort((a, b) => a - b);
}

/** Versions that were replaced after a revision. */
function* olderKept(older: Table, compacted: Revision): Iterable<Entry> {
  for (const entry of range(older)) if (decodeRevision(entry.value) > compacted) yield entry;
}

function* entriesOf(log: Table, revisions: readonly Revision[]): Iterable<Entry> {
  for (const revision of revisions) {
    const key = encodeNumber(revision);
    const value = log.get(key);
    if (value === undefined) throw new Error(`the store has lost revision ${revision}`);
    yield { key, value: bytesOf(value) };
  }
}

function* range(table: Table, bounds: { readonly start?: Buffer } = {}): Iterable<Entry> {
  for (const { key, value } of table.getRange(bounds)) yield { key: bytesOf(key), value: bytesOf(value) };
}

async function copyEntries(root: RootDatabase<Buffer, Buffer>, target: Table, entries: Iterable<Entry>): Promise<void> {
  let batch: Entry[] = [];
  let bytes = 0;
  const write = (): void => {
    root.transactionSync(() => {
      for (const { key, value } of batch) target.putSync(key, value, APPEND);
    });
    batch = [];
    bytes = 0;
  };
  for (const entry of entries) {
    batch.push(entry);
    bytes += entry.key.length + entry.value.length;
    if (bytes < BATCH_BYTES) continue;
    write();
    await nextTurn();
  }
  if (batch.length > 0) write();
}

/** Nothing that stands there may be missing, whatever the reason. */
function compare(path: string, from: Tables, to: Tables, state: StateRecord, rows: number): void {
  const counts = (['current', 'expiry'] as const).map((name) => [
    from[name].getKeysCount({}),
    to[name].getKeysCount({}),
  ]);
  const after = from.log.getKeysCount({ start: encodeNumber(state.compacted + 1) });
  counts.push([rows + after, to.log.getKeysCount({})]);
  if (counts.some(([wanted, found]) => wanted !== found)) {
    throw new StoreFileError(path, `the rewritten file lacks entries (${counts.join('; ')})`);
  }
}

function syncPath(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
