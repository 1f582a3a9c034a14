import { LRUCache } from 'lru-cache';
import { RE2JS } from 're2js';
import { MAX_PATTERN_SIZE, PATTERN_TOO_LARGE, patternSize } from '../patterns/pattern-size';

/** Schemas repeat theirs, quantities above all. No long ones. */
const readable = new LRUCache<string, true>({ max: 256 });
const LONG = 1_000;

/** Why a text is no pattern, in the words of Go's parser; undefined when it is one. */
export function patternProblem(pattern: string): string | undefined {
  if (readable.has(pattern)) return undefined;
  if (patternSize(pattern) > MAX_PATTERN_SIZE) return PATTERN_TOO_LARGE;
  try {
    RE2JS.compile(pattern);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  if (pattern.length < LONG) readable.set(pattern, true);
  return undefined;
}
