import type { Work } from '../../async/loop-work';
import { Turn } from '../../async/turn';
import type { CacheEntry } from '../../storage/cache/cache';
import { bodyPieces, storedBytes, type ListParts } from './lists/list-parts';
import type { WireForm } from './wire-form';

/** Bytes of an answer that the audit log takes; a longer list is not recorded. */
export const MAX_RECORDED_BYTES = 4 * 1024 * 1024;

/** In place of an answer that is too long. */
export const NOT_RECORDED = 'too long';

/** The JSON of an answered object, from its stored bytes. */
export function recordedObject(form: WireForm, entry: CacheEntry): string {
  return `${form.objectHead.toString('utf8')}${form.body(entry).toString('utf8')}`;
}

/** The JSON of an answered list, made in turns with others. */
export async function recordedList(
  entries: readonly CacheEntry[],
  parts: () => ListParts,
  work: Work | string,
): Promise<string> {
  if (storedBytes(entries) > MAX_RECORDED_BYTES) return NOT_RECORDED;
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  const turn = new Turn(work);
  for (const made of bodyPieces(parts())) {
    for (const piece of await made) {
      pieces.push(piece);
      bytes += piece.length;
    }
    // The rows of tables may be longer than their objects.
    if (bytes > MAX_RECORDED_BYTES) return NOT_RECORDED;
    if (made instanceof Promise) turn.restart();
    else if (turn.isOver) await turn.next();
  }
  return Buffer.concat(pieces).toString('utf8').trimEnd();
}
