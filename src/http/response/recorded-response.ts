import type { CacheEntry } from '../../storage/cache/cache';
import { listPieces, type ListParts } from './lists/list-parts';
import type { WireForm } from './wire-form';

/** Bytes of an answer that the audit log takes; a longer list is not recorded. */
export const MAX_RECORDED_BYTES = 4 * 1024 * 1024;

/** In place of an answer that is too long. */
export const NOT_RECORDED = 'too long';

/** The JSON of an answered object, from its stored bytes. */
export function recordedObject(form: WireForm, entry: CacheEntry): string {
  return `${form.objectHead.toString('utf8')}${form.body(entry).toString('utf8')}`;
}

/** The JSON of an answered list. */
export function recordedList(entries: readonly CacheEntry[], parts: () => ListParts): string {
  let bytes = 0;
  for (const { body } of entries) bytes += body.length;
  if (bytes > MAX_RECORDED_BYTES) return NOT_RECORDED;
  const pieces = [...listPieces(parts())].flat();
  return Buffer.concat(pieces).toString('utf8').trimEnd();
}
