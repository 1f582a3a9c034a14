import { countCharacters } from '../count-characters';
import type { CallExpr, Expr, MapEntry, StructExpr } from './ast';
import { tokenize, type Token } from './lexer';
import { literalOf } from './literals';
import { expandMacro } from './macros';
import { CelSyntaxError, MAX_PROBLEMS, type SourceProblem } from './source-error';

/**
 * Longer texts are not read: a character takes one or two microseconds from parser to evaluator, and an expression is one step.
 */
const MAX_LENGTH = 10_000;
/** As cel-go limits it. A nesting takes some ten frames of the stack here and in each later stage. */
const MAX_DEPTH = 250;
/** A chain (`a + b + c`, `a.b.c`) may have four times as many members. */
const CHAIN_STEP = 0.25;

const RESERVED: ReadonlySet<string> = new Set(
  'as break const continue else for function if import in let loop package namespace return true false null var void while'.split(
    ' ',
  ),
);

const OPERAND =
  "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";

const RELATIONS: Readonly<Record<string, string>> = {
  '<': '_<_',
  '<=': '_<=_',
  '>': '_>_',
  '>=': '_>=_',
  '==': '_==_',
  '!=': '_!=_',
  in: '@in',
};
const SUMS: Readonly<Record<string, string>> = { '+': '_+_', '-': '_-_' };
const PRODUCTS: Readonly<Record<string, string>> = { '*': '_*_', '/': '_/_', '%': '_%_' };

/** The tree of an expression (CEL specification, "Syntax"), in linear time. Throws a CelSyntaxError. */
export function parse(source: string): Expr {
  const length = source.length > MAX_LENGTH ? countCharacters(source) : 0;
  if (length > MAX_LENGTH) {
    const message = `expression code point size exceeds limit: size: ${length}, limit ${MAX_LENGTH}`;
    throw new CelSyntaxError('', [{ position: 0, message }]);
  }
  return new Parser(source).parse();
}

class Parser {
  readonly #source: string;
  readonly #tokens: readonly Token[];
  readonly #problems: SourceProblem[] = [];
  #index = 0;
  #depth = 0;

  constructor(source: string) {
    this.#source = source;
    this.#tokens = tokenize(source);
  }

  parse(): Expr {
    const expr = this.#expr();
    const rest = this.#token();
    if (rest.kind !== 'end') this.#fail(rest, `Syntax error: mismatched input '${rest.text}' expecting <EOF>`);
    if (this.#problems.length > 0) throw new CelSyntaxError(this.#source, this.#problems);
    return expr;
  }

  #token(ahead = 0): Token {
    return this.#tokens[Math.min(this.#index + ahead, this.#tokens.length - 1)] as Token;
  }

