import { quoteGo } from '../errors/go-quote';
import { badRequest } from '../errors/status-error';
import { labelValueProblems, qualifiedNameProblems } from '../validation/label-syntax';

/**
 * Label selectors in both of their forms: the text of a query (`env in (prod,dev),!canary,weight>3`) and the object of
 * a spec (matchLabels, matchExpressions). Both become the same list of requirements, all of which must hold.
 */

export type LabelOperator = '=' | '==' | '!=' | 'in' | 'notin' | 'exists' | '!' | '>' | '<';

export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  /** Sorted, without doubles. */
  readonly values: readonly string[];
}

export type Labels = Readonly<Record<string, string>>;

/** The LabelSelector of the API. */
export interface LabelSelector {
  readonly matchLabels?: Labels;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

const INT64 = /^[+-]?[0-9]+$/;
const INT64_LIMIT = 1n << 63n;
const INT64_DIGITS = 19;

/** The number that a text says, undefined for what is none of 64 bits. */
export function readInt64(text: string): bigint | undefined {
  // A number of many digits takes longer to read than it is long.
  if (!INT64.test(text) || text.replace(/^[+-]?0*/, '').length > INT64_DIGITS) return undefined;
  const value = BigInt(text.startsWith('+') ? text.slice(1) : text);
  return value >= -INT64_LIMIT && value < INT64_LIMIT ? value : undefined;
}

function byCodePoint(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function checkKey(key: string): void {
  const problems = qualifiedNameProblems(key);
  if (problems.length > 0) throw new Error(`invalid label key ${quoteGo(key)}: ${problems.join('; ')}`);
}

/** Checks what the syntax does not. Throws an Error with the wire's message, to which the caller adds context. */
function requirement(key: string, operator: LabelOperator, values: readonly string[]): LabelRequirement {
  checkKey(key);
  if ((operator === 'in' || operator === 'notin') && values.length === 0) {
    throw new Error("for 'in', 'notin' operators, values set can't be empty");
  }
  if ((operator === 'exists' || operator === '!') && values.length > 0) {
    throw new Error('values set must be empty for exists and does not exist');
  }
  if ((operator === '>' || operator === '<') && values.some((value) => readInt64(value) === undefined)) {
    throw new Error("for 'Gt', 'Lt' operators, the value must be an integer");
  }
  for (const value of values) {
    const problems = labelValueProblems(value);
    if (problems.length > 0) {
      throw new Error(`invalid label value: ${quoteGo(value)}: at key: ${quoteGo(key)}: ${problems.join('; ')}`);
    }
  }
  return { key, operator, values: [...new Set(values)].sort(byCodePoint) };
}

function sorted(requirements: readonly LabelRequirement[]): readonly LabelRequirement[] {
  return [...requirements].sort((a, b) => byCodePoint(a.key, b.key));
}

// An operator or bracket, a run of anything else, or the white space between them.
const TOKEN = /([=!]=|[=!<>(),])|([^\s=!<>(),]+)|[ \t\r\n]+/y;

interface Token {
  /** Empty at the end of the text. */
  readonly text: string;
  readonly word: boolean;
}

function tokenize(text: string): readonly Token[] {
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const at = TOKEN.lastIndex;
    const found = TOKEN.exec(text);
    if (found === null) {
      // White space that is none to the API (a no-break space, for example) is a word, which the check of keys refuses.
      tokens.push({ text: text.charAt(at), word: true });
      TOKEN.lastIndex = at + 1;
    } else if (found[1] !== undefined) tokens.push({ text: found[1], word: false });
    else if (found[2] !== undefined) tokens.push({ text: found[2], word: true });
  }
  return tokens;
}

const END: Token = { text: '', word: false };

/** A recursive descent over the tokens; throws Errors with the wire's messages. */
class Parser {
  private position = 0;

  constructor(private readonly tokens: readonly Token[]) {}

  private peek(): Token {
    return this.tokens[this.position] ?? END;
  }

  private next(): Token {
    const token = this.peek();
    this.position += 1;
    return token;
  }

  parse(): readonly LabelRequirement[] {
    const requirements: LabelRequirement[] = [];
    while (this.peek() !== END) {
      const first = this.peek();
      if (!first.word && first.text !== '!') {
        throw new Error(`found '${first.text}', expected: !, identifier, or 'end of string'`);
      }
      requirements.push(this.requirementInContext());
      const separator = this.next();
      if (separator === END) break;
      if (separator.text !== ',') throw new Error(`found '${separator.text}', expected: ',' or 'end of string'`);
      const following = this.peek();
      if (!following.word && following.text !== '!') {
        throw new Error(`found '${following.text}', expected: identifier after ','`);
      }
    }
    return requirements;
  }

  private requirementInContext(): LabelRequirement {
    try {
      return this.requirement();
    } catch (error) {
      throw new Error(`unable to parse requirement: ${(error as Error).message}`, { cause: error });
    }
  }

  private requirement(): LabelRequirement {
    const negated = this.peek().text === '!';
    if (negated) this.next();
    const key = this.next();
    if (!key.word) throw new Error(`found '${key.text}', expected: identifier`);
    checkKey(key.text);
    if (negated) return requirement(key.text, '!', []);
    const after = this.peek();
    if (after === END || after.text === ',') return requirement(key.text, 'exists', []);
    const operator = this.operator();
    return requirement(key.text, operator, operator === 'in' || operator === 'notin' ? this.values() : [this.value()]);
  }

