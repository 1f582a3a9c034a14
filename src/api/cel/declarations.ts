import { listOf, mapOf, optionalOf, type SimpleKind, type Type } from './types';
import type { Value } from './values';

/**
 * A function of the language or of a library: its overloads with what each computes and costs. Libraries are tables of
 * {@link declare}d signatures, in the language's own notation.
 */
export interface Overload {
  readonly name: string;
  /** `a.f(b)`: the receiver is the first parameter. */
  readonly member: boolean;
  readonly params: readonly Type[];
  readonly result: Type;
  /** It has type parameters. */
  readonly isGeneric: boolean;
  /** Throws an EvalError. */
  readonly evaluate: Evaluate;
  readonly cost: Cost;
}

export type Evaluate = (...args: Value[]) => Value;

/** How a call's cost grows, both as it is estimated and as it is reckoned. */
export interface Cost {
  /** Of the sizes of the arguments (that of a text, list or map; 1 for others). */
  readonly of: (sizes: readonly number[]) => number;
  /** The size of the result, for an estimate: of the largest sizes of the arguments, and of their elements. */
  readonly result?: (sizes: readonly number[]) => number;
}

/** A step through a text is cheaper than a call. */
export const TRAVERSAL = 0.1;
const REGEX = 0.25;

export const traversal = (size: number): number => Math.ceil(size * TRAVERSAL);

export const CONSTANT: Cost = { of: () => 1 };
/** Through the first argument, a text. */
export const OF_TEXT: Cost = { of: ([size = 0]) => traversal(size), result: ([size = 0]) => size };
/** Through the first argument, a list. */
export const OF_LIST: Cost = { of: ([size = 0]) => size };
export const OF_BOTH: Cost = {
  of: ([left = 0, right = 0]) => traversal(left + right),
  result: ([left = 0, right = 0]) => left + right,
};
export const OF_LESSER: Cost = { of: ([left = 0, right = 0]) => traversal(Math.min(left, right)) };
export const OF_SEARCH: Cost = { of: ([text = 0, part = 0]) => traversal(text) * traversal(part) };
export const OF_REGEX: Cost = {
  of: ([text = 0, pattern = 0]) => Math.ceil((1 + text) * TRAVERSAL) * Math.ceil(pattern * REGEX),
  result: ([text = 0]) => text,
};

/**
 * `list<T>.indexOf(T): int`, `size(string): int`. Type parameters are single capitals; a function's name may have dots when it has no
 * receiver (`optional.of(T): optional<T>`): receivers are types.
 */
export function declare(signature: string, evaluate: Evaluate, cost: Cost = CONSTANT): Overload {
  const colon = signature.lastIndexOf('): ');
  const open = openingOf(signature, colon);
  const head = signature.slice(0, open);
  const dot = head.lastIndexOf('.');
  const receiver = dot < 0 || FREE_NAMES.has(head.slice(0, dot)) ? '' : head.slice(0, dot);
  const inner = signature.slice(open + 1, colon);
  const params = inner === '' ? [] : splitTop(inner).map(parseType);
  return {
    name: receiver === '' ? head : head.slice(dot + 1),
    member: receiver !== '',
    params: receiver === '' ? params : [parseType(receiver), ...params],
    result: parseType(signature.slice(colon + 3)),
    isGeneric: /(?<![\w.])[A-Z](?!\w)/.test(signature),
    evaluate,
    cost,
  };
}

/** What stands before a dot in the name of a function without a receiver. */
const FREE_NAMES: ReadonlySet<string> = new Set([
  'optional',
  'sets',
  'math',
  'base64',
  'format',
  'semver',
  'ip',
  'cidr',
  'cel',
  'strings',
]);

function openingOf(signature: string, end: number): number {
  return signature.lastIndexOf('(', end);
}

function splitTop(text: string): readonly string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let index = 0; index < text.length; index += 1) {
    if (text[index] === '<') depth += 1;
    else if (text[index] === '>') depth -= 1;
    else if (text[index] === ',' && depth === 0) {
      parts.push(text.slice(start, index).trim());
      start = index + 1;
    }
  }
  parts.push(text.slice(start).trim());
  return parts;
}

const SIMPLE: ReadonlySet<string> = new Set([
  'dyn',
  'null',
  'bool',
  'int',
  'uint',
  'double',
  'string',
  'bytes',
  'timestamp',
  'duration',
]);

export function parseType(text: string): Type {
  if (SIMPLE.has(text)) return { kind: text as SimpleKind };
  if (/^[A-Z]$/.test(text)) return { kind: 'param', name: text };
  const open = text.indexOf('<');
  if (open < 0) return text === 'type' ? { kind: 'type' } : { kind: 'opaque', name: text };
  const inner = splitTop(text.slice(open + 1, -1)).map(parseType) as [Type, Type];
  switch (text.slice(0, open)) {
    case 'list':
      return listOf(inner[0]);
    case 'map':
      return mapOf(inner[0], inner[1]);
    case 'optional':
      return optionalOf(inner[0]);
    default:
      return { kind: 'type', of: inner[0] };
  }
}