  #take(): Token {
    const token = this.#token();
    this.#index += 1;
    return token;
  }

  #isSymbol(text: string, ahead = 0): boolean {
    const token = this.#token(ahead);
    return token.kind === 'symbol' && token.text === text;
  }

  #takeIf(text: string): Token | undefined {
    return this.#isSymbol(text) ? this.#take() : undefined;
  }

  #expect(text: string): Token {
    const token = this.#token();
    if (!this.#isSymbol(text)) this.#fail(token, `Syntax error: mismatched input '${token.text}' expecting '${text}'`);
    return this.#take();
  }

  /** What follows cannot be told any more. */
  #fail({ position }: { readonly position: number }, message: string): never {
    throw new CelSyntaxError(this.#source, [...this.#problems, { position, message }]);
  }

  #report(position: number, message: string): void {
    if (this.#problems.length < MAX_PROBLEMS) this.#problems.push({ position, message });
  }

  #expr(): Expr {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) {
      const message = `expression recursion limit exceeded: ${MAX_DEPTH}`;
      throw new CelSyntaxError('', [{ position: 0, message }]);
    }
    const condition = this.#logical('||', '_||_', () => this.#logical('&&', '_&&_', () => this.#relation()));
    const mark = this.#takeIf('?');
    if (mark === undefined) {
      this.#depth -= 1;
      return condition;
    }
    const first = this.#logical('||', '_||_', () => this.#logical('&&', '_&&_', () => this.#relation()));
    this.#expect(':');
    const second = this.#expr();
    this.#depth -= 1;
    return call('_?_:_', mark.position, [condition, first, second]);
  }

  /** Long chains become balanced trees, so that they are no deeper than they need be. */
  #logical(symbol: string, name: string, operand: () => Expr): Expr {
    const terms = [operand()];
    const positions: number[] = [];
    for (let token = this.#takeIf(symbol); token !== undefined; token = this.#takeIf(symbol)) {
      positions.push(token.position);
      terms.push(operand());
    }
    const balanced = (low: number, high: number): Expr => {
      const middle = Math.floor((low + high + 1) / 2);
      const left = middle === low ? (terms[middle] as Expr) : balanced(low, middle - 1);
      const right = middle === high ? (terms[middle + 1] as Expr) : balanced(middle + 1, high);
      return call(name, positions[middle] ?? 0, [left, right]);
    };
    return positions.length === 0 ? (terms[0] as Expr) : balanced(0, positions.length - 1);
  }

  #relation(): Expr {
    return this.#chain(RELATIONS, () => this.#chain(SUMS, () => this.#chain(PRODUCTS, () => this.#unary())));
  }

  #chain(operators: Readonly<Record<string, string>>, operand: () => Expr): Expr {
    let left = operand();
    const before = this.#depth;
    for (;;) {
      const token = this.#token();
      const isOperator = token.kind === 'symbol' || token.text === 'in';
      const name =
        isOperator && token.kind !== 'string' && Object.hasOwn(operators, token.text)
          ? operators[token.text]
          : undefined;
      if (name === undefined) break;
      this.#index += 1;
      this.#deeper();
      left = call(name, token.position, [left, operand()]);
    }
    this.#depth = before;
    return left;
  }

  /** A chain's tree is as deep as the chain is long; the stages after this one walk it. */
  #deeper(): void {
    this.#depth += CHAIN_STEP;
    if (this.#depth > MAX_DEPTH) {
      throw new CelSyntaxError('', [{ position: 0, message: `expression recursion limit exceeded: ${MAX_DEPTH}` }]);
    }
  }

  #unary(): Expr {
    const token = this.#token();
    if (this.#isSymbol('!')) return this.#repeated('!', '!_', token);
    if (!this.#isSymbol('-')) return this.#member();
    const number = this.#token(1);
    if (number.kind === 'int' || number.kind === 'double') {
      this.#index += 1;
      return this.#member(token);
    }
    return this.#repeated('-', '-_', token);
  }

  /** Two of a kind cancel each other out. */
  #repeated(symbol: string, name: string, first: Token): Expr {
    let count = 0;
    while (this.#takeIf(symbol) !== undefined) count += 1;
    const operand = this.#member();
    return count % 2 === 0 ? operand : call(name, first.position, [operand]);
  }

  #member(minus?: Token): Expr {
    let expr = this.#primary(minus);
    const before = this.#depth;
    for (;;) {
      const dot = this.#takeIf('.');
      if (dot !== undefined) expr = this.#selection(expr, dot);
      else {
        const bracket = this.#takeIf('[');
        if (bracket === undefined) break;
        const name = this.#takeIf('?') === undefined ? '_[_]' : '_[?_]';
        const index = this.#expr();
        this.#expect(']');
        expr = call(name, bracket.position, [expr, index]);
      }
      this.#deeper();
    }
    this.#depth = before;
    return expr;
  }

  #selection(operand: Expr, dot: Token): Expr {
    const optional = this.#takeIf('?') !== undefined;
    const token = this.#take();
    if (token.kind !== 'ident' && token.kind !== 'escaped') {
      this.#fail(token, `Syntax error: mismatched input '${token.text}' expecting IDENTIFIER`);
    }
    const name = token.kind === 'escaped' ? token.text.slice(1, -1) : token.text;
    if (token.kind === 'ident' && (name === 'in' || name === 'true' || name === 'false' || name === 'null')) {
      this.#fail(token, `Syntax error: no viable alternative at input '.${name}'`);
    }
    if (optional) {
      return call('_?._', dot.position, [operand, { kind: 'const', position: token.position, value: name }]);
    }
    const open = token.kind === 'ident' ? this.#takeIf('(') : undefined;
    if (open === undefined) return { kind: 'select', position: dot.position, operand, field: name, testOnly: false };
    return this.#call(name, open, operand);
  }

  #call(name: string, open: Token, target?: Expr): Expr {
    const args = this.#list(')', () => this.#expr(), false);
    const plain: CallExpr = { ...call(name, open.position, args), ...(target === undefined ? {} : { target }) };
    return expandMacro(plain, (position, message) => this.#report(position, message)) ?? plain;
  }

  /** Elements up to the closing symbol, which is taken as well. */
  #list<Item>(closing: string, element: () => Item, trailingComma = true): Item[] {
    const items: Item[] = [];
    while (!this.#isSymbol(closing)) {
      items.push(element());
      if (this.#takeIf(',') === undefined) break;
      if (!trailingComma && this.#isSymbol(closing)) this.#operandMissing(this.#token());
    }
    this.#expect(closing);
    return items;
  }

  #operandMissing(token: Token): never {
    return this.#fail(token, `Syntax error: mismatched input '${token.text}' expecting ${OPERAND}`);
  }

  #primary(minus?: Token): Expr {
    const token = this.#take();
    switch (token.kind) {
      case 'int':
      case 'uint':
      case 'double':
      case 'string':
      case 'bytes': {
        const literal = literalOf(token, minus !== undefined);
        const position = (minus ?? token).position;
        if (typeof literal === 'string') this.#report(position, literal);
        return { kind: 'const', position, value: typeof literal === 'string' ? null : literal.value };
      }
      case 'ident':
        return this.#name(token, '');
      case 'symbol':
        return this.#bracketed(token);
      default:
        return this.#operandMissing(token);
    }
  }

  #bracketed(token: Token): Expr {
    switch (token.text) {
      case '(': {
        const expr = this.#expr();
        this.#expect(')');
        return expr;
      }
      case '[':
        return this.#listLiteral(token);
      case '{':
        return { kind: 'map', position: token.position, entries: this.#list('}', () => this.#mapEntry()) };
      case '.': {
        const name = this.#take();
        if (name.kind !== 'ident') this.#operandMissing(name);
        return this.#name(name, '.');
      }
      default:
        return this.#operandMissing(token);
    }
  }

  #listLiteral({ position }: Token): Expr {
    const optional = new Set<number>();
    let index = 0;
    const elements = this.#list(']', () => {
      if (this.#takeIf('?') !== undefined) optional.add(index);
      index += 1;
      return this.#expr();
    });
    return { kind: 'list', position, elements, optional };
  }

  #mapEntry(): MapEntry {
    const optional = this.#takeIf('?') !== undefined;
    const key = this.#expr();
    const { position } = this.#expect(':');
    return { key, value: this.#expr(), optional, position };
  }

  #name(token: Token, dot: '' | '.'): Expr {
    const { text, position } = token;
    if (dot === '' && (text === 'true' || text === 'false')) return { kind: 'const', position, value: text === 'true' };
    if (dot === '' && text === 'null') return { kind: 'const', position, value: null };
    if (text === 'in' || text === 'true' || text === 'false' || text === 'null') this.#operandMissing(token);
    if (RESERVED.has(text)) this.#report(position, `reserved identifier: ${text}`);
    const qualified = this.#structName(dot + text);
    if (qualified !== undefined) return qualified;
    const open = this.#takeIf('(');
    if (open !== undefined) return this.#call(dot + text, open);
    return { kind: 'ident', position, name: dot + text };
  }

  /** `a.b.Name{...}`: looks no further than the brace. */
  #structName(first: string): StructExpr | undefined {
    let ahead = 0;
    let name = first;
    while (this.#isSymbol('.', ahead) && this.#token(ahead + 1).kind === 'ident') {
      name += `.${this.#token(ahead + 1).text}`;
      ahead += 2;
    }
    if (!this.#isSymbol('{', ahead)) return undefined;
    this.#index += ahead;
    const { position } = this.#take();
    const fields = this.#list('}', () => {
      const optional = this.#takeIf('?') !== undefined;
      const field = this.#take();
      if (field.kind !== 'ident' && field.kind !== 'escaped') {
        this.#fail(field, `Syntax error: mismatched input '${field.text}' expecting IDENTIFIER`);
      }
      const colon = this.#expect(':');
      const written = field.kind === 'escaped' ? field.text.slice(1, -1) : field.text;
      return { field: written, value: this.#expr(), optional, position: colon.position };
    });
    return { kind: 'struct', position, name, fields };
  }
}

function call(name: string, position: number, args: readonly Expr[]): CallExpr {
  return { kind: 'call', position, name, args };
}
