import { closeSync, existsSync, linkSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { PRIVATE_FILE_MODE, writePrivateFile } from '../../files/private-files';

/** More than a disk's block, and than what a partial write leaves. */
const TRIAL_BYTES = 64 * 1024;

/** `errno` of a write for which there is no space: ENOSPC, EDQUOT, EFBIG. */
const OUT_OF_SPACE: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 28, 122, 27]);

/** What the file system of a path has left for this process; Infinity where it does not say. */
export function diskFreeBytes(path: string): number {
  const { bsize, blocks, bavail } = statfsSync(dirname(path));
  return blocks === 0 ? Infinity : bsize * bavail;
}

/** Whether an error, of Node or of LMDB, says that there is no space. */
export function isOutOfSpace(error: unknown): boolean {
  return error instanceof Error && 'code' in error && OUT_OF_SPACE.has(error.code);
}

/**
 * Whether a file of so many bytes could grow, tried with another one beside it: a write of which the disk took only a part
 * fails as "I/O error", which says nothing about the cause.
 */
export function canGrow(path: string, bytes: number): boolean {
  const trial = `${path}.${process.pid}.tmp`;
  try {
    rmSync(trial, { force: true });
    const descriptor = openSync(trial, 'wx', PRIVATE_FILE_MODE);
    try {
      const block = Buffer.alloc(TRIAL_BYTES);
      return writeSync(descriptor, block, 0, block.length, bytes) === block.length;
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    if (isOutOfSpace(error)) return false;
    throw error;
  } finally {
    rmSync(trial, { force: true });
  }
}

/**
 * Makes a file of so many zeros, unless there is one. It is never seen in half, and its blocks are really allocated:
 * a process that maps a file with holes into memory dies by a signal when the disk has no block for one.
 */
export function makeZeroedFile(path: string, bytes: number): void {
  if (existsSync(path)) return;
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    writePrivateFile(temporary, '\0'.repeat(bytes));
    linkSync(temporary, path);
  } catch (error) {
    // Another process has been quicker.
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return;
    throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
}
