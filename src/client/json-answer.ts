import { JsonPieces, MalformedJsonError } from '../api/codec/json-pieces';
import { atOnce, type Steps } from '../api/parts';
import { runSteps } from '../async/steps';

/** From here on an answer is read in pieces: a megabyte of short names or of brackets takes the platform 100 ms. */
const LARGE_CHARACTERS = 64 * 1024;
const PIECE_BYTES = 32 * 1024;
/** Lists, maps and what they hold. */
const MAX_VALUES = 100_000;

/** What a peer's answer says. Rejects with an Error for what is no JSON, or has too many values. */
export async function readJsonAnswer(text: string): Promise<unknown> {
  const steps = readJsonAnswerInSteps(text);
  return text.length <= LARGE_CHARACTERS ? atOnce(steps) : runSteps(steps, 'reading the answer of a webhook');
}

/** The same in steps; one for a short text. */
export function* readJsonAnswerInSteps(text: string): Steps<unknown> {
  if (text.length <= LARGE_CHARACTERS) {
    try {
      return JSON.parse(text) as unknown;
    } catch (error) {
      throw new Error(inGoWords(error as Error, text), { cause: error });
    }
  }
  try {
    return yield* new JsonPieces(Buffer.from(text), { maxValues: MAX_VALUES, pieceBytes: PIECE_BYTES }).steps();
  } catch (error) {
    // To find the place would be to read it at one stretch.
    if (error instanceof MalformedJsonError)
      throw new Error(`invalid JSON of ${text.length} characters`, { cause: error });
    throw error;
  }
}

function inGoWords(error: Error, text: string): string {
  const position = /position (\d+)/.exec(error.message)?.[1];
  if (position === undefined || Number(position) >= text.trimEnd().length) return 'unexpected end of JSON input';
  const first = text.trimStart()[0] ?? '';
  return /[[{"\d-]/.test(first) ? error.message : `invalid character '${first}' looking for beginning of value`;
}
