import { parseExact, stringifyExact } from '../../api/codec/exact-json';
import type { ObjectMeta } from '../../api/object';
import type { CacheEntry } from './cache';
import { endOfValue } from './json-scan';

const METADATA = Buffer.from('"metadata":{');
/** Where the value begins. */
const START = METADATA.length - 1;

/**
 * The JSON text of an entry's metadata, a view of its body: a list of 100,000 objects reduced to their metadata would
 * otherwise pay for 100,000 whole parses.
 */
export function metadataText(entry: CacheEntry): Buffer {
  const { body } = entry;
  const end = body.compare(METADATA, 0, METADATA.length, 0, METADATA.length) === 0 ? endOfValue(body, START) : -1;
  // Another field comes first only where it is named by an integer, which JavaScript puts before all else.
  return end < 0 ? Buffer.from(stringifyExact(entry.object.metadata)) : body.subarray(START, end);
}

/** The metadata, parsed without the rest of the object. */
export function metadataOf(entry: CacheEntry): ObjectMeta {
  return parseExact(metadataText(entry).toString('utf8')) as ObjectMeta;
}
