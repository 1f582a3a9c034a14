import { rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { open, type Database, type RootDatabase } from 'lmdb';
import { makePrivateFile, makePrivateFolder, protectFile, type Warn } from '../../files/private-files';
import { canGrow, diskFreeBytes, isOutOfSpace, makeZeroedFile } from './disk-space';
import { findDamage, findHeadDamage } from './file-check';
import { commitQuietly } from './quiet-commit';
import { claimOwnership, reserveInProcess, StoreOwnedError } from './ownership';
import { decodeState, encodeState, type StateRecord } from './records';
import type { SpaceReading } from './space-guard';
import type { Revision } from '../store';

export type Table = Database<Buffer, Buffer>;

/** The tables of the file; see records.ts for what they hold. */
export interface Tables {
  readonly log: Table;
  readonly current: Table;
  readonly older: Table;
  readonly expiry: Table;
  readonly meta: Table;
}

/** Removes the entry when there is no value. */
export interface Change {
  readonly table: Table;
  readonly key: Buffer;
  readonly value: Buffer | undefined;
}

/** LMDB's own size for its lock file is a little less. */
export const LOCK_FILE_BYTES = 12 * 1024;
/** What a store has at least that has been made: less was left by a start that failed. */
const LEAST_FILE_BYTES = 36 * 1024;
/** As much as a write of middling size. */
const TRIAL_KEY = Buffer.from('trial');
const TRIAL_BYTES = 64 * 1024;

const FULL_DISK = 'Its disk is full: free some space and start again';

const FORMAT_KEY = Buffer.from('format');
const FORMAT = Buffer.from('sternpost store 1');
const STATE_KEY = Buffer.from('state');
const FORMAT_ENTRY = { key: FORMAT_KEY, value: FORMAT } as const;
const TABLE_NAMES: ReadonlySet<string> = new Set<keyof Tables>(['log', 'current', 'older', 'expiry', 'meta']);
const BINARY = { keyEncoding: 'binary', encoding: 'binary' } as const;

/** The file could not be opened, or is not what it should be. The message names the file and what to do. */
export class StoreFileError extends Error {
  constructor(
    path: string,
    readonly problem: string,
    options?: ErrorOptions,
  ) {
    super(`${path}: ${problem}`, options);
    this.name = 'StoreFileError';
  }
}

/**
 * The LMDB file. All reads of one synchronous function see one snapshot, which contains every change that was
 * acknowledged before.
 */
export class LmdbFile {
  #closing: Promise<void> | undefined;

  private constructor(
    readonly path: string,
    private readonly root: RootDatabase<Buffer, Buffer>,
    readonly tables: Tables,
    private readonly release: () => void,
  ) {}

  /**
   * Throws a {@link StoreFileError} when the file is damaged or foreign, a {@link StoreOwnedError} when somebody else has
   * it open.
   */
  static async open(path: string, warn: Warn = () => undefined): Promise<LmdbFile> {
    const release = reserveInProcess(path);
    let root: RootDatabase<Buffer, Buffer> | undefined;
    try {
      makePrivateFolder(dirname(path));
      makeZeroedFile(lockFileOf(path), LOCK_FILE_BYTES);
      makePrivateFile(path);
      for (const file of [path, lockFileOf(path)]) protectFile(file, warn);
      refuseDamage(path, findHeadDamage(path));
      refuseFullDisk(path);
      root = openRoot(path);
      claimOwnership(path, root);
      removeLeftovers(path);
      refuseDamage(path, findDamage(path));
      refuseForeign(path, root);
      const tables = openTables(root);
      // Opening tables has taken us off LMDB's list for a moment. From here on we stay there.
      claimOwnership(path, root);
      const file = new LmdbFile(path, root, tables, release);
      await file.#initialize();
      return file;
    } catch (error) {
      await root?.close();
      release();
      if (error instanceof StoreFileError || error instanceof StoreOwnedError) throw error;
      const remedy = isOutOfSpace(error) ? `. ${FULL_DISK}` : '';
      throw new StoreFileError(path, `cannot open the store file: ${messageOf(error)}${remedy}`, { cause: error });
    }
  }

  /** Resolves when all changes are on the disk, or rejects and none of them has happened. */
  async commit(changes: readonly Change[], state: StateRecord): Promise<void> {
    const { log } = this.tables;
    try {
      await commitQuietly(() =>
        this.root.batch(() => {
          for (const { table, key, value } of changes) {
            if (value === undefined) void table.remove(key);
            else if (table === log) append(table, key, value);
            else void table.put(key, value);
          }
          void this.tables.meta.put(STATE_KEY, encodeState(state));
        }),
      );
    } catch (error) {
      const cause = await causeOf(error);
      throw new StoreFileError(this.path, `cannot write: ${messageOf(cause)}`, { cause });
    }
    if (this.state().revision < state.revision) throw new StoreFileError(this.path, 'a commit cannot be read back');
  }

  /** The state as of the snapshot that reads see now. */
  state(): StateRecord {
    const bytes = this.tables.meta.get(STATE_KEY);
    if (bytes === undefined) throw new StoreFileError(this.path, 'the store file has lost its state');
    return decodeState(bytesOf(bytes));
  }

  /** What the file and its disk show now. */
  space(): SpaceReading {
    const { pageSize, lastPageNumber } = this.root.getStats() as FileStatistics;
    const pages = Object.values<Table>({ ...this.tables }).reduce((sum, table) => sum + pagesOf(table), 0);
    return {
      file: (lastPageNumber + 1) * pageSize,
      inUse: pages * pageSize,
      diskFree: diskFreeBytes(this.path),
    };
  }

  /** The changes of a commit that shows whether there is room, and of one that takes them back. */
  trial(): { readonly write: readonly Change[]; readonly undo: readonly Change[] } {
    const entry = { table: this.tables.meta, key: TRIAL_KEY };
    return { write: [{ ...entry, value: Buffer.alloc(TRIAL_BYTES) }], undo: [{ ...entry, value: undefined }] };
  }

  /** A second call waits for the first. */
  close(): Promise<void> {
    this.#closing ??= this.root.close().then(() => this.release());
    return this.#closing;
  }

  async #initialize(): Promise<void> {
    const { meta } = this.tables;
    const format = meta.get(FORMAT_KEY);
    if (format === undefined) {
      const state = { revision: 1 as Revision, compacted: 0 as Revision, scrubbed: 0 as Revision, time: 0 };
      await this.commit([{ table: meta, ...FORMAT_ENTRY }], state);
    } else if (!FORMAT.equals(format)) {
      throw new StoreFileError(
        this.path,
        `its format is "${format.toString()}", this program reads "${FORMAT.toString()}"`,
      );
    }
    this.state();
  }
}