  private operator(): LabelOperator {
    const { text, word } = this.next();
    switch (text) {
      case '=':
      case '==':
      case '!=':
      case '>':
      case '<':
        return text;
      case 'in':
      case 'notin':
        if (word) return text;
        break;
    }
    throw new Error(`found '${text}', expected: '=', '!=', '==', 'in', notin'`);
  }

  /** What stands after `=`; nothing means the empty value. */
  private value(): string {
    const token = this.peek();
    if (token === END || token.text === ',') return '';
    this.next();
    if (!token.word) throw new Error(`found '${token.text}', expected: identifier`);
    return token.text;
  }

  /** `(a,b)`; a gap before or between commas means the empty value. */
  private values(): readonly string[] {
    const open = this.next();
    if (open.text !== '(') throw new Error(`found '${open.text}' expected: '('`);
    const first = this.peek();
    if (!first.word && first.text !== ',' && first.text !== ')') {
      throw new Error(`found '${first.text}', expected: ',', ')' or identifier`);
    }
    const values: string[] = [];
    for (;;) {
      values.push(this.peek().word ? this.next().text : '');
      const separator = this.next();
      if (separator.text === ')') return values;
      if (separator.text !== ',') {
        throw new Error(`found '${separator.text}', expected: ',' or ')'`);
      }
    }
  }
}

/**
 * Reads the text of a selector into requirements, sorted by key; an empty text gives none, which match everything.
 * Throws a 400 StatusError with the API's message.
 */
export function parseLabelSelector(text: string): readonly LabelRequirement[] {
  try {
    return sorted(new Parser(tokenize(text)).parse());
  } catch (error) {
    throw badRequest((error as Error).message);
  }
}

/** Whether sorted values hold the one. */
function hasValue(values: readonly string[], wanted: string): boolean {
  let [low, high] = [0, values.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((values[middle] as string) < wanted) low = middle + 1;
    else high = middle;
  }
  return values[low] === wanted;
}

function holds({ key, operator, values }: LabelRequirement, labels: Labels): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case '=':
    case '==':
    case 'in':
      return value !== undefined && hasValue(values, value);
    case '!=':
    case 'notin':
      return value === undefined || !hasValue(values, value);
    case 'exists':
      return value !== undefined;
    case '!':
      return value === undefined;
    case '>':
    case '<': {
      const actual = value === undefined ? undefined : readInt64(value);
      const bound = readInt64(values[0] ?? '');
      if (actual === undefined || bound === undefined) return false;
      return operator === '>' ? actual > bound : actual < bound;
    }
  }
}

const NO_LABELS: Labels = {};

/** Whether all requirements hold. Labels that are absent are no labels. */
export function matchesLabels(requirements: readonly LabelRequirement[], labels: Labels | undefined): boolean {
  for (const one of requirements) {
    if (!holds(one, labels ?? NO_LABELS)) return false;
  }
  return true;
}

const EXPRESSION_OPERATORS: Readonly<Record<string, LabelOperator>> = {
  In: 'in',
  NotIn: 'notin',
  Exists: 'exists',
  DoesNotExist: '!',
};

/**
 * The requirements of a LabelSelector object, sorted by key. An empty selector has none and matches everything; an
 * absent one gives undefined and matches nothing. Throws a 400 StatusError for what validation would refuse.
 */
export function selectorRequirements(
  selector: LabelSelector | null | undefined,
): readonly LabelRequirement[] | undefined {
  if (selector === undefined || selector === null) return undefined;
  try {
    const requirements = Object.entries(selector.matchLabels ?? {}).map(([key, value]) =>
      requirement(key, '=', [value]),
    );
    for (const { key, operator, values = [] } of selector.matchExpressions ?? []) {
      const known = Object.hasOwn(EXPRESSION_OPERATORS, operator) ? EXPRESSION_OPERATORS[operator] : undefined;
      if (known === undefined) throw new Error(`${quoteGo(operator)} is not a valid label selector operator`);
      requirements.push(requirement(key, known, values));
    }
    return sorted(requirements);
  } catch (error) {
    throw badRequest((error as Error).message);
  }
}

/** Whether a LabelSelector object selects these labels; an absent selector selects nothing. */
export function selectsLabels(selector: LabelSelector | null | undefined, labels: Labels | undefined): boolean {
  const requirements = selectorRequirements(selector);
  return requirements !== undefined && matchesLabels(requirements, labels);
}

function printRequirement({ key, operator, values }: LabelRequirement): string {
  switch (operator) {
    case 'exists':
      return key;
    case '!':
      return `!${key}`;
    case 'in':
    case 'notin':
      return `${key} ${operator} (${values.join(',')})`;
    case '=':
    case '==':
    case '!=':
    case '>':
    case '<':
      return `${key}${operator}${values[0] ?? ''}`;
  }
}

/** The text of requirements, as a scale subresource shows it: `app=a,tier in (db,web),!canary`. */
export function printLabelSelector(requirements: readonly LabelRequirement[]): string {
  return requirements.map(printRequirement).join(',');
}
