const PERCENT = 0x25;
const [ZERO, NINE, LETTER_A] = [0x30, 0x39, 0x41];
/** Of a letter, whichever case it has. */
const UPPER_CASE = 0xdf;

/**
 * The parameters of a URL, parsed once. Repeated parameters keep their order and the first one counts; a pair with a `%` that
 * begins no escape is dropped, as kube-apiserver does. Bytes that are no UTF-8 are U+FFFD: a `dryRun=%ff` must not be a request
 * without a dry run.
 */
export class Query {
  static readonly EMPTY = new Query(new Map());

  /** A parameter that is not repeated has no list: a client that sends thousands would have as many kept for as long as it watches. */
  private constructor(private readonly values: ReadonlyMap<string, string | readonly string[]>) {}

  /** `search` is what follows the question mark. Never throws. */
  static parse(search: string): Query {
    if (search === '') return Query.EMPTY;
    const values = new Map<string, string | string[]>();
    for (const pair of search.split('&')) {
      if (pair === '') continue;
      const equals = pair.indexOf('=');
      const name = decodeComponent(equals < 0 ? pair : pair.slice(0, equals));
      const value = decodeComponent(equals < 0 ? '' : pair.slice(equals + 1));
      if (name === undefined || value === undefined) continue;
      const earlier = values.get(name);
      if (earlier === undefined) values.set(name, value);
      else if (typeof earlier === 'string') values.set(name, [earlier, value]);
      else earlier.push(value);
    }
    return new Query(values);
  }

  has(name: string): boolean {
    return this.values.has(name);
  }

  first(name: string): string | undefined {
    const found = this.values.get(name);
    return typeof found === 'object' ? found[0] : found;
  }

  all(name: string): readonly string[] {
    const found = this.values.get(name) ?? [];
    return typeof found === 'string' ? [found] : found;
  }

  /** The API's booleans: absent is false, `false` (in any case) and `0` are false, everything else is true. */
  flag(name: string): boolean {
    const value = this.first(name);
    return value !== undefined && value !== '0' && value.toLowerCase() !== 'false';
  }
}

const BAD_ESCAPE = /%(?![\da-f]{2})/i;
const NOT_ASCII_ESCAPE = /%[89a-f]/i;

/** Nothing is tried that throws: a client, whoever it is, can send tens of thousands of parameters, and an error takes microseconds. */
function decodeComponent(text: string): string | undefined {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text;
  if (!spaced.includes('%')) return spaced;
  if (BAD_ESCAPE.test(spaced)) return undefined;
  return NOT_ASCII_ESCAPE.test(spaced) ? decodeBytes(spaced) : decodeURIComponent(spaced);
}

/** Of a text whose escapes are right. What is decoded takes the place of what it was. */
function decodeBytes(text: string): string {
  const bytes = Buffer.from(text);
  let length = 0;
  for (let index = 0; index < bytes.length; index++) {
    let byte = bytes[index] as number;
    if (byte === PERCENT) byte = (hexDigit(bytes[++index] as number) << 4) | hexDigit(bytes[++index] as number);
    bytes[length++] = byte;
  }
  return bytes.toString('utf8', 0, length);
}

function hexDigit(code: number): number {
  return code <= NINE ? code - ZERO : (code & UPPER_CASE) - LETTER_A + 10;
}
