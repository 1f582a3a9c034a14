import type { MaybePromise } from '../../../../api/maybe-promise';
import { cacheLimit } from '../../../../memory/memory-limit';
import { DeflatedChunks } from './deflated-chunks';
import { storedPart, type DeflatedPart, type GzipFile } from './gzip-file';
import type { ListParts } from '../list-parts';
import { lengthOf } from '../../pieces';
import { runEnd, type RunLengths } from '../chunks/chunk-end';

/** Compressed runs of all resources. Nothing is kept for clients that do not take gzip. */
const MAX_REMEMBERED_BYTES = cacheLimit(64 * 1024 * 1024);
/**
 * Longer runs compress a little better; of a shorter one less is compressed again when an entry changes. From 64 KiB on the
 * ratio gains little, for deflate looks back at 32 KiB.
 */
const RUN_BYTES: RunLengths = { least: 32 * 1024, mean: 64 * 1024, most: 128 * 1024 };
/** Compressed at a time for one answer: half of the thread pool. */
const RUNS_AHEAD = 2;

const remembered = new DeflatedChunks(MAX_REMEMBERED_BYTES);

/**
 * A list as a gzip file, piece by piece, from runs of items that are compressed once for all lists. Runs are compressed only
 * a little ahead of what is asked for, and no more of them when nothing is asked for any more. A list whose head says how
 * long its items are has to be compressed as a whole before it can begin; until then the signal ends the work.
 */
export async function* gzipListPieces(
  file: GzipFile,
  list: ListParts,
  signal: AbortSignal,
  runs = remembered,
): AsyncGenerator<Uint8Array> {
  let parts: Iterable<DeflatedPart> | AsyncIterable<DeflatedPart> = itemParts(list, runs);
  let { head } = list;
  if (typeof head === 'function') {
    const all: DeflatedPart[] = [];
    for await (const part of parts) {
      signal.throwIfAborted();
      all.push(part);
    }
    head = head(lengthOf(all));
    parts = all;
  }
  yield file.head();
  yield file.part(storedPart(head));
  for await (const part of parts) yield file.part(part);
  yield file.part(storedPart(list.tail));
  yield file.tail();
}

/** The items' runs in order, with what separates them. */
async function* itemParts({ items, entries }: ListParts, runs: DeflatedChunks): AsyncGenerator<DeflatedPart> {
  const separator = storedPart(items.separator);
  const ahead: MaybePromise<DeflatedPart>[] = [];
  let next = 0;
  for (;;) {
    while (next < entries.length && ahead.length < RUNS_AHEAD) {
      const end = runEnd(entries, next, RUN_BYTES);
      ahead.push(runs.get(items, entries, next, end));
      next = end;
    }
    const run = ahead.shift();
    if (run === undefined) return;
    yield await run;
    if (ahead.length > 0 || next < entries.length) yield separator;
  }
}
