import { resolve } from 'node:path';
import type { RootDatabase } from 'lmdb';

/** Another process, or another part of this one, has the file open. */
export class StoreOwnedError extends Error {
  constructor(path: string, owner: string) {
    super(`${path}: this store file is in use by ${owner}; one process owns it at a time`);
    this.name = 'StoreOwnedError';
  }
}

const openHere = new Set<string>();

/** Keeps this process from opening the file twice, which would give up LMDB's locks. Returns the release. */
export function reserveInProcess(path: string): () => void {
  const absolute = resolve(path);
  if (openHere.has(absolute)) throw new StoreOwnedError(path, 'this process');
  openHere.add(absolute);
  return () => {
    openHere.delete(absolute);
  };
}

/**
 * Makes this process the only one that has the file open, or throws a {@link StoreOwnedError}. Reads no page.
 *
 * LMDB lists every process that reads a file in its lock file, and holds an operating system's lock there for each, which
 * dies with the process. We enter the list first and look at it then: of two that start at the same moment, both may
 * give up, but never do both go on. Processes in different PID namespaces may have the same number: then the lock itself
 * cannot be had.
 */
export function claimOwnership(path: string, root: RootDatabase<Buffer, Buffer>): void {
  try {
    root.useReadTransaction().done();
  } catch (error) {
    if (error instanceof Error && error.message.includes('temporarily unavailable')) {
      throw new StoreOwnedError(path, 'a process in another container');
    }
    throw error;
  }
  root.readerCheck();
  const owner = readersOf(root.readerList()).find((pid) => pid !== process.pid);
  if (owner !== undefined) throw new StoreOwnedError(path, `process ${owner}`);
}

/** The process numbers in LMDB's table of readers: lines of number, thread, transaction, below a heading. */
function readersOf(table: string): readonly number[] {
  return table
    .split('\n')
    .map((line) => /^\s*(\d+)\s+\S+\s+\S+\s*$/.exec(line)?.[1])
    .filter((pid) => pid !== undefined)
    .map(Number);
}
