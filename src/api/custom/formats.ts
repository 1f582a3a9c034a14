import { isIPv4, isIPv6 } from 'node:net';

const ATOM = "[A-Za-z0-9!#$%&'*+\\-/=?^_`{|}~\\u0080-\\u{10ffff}]+";
const DOTTED = `${ATOM}(?:\\.${ATOM})*`;
const QUOTED = '"(?:[^"\\\\\\r\\n]|\\\\.)*"';
const ADDRESS = `(?:${DOTTED}|${QUOTED})[ \\t]*@[ \\t]*${DOTTED}`;
/** Before an address in angle brackets: words, with points, and quoted texts. */
const DISPLAY_NAME = `(?:[A-Za-z0-9!#$%&'*+\\-/=?^_\`{|}~\\u0080-\\u{10ffff}. \\t]|${QUOTED})*`;
/** RFC 5322's mailbox: with a name or without, and a comment behind it. */
const MAIL_ADDRESS = new RegExp(
  `^[ \\t]*(?:${ADDRESS}|${DISPLAY_NAME}<[ \\t]*${ADDRESS}[ \\t]*>)[ \\t]*(?:\\([^()]*\\)[ \\t]*)?$`,
  'u',
);

/** To look through megabytes for a book's number or an address takes tenths of a second. */
const MAX_LENGTH = 10_000;
/** What may be longer. */
const OF_ANY_LENGTH: ReadonlySet<string> = new Set(['byte', 'password', 'uri']);

const CHECKS: readonly (readonly [format: string, fits: (text: string) => boolean])[] = [
  // Taken together these say that each four characters, filled up, are three bytes; to look for fours takes four times as long.
  ['byte', (text) => text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)],
  ['bsonobjectid', matches(/^[0-9a-fA-F]{24}$/)],
  ['cidr', isCidr],
  ['creditcard', isCreditCard],
  ['date', isDate],
  ['date-time', isDateTime],
  ['datetime', isDateTime],
  ['duration', isDuration],
  ['email', matches(MAIL_ADDRESS)],
  ['hexcolor', matches(/^#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/)],
  ['hostname', isHostname],
  ['ipv4', isIPv4],
  ['ipv6', isIPv6],
  ['isbn', (text: string) => isIsbn10(text) || isIsbn13(text)],
  ['isbn10', isIsbn10],
  ['isbn13', isIsbn13],
  ['mac', matches(/^(?:[0-9a-f]{2}([:-])(?:[0-9a-f]{2}\1){4,18}[0-9a-f]{2}|[0-9a-f]{4}(?:\.[0-9a-f]{4}){2,9})$/i)],
  ['password', () => true],
  ['rgbcolor', isRgbColor],
  ['ssn', matches(/^\d{3}[- ]?\d{2}[- ]?\d{4}$/)],
  ['uri', isUri],
  ['uuid', matches(/^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i)],
  ['uuid3', matches(/^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i)],
  ['uuid4', matches(/^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i)],
  ['uuid5', matches(/^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i)],
];

/** The formats of texts that kube-apiserver checks; others say nothing. */
export const FORMATS: ReadonlyMap<string, (text: string) => boolean> = new Map(
  CHECKS.map(([format, fits]) => [format, OF_ANY_LENGTH.has(format) ? fits : short(fits)]),
);

function short(fits: (text: string) => boolean): (text: string) => boolean {
  return (text) => text.length <= MAX_LENGTH && fits(text);
}

function matches(pattern: RegExp): (text: string) => boolean {
  return (text) => pattern.test(text);
}

/** A calendar day that exists. */
function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const time = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(text);
}

/** RFC 3339 with a zone; seconds of 60 are leap seconds. */
function isDateTime(text: string): boolean {
  const match =
    /^(\d{4}-\d{2}-\d{2})[Tt ]([01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):?[0-5]\d)$/.exec(
      text,
    );
  return match !== null && isDate(match[1] ?? '');
}

