import { exactInteger } from '../../api/codec/exact-json';
import { quoteGo } from '../../api/errors/go-quote';
import { badRequest } from '../../api/errors/status-error';

const INT64_MAX = 9_223_372_036_854_775_807n;
const INT64_DIGITS = 19;

/** An int64 of the query, with all its digits. Throws the API's 400 for anything else, in the words that clients know. */
export function parseInt64Parameter(text: string | undefined): number | bigint | undefined {
  if (text === undefined) return undefined;
  if (!/^[+-]?\d+$/.test(text)) throw badRequest(`strconv.ParseInt: parsing ${quoteGo(text)}: invalid syntax`);
  // A number of many digits takes longer to read than it is long.
  if (text.replace(/^[+-]?0*/, '').length > INT64_DIGITS) {
    throw badRequest(`strconv.ParseInt: parsing ${quoteGo(text)}: value out of range`);
  }
  const value = BigInt(text.replace(/^\+/, ''));
  if (value > INT64_MAX || value < -INT64_MAX - 1n) {
    throw badRequest(`strconv.ParseInt: parsing ${quoteGo(text)}: value out of range`);
  }
  return exactInteger(value);
}

/** An integer of the query, rounded beyond 2^53. */
export function parseIntParameter(text: string | undefined): number | undefined {
  const value = parseInt64Parameter(text);
  return typeof value === 'bigint' ? Number(value) : value;
}
