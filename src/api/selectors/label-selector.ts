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
  readonly matchExpressions?: readonly LabelExpression[];
}

interface LabelExpression {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

const INT64 = /^[+-]?[0-9]+$/;
const INT64_LIMIT = 1n << 63n;
const INT64_DIGITS = 19;
/** Of 64 bits without a look at the number. */
const SHORT_INTEGER = /^[+-]?[0-9]{1,18}$/;

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

const NO_VALUES: readonly string[] = [];

function checkKey(key: string): void {
  const problems = qualifiedNameProblems(key);
  if (problems.length > 0) throw new Error(`invalid label key ${quoteGo(key)}: ${problems.join('; ')}`);
}

function sortedDistinct(values: readonly string[]): readonly string[] {
  const sorted = [...values].sort();
  return sorted.filter((value, index) => value !== sorted[index - 1]);
}

/** Of a key that was checked. Throws an Error with the wire's message, to which the caller adds context. */
function requirement(key: string, operator: LabelOperator, values: readonly string[]): LabelRequirement {
  if ((operator === 'in' || operator === 'notin') && values.length === 0) {
    throw new Error("for 'in', 'notin' operators, values set can't be empty");
  }
  if ((operator === 'exists' || operator === '!') && values.length > 0) {
    throw new Error('values set must be empty for exists and does not exist');
  }
  if (
    (operator === '>' || operator === '<') &&
    values.some((value) => !SHORT_INTEGER.test(value) && readInt64(value) === undefined)
  ) {
    throw new Error("for 'Gt', 'Lt' operators, the value must be an integer");
  }
  for (const value of values) {
    const problems = labelValueProblems(value);
    if (problems.length > 0) {
      throw new Error(`invalid label value: ${quoteGo(value)}: at key: ${quoteGo(key)}: ${problems.join('; ')}`);
    }
  }
  return { key, operator, values: values.length < 2 ? values : sortedDistinct(values) };
}

function sorted(requirements: readonly LabelRequirement[]): readonly LabelRequirement[] {
  return [...requirements].sort((a, b) => byCodePoint(a.key, b.key));
}

const [TAB, LINE_FEED, RETURN, SPACE] = [0x09, 0x0a, 0x0d, 0x20];
const [BANG, LESS, EQUALS, GREATER, OPEN, CLOSE, COMMA] = [0x21, 0x3c, 0x3d, 0x3e, 0x28, 0x29, 0x2c];

function isSpace(code: number): boolean {
  return code === SPACE || code === TAB || code === LINE_FEED || code === RETURN;
}

function isSymbol(code: number): boolean {
  return (code >= LESS && code <= GREATER) || code === BANG || code === COMMA || code === OPEN || code === CLOSE;
}

/**
 * The words and symbols of a selector, one after the other. No list is made of them: a query has tens of thousands of characters, if
 * its client wants.
 */
class Tokens {
  /** The one that it stands at. Empty at the end of the text. */
  text = '';
  /** White space that is none to the API (a no-break space, for example) is part of a word, which the checks refuse. */
  isWord = false;
  private position = 0;

  constructor(private readonly source: string) {
    this.advance();
  }

  get isAtEnd(): boolean {
    return this.text === '';
  }

  /** Returns the one that it stood at. */
  advance(): string {
    const { source, text } = this;
    let start = this.position;
    while (start < source.length && isSpace(source.charCodeAt(start))) start += 1;
    let end = start;
    while (end < source.length && !isSpace(source.charCodeAt(end)) && !isSymbol(source.charCodeAt(end))) end += 1;
    this.isWord = end > start;
    if (!this.isWord && end < source.length) end += symbolLength(source, end);
    this.text = source.slice(start, end);
    this.position = end;
    return text;
  }
}

/** `==` and `!=` are of two characters. */
function symbolLength(source: string, at: number): number {
  const first = source.charCodeAt(at);
  return (first === EQUALS || first === BANG) && source.charCodeAt(at + 1) === EQUALS ? 2 : 1;
}

/** A recursive descent over the tokens; throws Errors with the wire's messages. */
class Parser {
  private readonly tokens: Tokens;

  constructor(text: string) {
    this.tokens = new Tokens(text);
  }

