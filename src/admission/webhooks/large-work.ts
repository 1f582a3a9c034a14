import { JsonPieces, MalformedJsonError } from '../../api/codec/json-pieces';
import { parseJson } from '../../api/codec/json-syntax';
import type { MaybePromise } from '../../api/maybe-promise';
import { atOnce, isLarge, type Steps } from '../../api/parts';
import type { AdmissionAttributes } from '../plugin';

/** From here on a text is read in pieces. */
const LARGE_TEXT_BYTES = 64 * 1024;
/** Some tenths of a millisecond. */
const PIECE_BYTES = 32 * 1024;
/** Lists, maps and what they hold, in an answer or a patch: as many as a client may send. */
const MAX_VALUES = 100_000;

/** Does work on objects or texts of which some are large in turns with other requests, and all other work at once. */
export function takeTurns<T>(
  { takeSteps }: Pick<AdmissionAttributes, 'takeSteps'>,
  work: Steps<T>,
  ...on: readonly unknown[]
): MaybePromise<T> {
  return on.some(isLargeWork) ? takeSteps(work) : atOnce(work);
}

function isLargeWork(value: unknown): boolean {
  return Buffer.isBuffer(value) ? value.length > LARGE_TEXT_BYTES : isLarge(value);
}

/** What a JSON text says. Throws an Error for what is none, or has too many values. */
export function* readJson(bytes: Buffer): Steps<unknown> {
  if (bytes.length <= LARGE_TEXT_BYTES) return parseJson(bytes.toString('utf8'), bytes);
  const pieces = new JsonPieces(bytes, { maxValues: MAX_VALUES, pieceBytes: PIECE_BYTES });
  try {
    return yield* pieces.steps();
  } catch (error) {
    throw error instanceof MalformedJsonError ? new Error('the text is no JSON', { cause: error }) : error;
  }
}
