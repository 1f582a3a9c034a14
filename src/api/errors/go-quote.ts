import { shownText } from './shown-value';

/** What Go's strconv.IsPrint lets stand: letters, marks, numbers, punctuation, symbols, and the plain space. */
const UNPRINTABLE = /["\\]|[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu;

const NAMED_ESCAPES: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
};

function escape(character: string): string {
  const named = NAMED_ESCAPES[character];
  if (named !== undefined) return named;
  const code = character.codePointAt(0) as number;
  if (code < 0x80) return `\\x${code.toString(16).padStart(2, '0')}`;
  // Half of a pair is no character: Go reads it as U+FFFD, which it prints.
  if (code >= 0xd800 && code <= 0xdfff) return '\ufffd';
  return code <= 0xffff ? `\\u${code.toString(16).padStart(4, '0')}` : `\\U${code.toString(16).padStart(8, '0')}`;
}

/** The same for texts of ASCII alone, in a third of the time. */
const UNPRINTABLE_ASCII = /[^ !#-[\]-~]/g;
const BEYOND_ASCII = /[\u0080-\uffff]/;

/** What is printed as it stands, which is nearly all: to look for that is ten times as fast. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** A text as Go's `%q` prints it. */
export function quoteWhole(text: string): string {
  if (PLAIN.test(text)) return `"${text}"`;
  return `"${text.replace(BEYOND_ASCII.test(text) ? UNPRINTABLE : UNPRINTABLE_ASCII, escape)}"`;
}

/** The same for messages, which quote what clients sent like this: of a long text the beginning. */
export function quoteGo(text: string): string {
  return quoteWhole(shownText(text));
}
