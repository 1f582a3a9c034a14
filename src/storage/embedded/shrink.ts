import type { Warn } from '../../files/private-files';
import { entryCount, type LmdbFile } from './database';
import { lastRevisionBefore } from './reader';
import { replaceFile, writeCompacted } from './rewrite-file';
import { DISK_RESERVE_BYTES, type SpaceReading } from './space-guard';
import type { Revision } from '../store';

/** A smaller file is not worth the time. */
const LEAST_BYTES = 64 * 1024 * 1024;
/** Nor is one of which less than this share is empty, or history that cannot be asked for. */
const LEAST_SHARE = 1 / 2;

export interface Shrunk {
  /** The file to use from now on. */
  readonly file: LmdbFile;
  readonly bytesBefore: number;
  readonly bytesAfter: number;
  /** History before this revision is gone. */
  readonly compacted: Revision;
}

/** Makes the file as small as what it holds, without history from before a time (milliseconds since 1970). */
export async function shrink(file: LmdbFile, historySince: number, warn: Warn): Promise<Shrunk> {
  const before = file.space();
  const compacted = lastRevisionBefore(file.tables, file.state(), historySince);
  await writeCompacted(file, compacted);
  return finish(file, before, compacted, warn);
}

/**
 * The same if it is worth it, and there is room for the new file beside the old one; undefined otherwise. The file must not
 * be in use yet.
 */
export async function shrinkIfWorthIt(file: LmdbFile, historySince: number, warn: Warn): Promise<Shrunk | undefined> {
  const space = file.space();
  if (space.file < LEAST_BYTES) return undefined;
  const compacted = lastRevisionBefore(file.tables, file.state(), historySince);
  const wanted = wantedBytes(file, space, compacted);
  if (wanted > space.file * (1 - LEAST_SHARE)) return undefined;
  if (space.diskFree < wanted + DISK_RESERVE_BYTES) {
    warn(`${file.path} could be made smaller, but there is no room beside it for a new one`);
    return undefined;
  }
  try {
    await writeCompacted(file, compacted);
  } catch (error) {
    warn(
      `${file.path} could not be made smaller, and stays as it is: ${error instanceof Error ? error.message : String(error)}`,
    );
    return undefined;
  }
  return finish(file, space, compacted, warn);
}

async function finish(file: LmdbFile, before: SpaceReading, compacted: Revision, warn: Warn): Promise<Shrunk> {
  const replaced = await replaceFile(file, warn);
  return { file: replaced, bytesBefore: before.file, bytesAfter: replaced.space().file, compacted };
}

/** About what the file would need: what is in use, less the share of writes that only history holds. */
function wantedBytes(file: LmdbFile, { inUse }: SpaceReading, compacted: Revision): number {
  const writes = entryCount(file.tables.log);
  const kept = entryCount(file.tables.current) + (file.state().revision - compacted);
  return writes === 0 ? inUse : inUse * Math.min(1, kept / writes);
}
