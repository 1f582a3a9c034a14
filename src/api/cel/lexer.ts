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

function next(source: string, position: number, matchAt: (pattern: RegExp) => string | undefined): Token | undefined {
  const start = matchAt(STRING_START);
  if (start !== undefined) {
    const text = stringAt(source, position, start);
    if (text === undefined) return undefined;
    return { kind: /^[rR]?[bB]/.test(start) ? 'bytes' : 'string', text, position };
  }
  const double = matchAt(DOUBLE);
  if (double !== undefined && !/^0x/.test(source.slice(position, position + 2))) {
    return { kind: 'double', text: double, position };
  }
  const integer = matchAt(INTEGER);
  if (integer !== undefined) {
    const suffix = source[position + integer.length];
    if (suffix === 'u' || suffix === 'U') return { kind: 'uint', text: integer + suffix, position };
    return { kind: 'int', text: integer, position };
  }
  const ident = matchAt(IDENT);
  if (ident !== undefined) return { kind: 'ident', text: ident, position };
  const escaped = matchAt(ESCAPED);
  if (escaped !== undefined) return { kind: 'escaped', text: escaped, position };
  const symbol = matchAt(SYMBOL);
  return symbol === undefined ? undefined : { kind: 'symbol', text: symbol, position };
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