  parse(): readonly LabelRequirement[] {
    const { tokens } = this;
    const requirements: LabelRequirement[] = [];
    while (!tokens.isAtEnd) {
      if (!tokens.isWord && tokens.text !== '!') {
        throw new Error(`found '${tokens.text}', expected: !, identifier, or 'end of string'`);
      }
      requirements.push(this.requirementInContext());
      if (tokens.isAtEnd) break;
      const separator = tokens.advance();
      if (separator !== ',') throw new Error(`found '${separator}', expected: ',' or 'end of string'`);
      if (!tokens.isWord && tokens.text !== '!') {
        throw new Error(`found '${tokens.text}', expected: identifier after ','`);
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
    const { tokens } = this;
    const negated = tokens.text === '!';
    if (negated) tokens.advance();
    const key = this.identifier();
    checkKey(key);
    if (negated) return requirement(key, '!', NO_VALUES);
    if (tokens.isAtEnd || tokens.text === ',') return requirement(key, 'exists', NO_VALUES);
    const operator = this.operator();
    return requirement(key, operator, operator === 'in' || operator === 'notin' ? this.values() : [this.value()]);
  }

  private identifier(): string {
    if (!this.tokens.isWord) throw new Error(`found '${this.tokens.text}', expected: identifier`);
    return this.tokens.advance();
  }

  private operator(): LabelOperator {
    const { isWord } = this.tokens;
    const text = this.tokens.advance();
    switch (text) {
      case '=':
      case '==':
      case '!=':
      case '>':
      case '<':
        return text;
      case 'in':
      case 'notin':
        if (isWord) return text;
        break;
    }
    throw new Error(`found '${text}', expected: '=', '!=', '==', 'in', notin'`);
  }

  /** What stands after `=`; nothing means the empty value. */
  private value(): string {
    return this.tokens.isAtEnd || this.tokens.text === ',' ? '' : this.identifier();
  }

  /** `(a,b)`; a gap before or between commas means the empty value. */
  private values(): readonly string[] {
    const { tokens } = this;
    const open = tokens.advance();
    if (open !== '(') throw new Error(`found '${open}' expected: '('`);
    if (!tokens.isWord && tokens.text !== ',' && tokens.text !== ')') {
      throw new Error(`found '${tokens.text}', expected: ',', ')' or identifier`);
    }
    const values: string[] = [];
    for (;;) {
      values.push(tokens.isWord ? tokens.advance() : '');
      const separator = tokens.advance();
      if (separator === ')') return values;
      if (separator !== ',') throw new Error(`found '${separator}', expected: ',' or ')'`);
    }
  }
}

/**
 * Reads the text of a selector into requirements; an empty text gives none, which match everything.
 * Throws a 400 StatusError with the API's message.
 */
export function parseLabelSelector(text: string): readonly LabelRequirement[] {
  try {
    return new Parser(text).parse();
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

/** Whether an object with these labels is as the requirement says. */
export function holds({ key, operator, values }: LabelRequirement, labels: Labels): boolean {
  const value = labelOf(labels, key);
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
    const requirements = Object.entries(selector.matchLabels ?? {}).map(([key, value]) => {
      checkKey(key);
      return requirement(key, '=', [value]);
    });
    for (const { key, operator, values = [] } of selector.matchExpressions ?? []) {
      const known = Object.hasOwn(EXPRESSION_OPERATORS, operator) ? EXPRESSION_OPERATORS[operator] : undefined;
      if (known === undefined) throw new Error(unknownOperator(operator));
      checkKey(key);
      requirements.push(requirement(key, known, values));
    }
    return sorted(requirements);
  } catch (error) {
    throw badRequest((error as Error).message);
  }
}

/**
 * Whether a LabelSelector object that is valid selects these labels; an absent one selects nothing. Makes no requirements of it, which
 * is worth it only for what is asked more than once: that takes 50 ms for as many values as an object has room for.
 */
export function selectsLabels(selector: LabelSelector | null | undefined, labels: Labels = NO_LABELS): boolean {
  if (selector === undefined || selector === null) return false;
  const wanted = selector.matchLabels ?? NO_LABELS;
  for (const key of Object.keys(wanted)) if (labelOf(labels, key) !== wanted[key]) return false;
  return (selector.matchExpressions ?? []).every((expression) =>
    expressionHolds(expression, labelOf(labels, expression.key)),
  );
}

function labelOf(labels: Labels, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}

function expressionHolds({ operator, values = [] }: LabelExpression, label: string | undefined): boolean {
  switch (operator) {
    case 'In':
      return label !== undefined && values.includes(label);
    case 'NotIn':
      return label === undefined || !values.includes(label);
    case 'Exists':
      return label !== undefined;
    case 'DoesNotExist':
      return label === undefined;
    default:
      throw badRequest(unknownOperator(operator));
  }
}

function unknownOperator(operator: string): string {
  return `${quoteGo(operator)} is not a valid label selector operator`;
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
