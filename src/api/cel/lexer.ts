import { CelSyntaxError } from './source-error';

export type TokenKind = 'int' | 'uint' | 'double' | 'string' | 'bytes' | 'ident' | 'escaped' | 'symbol' | 'end';

export interface Token {
  readonly kind: TokenKind;
  /** As written; of strings with their quotes. */
  readonly text: string;
  readonly position: number;
}

const BLANK = /(?:[\t\n\f\r ]+|\/\/[^\n]*)+/y;
const IDENT = /[_a-zA-Z][_a-zA-Z0-9]*/y;
const ESCAPED = /`[a-zA-Z0-9_.\-/ ]+`/y;
const DOUBLE = /(?:\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?)/y;
const INTEGER = /(?:0x[0-9a-fA-F]+|\d+)/y;
const STRING_START = /(?:[rR][bB]?|[bB][rR]?)?("""|'''|"|')/y;
const SYMBOL = /==|!=|<=|>=|&&|\|\||[-+*/%<>!?:.,()[\]{}]/y;

/** The tokens of an expression, the last of kind `end`. Linear in its length. Throws a CelSyntaxError. */
export function tokenize(source: string): readonly Token[] {
  const tokens: Token[] = [];
  let position = 0;
  const matchAt = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = position;
    return pattern.exec(source)?.[0];
  };
  for (;;) {
    position += matchAt(BLANK)?.length ?? 0;
    if (position >= source.length) break;
    const token = next(source, position, matchAt);
    if (token === undefined) {
      const character = String.fromCodePoint(source.codePointAt(position) ?? 0);
      throw new CelSyntaxError(source, [
        { position, message: `Syntax error: token recognition error at: '${character}'` },
      ]);
    }
    tokens.push(token);
    position += token.text.length;
  }
  tokens.push({ kind: 'end', text: '<EOF>', position: source.length });
  return tokens;
}

const LETTER = /[_a-zA-Z]/;
const DIGIT = /[0-9]/;

/** The first character tells which kinds a token may be of. */
function next(source: string, position: number, matchAt: (pattern: RegExp) => string | undefined): Token | undefined {
  const first = source[position] ?? '';
  if (first === '"' || first === "'" || /[rRbB]/.test(first)) {
    const start = matchAt(STRING_START);
    if (start !== undefined) {
      const text = stringAt(source, position, start);
      const kind = /^[rR]?[bB]/.test(start) ? 'bytes' : 'string';
      return text === undefined ? undefined : { kind, text, position };
    }
  }
  if (LETTER.test(first)) return { kind: 'ident', text: matchAt(IDENT) ?? '', position };
  if (DIGIT.test(first) || (first === '.' && DIGIT.test(source[position + 1] ?? '')))
    return numberAt(source, position, matchAt);
  const kind = first === '`' ? 'escaped' : 'symbol';
  const text = matchAt(kind === 'escaped' ? ESCAPED : SYMBOL);
  return text === undefined ? undefined : { kind, text, position };
}

function numberAt(source: string, position: number, matchAt: (pattern: RegExp) => string | undefined): Token {
  const double = source.startsWith('0x', position) ? undefined : matchAt(DOUBLE);
  if (double !== undefined) return { kind: 'double', text: double, position };
  const integer = matchAt(INTEGER) ?? '';
  const suffix = source[position + integer.length];
  const isUnsigned = suffix === 'u' || suffix === 'U';
  return isUnsigned ? { kind: 'uint', text: integer + suffix, position } : { kind: 'int', text: integer, position };
}

/** From prefix to closing quote; undefined when it is not closed. */
function stringAt(source: string, position: number, start: string): string | undefined {
  const quote = start.replace(/^[a-zA-Z]+/, '');
  const raw = /^[bB]?[rR]/.test(start);
  const multiline = quote.length === 3;
  let index = position + start.length;
  while (index < source.length) {
    if (source.startsWith(quote, index)) return source.slice(position, index + quote.length);
    const character = source[index];
    if (!multiline && (character === '\n' || character === '\r')) return undefined;
    index += character === '\\' && !raw ? 2 : 1;
  }
  return undefined;
}
