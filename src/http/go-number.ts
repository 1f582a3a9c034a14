import { badRequest } from '../api/errors/status-error';

const INT64_MAX = 9_223_372_036_854_775_807n;
const INT64_DIGITS = 19;

/** An integer of the query. Throws the API's 400 for anything else, in the words that clients know. */
export function parseIntParameter(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[+-]?\d+$/.test(text)) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  // A number of many digits takes longer to read than it is long.
  if (text.replace(/^[+-]?0*/, '').length > INT64_DIGITS) {
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: value out of range`);
  }
  const value = BigInt(text.replace(/^\+/, ''));
  if (value > INT64_MAX || value < -INT64_MAX - 1n) {
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: value out of range`);
  }
  return Number(value);
}
