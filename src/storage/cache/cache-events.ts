import type { Revision, StoredValue, StoreEvent } from '../store';
import type { CacheEntry, CacheEvent } from './cache';
import type { EntryFactory } from './entry';

/** Told of a stored value that cannot be understood. */
export type ReportUndecodable = (value: StoredValue, error: unknown) => void;

/** The value's entry; undefined, and reported, when it cannot be decoded: one bad value must not hide the others. */
export function decodedOrReported(
  factory: EntryFactory,
  value: StoredValue,
  report: ReportUndecodable,
): CacheEntry | undefined {
  try {
    return factory.fromStored(value);
  } catch (error) {
    report(value, error);
    return undefined;
  }
}

/**
 * What readers see of a store's event, given the entry that stood there before. A value that is malformed does not
 * exist for them: writing one is a deletion of what stood there, and deleting it is nothing (undefined).
 */
export function toCacheEvent(
  factory: EntryFactory,
  event: StoreEvent,
  previous: CacheEntry | undefined,
  report: ReportUndecodable,
): CacheEvent | undefined {
  if (event.type === 'put') {
    const entry = decodedOrReported(factory, event, report);
    if (entry !== undefined) return { type: 'put', revision: event.revision, entry, previous };
  }
  return previous === undefined ? undefined : deletion(factory, previous, event.revision);
}

function deletion(factory: EntryFactory, previous: CacheEntry, revision: Revision): CacheEvent {
  return { type: 'delete', revision, entry: factory.deleted(previous, revision), previous };
}
