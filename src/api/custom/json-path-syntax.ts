/**
 * The dialect of JSONPath that printer columns are written in: fields (`.spec.replicas`, `.a\.b`, `['a\.b']`), `[0]`, `[-1]`,
 * `[1:3]`, `[::2]`, `[*]`, unions (`[0,2]`, `['a','b']`), descent (`..name`) and filters (`[?(@.type=="Ready")]`). Blanks between
 * the parts say nothing, `$` and `@` neither.
 */
export type PathStep =
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'every' }
  | { readonly kind: 'descend' }
  | {
      readonly kind: 'slice';
      readonly from: number;
      readonly to: number | undefined;
      readonly step: number | undefined;
    }
  | { readonly kind: 'index'; readonly index: number }
  | { readonly kind: 'union'; readonly members: readonly PathSteps[] }
  | { readonly kind: 'filter'; readonly left: PathSteps; readonly comparison: Comparison | undefined }
  /** A text, number or truth value in place of a path: what a filter compares with. */
  | { readonly kind: 'literal'; readonly value: string | number | boolean; readonly type: LiteralType }
  /** A word, such as `range`: it can be read, and leads nowhere. */
  | { readonly kind: 'word' };

export type LiteralType = 'text' | 'integer' | 'float' | 'boolean';
export type PathSteps = readonly PathStep[];

export interface Comparison {
  readonly operator: string;
  readonly right: PathSteps;
}

class PathSyntaxError extends Error {}

/** The steps of a path; undefined when it cannot be read. */
export function parseJsonPath(text: string): PathSteps | undefined {
  try {
    return new PathReader(`{${text}}`).readTemplate();
  } catch (error) {
    if (error instanceof PathSyntaxError) return undefined;
    throw error;
  }
}

const ENDS_FIELD = /[ \t\r\n.,[\]$@{}]/;
const STARTS_WORD = /[_\p{L}\p{Nd}]/u;
const NUMBER = /[+-]?[\d.]*/y;
const QUOTED_NAME = /^'([^']*)'$/;
const SLICE = /^(-?\d*)(?::(-?\d*))?(?::(-?\d*))?$/;
const COMPARED = /^([^!<>=]+)([!<>=]+)(.+)$/s;

class PathReader {
  private at = 0;

  constructor(private readonly text: string) {}

  /** What stands in the first pair of braces; what follows has to be readable as well. */
  readTemplate(): PathSteps {
    let first: PathSteps | undefined;
    while ((this.at = this.text.indexOf('{', this.at)) >= 0) {
      this.at++;
      const steps = this.readAction();
      first ??= steps;
    }
    return first ?? [];
  }

  private readAction(): PathSteps {
    const steps: PathStep[] = [];
    for (;;) {
      const { text, at } = this;
      if (text.startsWith('[?(', at)) steps.push(this.readFilter());
      else if (text.startsWith('..', at)) this.readDescent(steps);
      else {
        const character = text[at];
        if (character === '}') break;
        if (character === ' ' || character === '@' || character === '$') this.at++;
        else if (character === '[') steps.push(...this.readBrackets());
        else if (character === '"' || character === "'") steps.push(this.readQuoted(character));
        else if (character === '.') steps.push(this.readField(at + 1));
        else if (character !== undefined && /[+\-\d]/.test(character)) steps.push(this.readNumber());
        else if (STARTS_WORD.test(this.character())) steps.push(this.readWord());
        else throw new PathSyntaxError(`unexpected character at ${at}`);
      }
    }
    this.at++;
    return steps;
  }

  private character(): string {
    return String.fromCodePoint(this.text.codePointAt(this.at) ?? 0);
  }

  private readDescent(steps: PathStep[]): void {
    if (steps.at(-1)?.kind === 'descend') throw new PathSyntaxError('a descent after a descent');
    steps.push({ kind: 'descend' });
    this.at += 2;
    if (STARTS_WORD.test(this.character())) steps.push(this.readField(this.at));
  }

  private readField(start: number): PathStep {
    this.at = start;
    while (this.at < this.text.length && !ENDS_FIELD.test(this.text[this.at] ?? '')) {
      this.at += this.text[this.at] === '\\' ? 2 : 1;
    }
    const name = this.text.slice(start, this.at);
    return name === '*' ? { kind: 'every' } : { kind: 'field', name: name.replaceAll('\\', '') };
  }

  private readWord(): PathStep {
    const start = this.at;
    while (this.at < this.text.length && !ENDS_FIELD.test(this.text[this.at] ?? '')) this.at++;
    const word = this.text.slice(start, this.at);
    if (word !== 'true' && word !== 'false') return { kind: 'word' };
    return { kind: 'literal', value: word === 'true', type: 'boolean' };
  }

