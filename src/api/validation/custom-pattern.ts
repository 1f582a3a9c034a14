import { LRUCache } from 'lru-cache';
import { PatternError, readPattern } from '../patterns/read-pattern';

/** Schemas repeat theirs, quantities above all. No long ones. */
const readable = new LRUCache<string, true>({ max: 256 });
const LONG = 1_000;

/** Why a text is no pattern, in the words of Go's parser; undefined when it is one. */
export function patternProblem(pattern: string): string | undefined {
  if (readable.has(pattern)) return undefined;
  try {
    readPattern(pattern);
  } catch (error) {
    if (error instanceof PatternError) return error.message;
    throw error;
  }
  if (pattern.length < LONG) readable.set(pattern, true);
  return undefined;
}