/**
 * Adds an entry behind all others. LMDB then fills its pages, where it would leave half of each empty. Whether that
 * succeeds shows the whole commit.
 */
function append(table: Table, key: Buffer, value: Buffer): void {
  (table.put as AppendingPut).call(table, key, value, APPEND).catch(() => undefined);
}

/** LMDB takes the same options with put as with putSync. Its types leave that out. */
type AppendingPut = (this: Table, key: Buffer, value: Buffer, options: typeof APPEND) => Promise<boolean>;

const APPEND = { append: true } as const;

/** What LMDB counts. Its types leave that open. */
interface FileStatistics {
  readonly pageSize: number;
  readonly lastPageNumber: number;
  readonly treeBranchPageCount: number;
  readonly treeLeafPageCount: number;
  readonly overflowPages: number;
  readonly entryCount: number;
}

export function entryCount(table: Table): number {
  return (table.getStats() as FileStatistics).entryCount;
}

function pagesOf(table: Table): number {
  const { treeBranchPageCount, treeLeafPageCount, overflowPages } = table.getStats() as FileStatistics;
  return treeBranchPageCount + treeLeafPageCount + overflowPages;
}

/** The entries of `meta` that make a file a store of this program. */
export function metaEntries(state: StateRecord): readonly { readonly key: Buffer; readonly value: Buffer }[] {
  return [FORMAT_ENTRY, { key: STATE_KEY, value: encodeState(state) }];
}

/** With `noSync`, commits are not waited for: for a file that counts only when it is whole. */
export function openRoot(path: string, options: { readonly noSync?: boolean } = {}): RootDatabase<Buffer, Buffer> {
  return open<Buffer, Buffer>({
    ...BINARY,
    ...options,

    path,
    noSubdir: true,
    maxDbs: 8,
    // A commit then returns only when its pages, and after them the page that makes them visible, are on the disk.
    overlappingSync: false,
    // Transactions are cut by the writer (writer.ts), not by turns of the event loop.
    eventTurnBatching: false,
  });
}

/** LMDB's list of the processes that have the file open lies beside it. */
export function lockFileOf(path: string): string {
  return `${path}-lock`;
}

/** Where a file is rewritten before it takes the place of the other. */
export function rewrittenFileOf(path: string): string {
  return `${path}.compact`;
}

/** What a process left behind that was killed while it rewrote the file. */
export function removeLeftovers(path: string): void {
  const rewritten = rewrittenFileOf(path);
  for (const leftover of [rewritten, lockFileOf(rewritten)]) rmSync(leftover, { force: true });
}

function refuseDamage(path: string, damage: string | undefined): void {
  if (damage === undefined) return;
  throw new StoreFileError(path, `the store file is damaged: ${damage}. Restore it from a backup, or move it away`);
}

/** LMDB, which writes while it makes a file, would print the failure with a stack before it gives it to us. */
function refuseFullDisk(path: string): void {
  if (statSync(path).size >= LEAST_FILE_BYTES || canGrow(path, 0)) return;
  throw new StoreFileError(path, `cannot make the store file. ${FULL_DISK}`);
}

/** The tables' names are the only entries of the root. */
function refuseForeign(path: string, root: RootDatabase<Buffer, Buffer>): void {
  for (const name of root.getKeys()) {
    if (!TABLE_NAMES.has(bytesOf(name).toString().replace(/\0$/, ''))) {
      throw new StoreFileError(path, 'this is an LMDB file, but not a store of this program');
    }
  }
}

export function openTables(root: RootDatabase<Buffer, Buffer>): Tables {
  const table = (name: keyof Tables): Table => root.openDB<Buffer, Buffer>({ ...BINARY, name });
  return {
    meta: table('meta'),
    log: table('log'),
    current: table('current'),
    older: table('older'),
    expiry: table('expiry'),
  };
}

/** lmdb gives plain Uint8Arrays where its types promise Buffers. */
export function bytesOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** lmdb rejects a failed commit with a general error whose `commitError` is rejected with the reason. */
async function causeOf(error: unknown): Promise<unknown> {
  if (!(error instanceof Error) || !('commitError' in error)) return error;
  try {
    await error.commitError;
    return error;
  } catch (cause) {
    return cause;
  }
}