  private readNumber(): PathStep {
    NUMBER.lastIndex = this.at;
    const text = NUMBER.exec(this.text)?.[0] ?? '';
    this.at += text.length;
    if (/^[+-]?\d+$/.test(text)) return { kind: 'literal', value: Number(text), type: 'integer' };
    if (!/^[+-]?(\d+\.?\d*|\.\d+)$/.test(text)) throw new PathSyntaxError(`not a number: ${text}`);
    return { kind: 'literal', value: Number(text), type: 'float' };
  }

  private readQuoted(quote: string): PathStep {
    const start = this.at + 1;
    let end = start;
    while (this.text[end] !== quote || this.text[end - 1] === '\\') {
      if (end >= this.text.length || this.text[end] === '\n') throw new PathSyntaxError('unterminated text');
      end++;
    }
    this.at = end + 1;
    return { kind: 'literal', value: unquote(this.text.slice(start, end), quote), type: 'text' };
  }

  private readBrackets(): PathSteps {
    const start = this.at + 1;
    const end = this.text.indexOf(']', start);
    const inside = this.text.slice(start, end);
    if (end < 0 || inside.includes('\n')) throw new PathSyntaxError('unterminated brackets');
    this.at = end + 1;
    const members = inside.split(',');
    if (members.length === 1) return stepsInBrackets(inside);
    return [{ kind: 'union', members: members.map((member) => stepsInBrackets(member.replace(/^ +| +$/g, ''))) }];
  }

  /** The first closing parenthesis ends a filter, but not within its first quoted text. */
  private readFilter(): PathStep {
    const start = this.at + '[?('.length;
    let quote: string | undefined;
    let isClosed = false;
    let end = start;
    for (; ; end++) {
      const character = this.text[end];
      if (character === undefined || character === '\n') throw new PathSyntaxError('unterminated filter');
      if (character === '"' || character === "'") {
        if (quote === undefined) quote = character;
        else if (character === quote && this.text[end - 1] !== '\\') isClosed = true;
      } else if (character === ')' && (quote !== undefined) === isClosed) break;
    }
    if (this.text[end + 1] !== ']') throw new PathSyntaxError('a filter without its closing bracket');
    this.at = end + 2;
    return filterOf(this.text.slice(start, end));
  }
}

function filterOf(text: string): PathStep {
  const [, left, operator, right] = COMPARED.exec(text) ?? [];
  if (left === undefined || operator === undefined || right === undefined) {
    return { kind: 'filter', left: readAction(text), comparison: undefined };
  }
  return { kind: 'filter', left: readAction(left), comparison: { operator, right: readAction(right) } };
}

function readAction(text: string): PathSteps {
  return new PathReader(`{${text}}`).readTemplate();
}

/** A quoted name is a path as well: `['a.b']` are two fields, `['a\.b']` is one. */
function stepsInBrackets(text: string): PathSteps {
  const name = QUOTED_NAME.exec(text);
  if (name !== null) return readAction(`.${name[1] ?? ''}`);
  const bounds = SLICE.exec(text === '*' ? ':' : text);
  if (bounds === null) throw new PathSyntaxError(`not an index: ${text}`);
  const [, from = '', to, step] = bounds;
  if (to === undefined) return [{ kind: 'index', index: from === '' ? 0 : integer(from) }];
  return [{ kind: 'slice', from: from === '' ? 0 : integer(from), to: bound(to), step: bound(step) }];
}

function bound(text: string | undefined): number | undefined {
  return text === undefined || text === '' ? undefined : integer(text);
}

function integer(text: string): number {
  const value = Number(text);
  if (Number.isNaN(value) || Math.abs(value) >= 2 ** 63) throw new PathSyntaxError(`not an index: ${text}`);
  return value;
}

const ESCAPED: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
};
const ESCAPE = /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3})|(.?))/gs;

function unquote(text: string, quote: string): string {
  return text.replace(ESCAPE, (_all, x?: string, u?: string, long?: string, octal?: string, one?: string) => {
    const code = octal === undefined ? parseInt(x ?? u ?? long ?? '', 16) : parseInt(octal, 8);
    if (code <= 0x10ffff) return String.fromCodePoint(code);
    const plain = one === quote ? quote : ESCAPED[one ?? ''];
    if (plain === undefined) throw new PathSyntaxError(`an unknown escape in ${text}`);
    return plain;
  });
}
