import { quoteShown } from '../api/errors/shown-value';
import { badRequest } from '../api/errors/status-error';
import type { Revision } from '../storage/store';

const UINT64_LIMIT = 1n << 64n;
/** Numbers with so many digits are all exact. */
const SAFE_DIGITS = 15;
const UINT64_DIGITS = 20;

/**
 * What a client's resourceVersion asks for: nothing in particular (absent or empty), any state (`0`), or a revision.
 * Beyond 2^53 a revision is out of reach anyway and reads as the largest safe number. Throws 400 for other texts.
 */
export function parseResourceVersion(text: string | undefined): 'unset' | 'any' | Revision {
  if (text === undefined || text === '') return 'unset';
  const isNumber = /^[0-9]+$/.test(text);
  if (!isNumber || (text.length > SAFE_DIGITS && isBeyondUint64(text))) {
    const problem = isNumber ? 'value out of range' : 'invalid syntax';
    throw badRequest(
      `invalid resource version: resourceVersion: Invalid value: ${quoteShown(text)}: strconv.ParseUint: parsing ${quoteShown(text)}: ${problem}`,
    );
  }
  const number = Math.min(Number(text), Number.MAX_SAFE_INTEGER);
  return number === 0 ? 'any' : (number as Revision);
}

/** A number of many digits takes longer to read than it is long, so that they are counted first. */
function isBeyondUint64(digits: string): boolean {
  const significant = digits.replace(/^0+/, '');
  return significant.length > UINT64_DIGITS || BigInt(significant || '0') >= UINT64_LIMIT;
}