const GO_DURATION = /^[+-]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h))+)$/;
/** Looked for where digits begin only: from within a long run of them the search would cost the square of its length. */
const AMOUNT_OF_TIME = /(?<!\d)(\d+)\s*([A-Za-z\u00b5]+)/g;
const SHORT_UNITS: ReadonlySet<string> = new Set(['ns', 'us', 'µs', 'ms', 's', 'm', 'h', 'hr', 'd', 'w', 'wk']);
const LONG_UNIT = /^(?:nano|micro|milli|sec|min|hour|day|week)/;
const MAX_INT64 = 2 ** 63;

/** Go's durations (`1h30m`, `-5ms`), and any text in which a number of a unit stands (`3 days`, `about 2 weeks`). */
function isDuration(text: string): boolean {
  if (GO_DURATION.test(text)) return true;
  const amounts = [...text.matchAll(AMOUNT_OF_TIME)];
  if (amounts.some(([, digits]) => Number(digits) >= MAX_INT64)) return false;
  return amounts.some(([, , unit = '']) => SHORT_UNITS.has(unit.toLowerCase()) || LONG_UNIT.test(unit.toLowerCase()));
}

const HOST_CHARACTER = 'a-zA-Z0-9\\p{S}\\p{L}';
/** One label with at most one hyphen, behind its first character; or labels that end in a top-level domain. */
const HOST_NAME = new RegExp(
  `^(?:[${HOST_CHARACTER}](?:-?[${HOST_CHARACTER}]{0,62})?|` +
    `(?:[${HOST_CHARACTER}](?:[${HOST_CHARACTER}-]{0,61}[${HOST_CHARACTER}])?\\.)+[a-zA-Z\\p{L}]{2,63})$`,
  'u',
);

function isHostname(text: string): boolean {
  if (Buffer.byteLength(text) > 255 || !HOST_NAME.test(text)) return false;
  return text.split('.').every((label) => Buffer.byteLength(label) <= 63);
}

function isCidr(text: string): boolean {
  const slash = text.indexOf('/');
  if (slash < 0 || !/^\d{1,3}$/.test(text.slice(slash + 1))) return false;
  const address = text.slice(0, slash);
  const bits = Number(text.slice(slash + 1));
  return (isIPv4(address) && bits <= 32) || (isIPv6(address) && bits <= 128);
}

// eslint-disable-next-line no-control-regex -- what no address may have
const BLANK_OR_CONTROL = /[\s\0-\x1f\x7f-\x9f]/;

/** What a request line may hold: an absolute path or an absolute URI. */
function isUri(text: string): boolean {
  if (BLANK_OR_CONTROL.test(text) || /%(?![0-9a-fA-F]{2})/.test(text)) return false;
  return text === '*' || text.startsWith('/') || /^[A-Za-z][A-Za-z0-9+.-]*:/.test(text);
}

function isRgbColor(text: string): boolean {
  const match = /^rgb\(\s*(\d{1,3})\s*,\s*(\d{1,3})\s*,\s*(\d{1,3})\s*\)$/.exec(text);
  return match !== null && match.slice(1).every((part) => Number(part) <= 255);
}

function digitsOf(text: string): string {
  return text.replace(/[\s-]/g, '');
}

function isIsbn10(text: string): boolean {
  const digits = digitsOf(text);
  if (!/^\d{9}[\dX]$/.test(digits)) return false;
  const sum = [...digits].reduce(
    (total, digit, index) => total + (10 - index) * (digit === 'X' ? 10 : Number(digit)),
    0,
  );
  return sum % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const digits = digitsOf(text);
  if (!/^\d{13}$/.test(digits)) return false;
  return [...digits].reduce((total, digit, index) => total + Number(digit) * (index % 2 === 0 ? 1 : 3), 0) % 10 === 0;
}

/** By the check digit (Luhn). */
function isCreditCard(text: string): boolean {
  const digits = digitsOf(text);
  if (!/^\d{13,19}$/.test(digits)) return false;
  const sum = [...digits].reverse().reduce((total, digit, index) => {
    const value = Number(digit) * (index % 2 === 0 ? 1 : 2);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return sum % 10 === 0;
}
