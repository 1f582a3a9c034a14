import { createHash } from 'node:crypto';
import { stringifyExact } from '../codec/exact-json';
import type { JsonValue } from '../object';
import { isLarge, type Steps } from '../parts';

/** The large texts of documents, some at a time, so that others need not wait for the whole of them. */

/** Some tenths of a millisecond for a hash, which is the slowest. */
const BYTES_AT_ONCE = 256 * 1024;

/** As {@link stringifyExact}. */
export function* stringifySteps(value: JsonValue): Steps<Buffer> {
  const pieces: string[] = [];
  yield* addText(value, pieces);
  return Buffer.from(pieces.join(''));
}

function* addText(value: JsonValue, pieces: string[]): Steps<void> {
  if (!isLarge(value)) {
    pieces.push(stringifyExact(value));
    return;
  }
  const isList = Array.isArray(value);
  let separator = isList ? '[' : '{';
  for (const [name, member] of Object.entries(value as object) as (readonly [string, JsonValue | undefined])[]) {
    if (member === undefined) continue;
    pieces.push(isList ? separator : `${separator}${JSON.stringify(name)}:`);
    separator = ',';
    yield* addText(member, pieces);
    yield;
  }
  pieces.push(isList ? ']' : '}');
}

/** As `Buffer.concat`. */
export function* concatSteps(pieces: readonly Buffer[]): Steps<Buffer> {
  const whole = Buffer.allocUnsafe(pieces.reduce((sum, { length }) => sum + length, 0));
  let length = 0;
  let atPause = 0;
  for (const piece of pieces) {
    length += piece.copy(whole, length);
    if (length - atPause < BYTES_AT_ONCE) continue;
    atPause = length;
    yield;
  }
  return whole;
}

/** SHA-512 in upper-case hex: the entity tag of a document, and its hash in the index. */
export function* hashSteps(pieces: readonly Buffer[]): Steps<string> {
  const hash = createHash('sha512');
  let sincePause = 0;
  for (const piece of pieces) {
    for (let from = 0; from < piece.length; from += BYTES_AT_ONCE) {
      const part = piece.subarray(from, from + BYTES_AT_ONCE);
      hash.update(part);
      sincePause += part.length;
      if (sincePause < BYTES_AT_ONCE) continue;
      sincePause = 0;
      yield;
    }
  }
  return hash.digest('hex').toUpperCase();
}
