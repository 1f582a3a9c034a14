import type { JsonValue } from '../object';
import { parseJsonPath, type Comparison, type LiteralType, type PathStep, type PathSteps } from './json-path-syntax';
import { isJsonList, isJsonObject } from './json-schema';

/**
 * Every value that the path leads to. Missing fields lead nowhere; an index that the list does not have, a filter of what is no
 * list and a comparison of different types make the whole path lead nowhere.
 */
export type JsonPath = (value: JsonValue) => readonly JsonValue[];

/**
 * Values that one evaluation looks at, in some milliseconds; an object has 100,000 at most. Each step looks at a value once, so that
 * only filters below a descent, which look through lists within lists, come near it.
 */
const MAX_VISITS = 250_000;

/** Undefined for a path that cannot be read. */
export function compileJsonPath(text: string): JsonPath | undefined {
  const steps = parseJsonPath(text);
  if (steps === undefined) return undefined;
  return (value) => {
    const found = new Evaluation().follow([value], steps);
    return found.failed ? [] : found.values;
  };
}

interface Found {
  /** Of a failed path: what the step that failed had to start from. */
  readonly values: readonly JsonValue[];
  readonly failed: boolean;
}

class Evaluation {
  private visits = 0;

  /** `isNested`: some of the values may be in others of them. */
  follow(start: readonly JsonValue[], steps: PathSteps, isNested = false): Found {
    let values = start;
    for (const step of steps) {
      const next = this.take(values, step, isNested);
      isNested ||= step.kind === 'descend';
      if (next === undefined || (this.visits += next.length + 1) > MAX_VISITS) return { values, failed: true };
      values = next;
    }
    return { values, failed: false };
  }

  /** Undefined when the step cannot be taken. */
  private take(values: readonly JsonValue[], step: PathStep, isNested: boolean): readonly JsonValue[] | undefined {
    switch (step.kind) {
      case 'field':
        return members(values, step.name);
      case 'every':
        return children(values);
      case 'descend':
        return descend(values, isNested);
      case 'literal':
        return step.type === 'text' ? [step.value] : values.map(() => step.value);
      case 'index':
      case 'slice':
        return sliceAll(values, step);
      case 'union':
        return this.union(values, step.members, isNested);
      case 'filter':
        return this.filter(values, step.left, step.comparison);
      case 'word':
        return undefined;
    }
  }

  private union(
    values: readonly JsonValue[],
    members: readonly PathSteps[],
    isNested: boolean,
  ): readonly JsonValue[] | undefined {
    const all: JsonValue[] = [];
    for (const member of members) {
      const found = this.follow(values, member, isNested);
      if (found.failed) return undefined;
      for (const value of found.values) all.push(value);
    }
    return withoutRepeats(all);
  }

  private filter(
    values: readonly JsonValue[],
    left: PathSteps,
    comparison: Comparison | undefined,
  ): readonly JsonValue[] | undefined {
    const kept: JsonValue[] = [];
    for (const value of values) {
      if (!isJsonList(value)) return undefined;
      for (const item of value) {
        const holds = this.holds(item, left, comparison);
        if (holds === undefined || this.visits > MAX_VISITS) return undefined;
        if (holds) kept.push(item);
      }
    }
    return kept;
  }

  private holds(item: JsonValue, left: PathSteps, comparison: Comparison | undefined): boolean | undefined {
    const found = this.follow([item], left);
    if (comparison === undefined) return found.values.length > 0;
    if (found.failed || found.values.length > 1) return undefined;
    if (found.values.length === 0) return false;
    const wanted = this.follow([item], comparison.right);
    if (wanted.failed || wanted.values.length > 1) return undefined;
    if (wanted.values.length === 0) return false;
    return compare(
      found.values[0] as JsonValue,
      literalType(left, found.values[0]),
      comparison.operator,
      wanted.values[0] as JsonValue,
      literalType(comparison.right, wanted.values[0]),
    );
  }
}

/** The same object or list need not be looked at twice, by whichever of its ways a union leads to it: all other steps lead to each once. */
function withoutRepeats(values: readonly JsonValue[]): readonly JsonValue[] {
  const seen = new Set<JsonValue>();
  return values.filter((value) => {
    if (typeof value !== 'object' || value === null) return true;
    const { size } = seen;
    return seen.add(value).size > size;
  });
}

function members(values: readonly JsonValue[], name: string): readonly JsonValue[] {
  const all: JsonValue[] = [];
  for (const value of values) {
    const found = isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
    if (found !== undefined) all.push(found);
  }
  return all;
}

function children(values: readonly JsonValue[]): readonly JsonValue[] {
  const all: JsonValue[] = [];
  for (const value of values) for (const child of childrenOf(value)) all.push(child);
  return all;
}

function childrenOf(value: JsonValue): readonly JsonValue[] {
  if (isJsonList(value)) return value;
  return isJsonObject(value) ? Object.values(value).filter((one) => one !== undefined) : [];
}

/** Whatever has something in it, from the outside in; texts count as lists of bytes. */
function descend(values: readonly JsonValue[], isNested: boolean): readonly JsonValue[] {
  const found: JsonValue[] = [];
  // To remember objects takes longer than to look at them.
  const seen = isNested ? new Set<JsonValue>() : undefined;
  const visit = (value: JsonValue): void => {
    if (typeof value === 'string' && value !== '') found.push(value);
    if (typeof value !== 'object' || value === null || seen?.has(value) === true) return;
    const below = childrenOf(value);
    if (below.length === 0) return;
    seen?.add(value);
    found.push(value);
    for (const child of below) visit(child);
  };
  for (const value of values) visit(value);
  return found;
}

type Slice = Extract<PathStep, { readonly kind: 'index' | 'slice' }>;

function sliceAll(values: readonly JsonValue[], step: Slice): readonly JsonValue[] | undefined {
  const all: JsonValue[] = [];
  for (const value of values) {
    if (value === null) continue;
    if (!isJsonList(value)) return undefined;
    const bounds = boundsOf(step, value.length);
    if (bounds === undefined) return undefined;
    // An empty range ends the step with what came before it.
    if (bounds.from === bounds.to) return all;
    for (let index = bounds.from; index < bounds.to; index += bounds.step) all.push(value[index] as JsonValue);
  }
  return all;
}

function boundsOf(step: Slice, length: number): { from: number; to: number; step: number } | undefined {
  const first = step.kind === 'index' ? step.index : step.from;
  const from = first < 0 ? first + length : first;
  const last = step.kind === 'index' ? from + 1 : (step.to ?? length);
  const to = last < 0 ? last + length : last;
  const stride = step.kind === 'index' ? 1 : (step.step ?? 1);
  if (from === to) return { from, to, step: 1 };
  return from < 0 || from >= length || to < from || to > length || stride <= 0 ? undefined : { from, to, step: stride };
}

function literalType(steps: PathSteps, value: JsonValue | undefined): LiteralType | undefined {
  const last = steps.at(-1);
  if (last?.kind === 'literal') return last.type;
  switch (typeof value) {
    case 'string':
      return 'text';
    case 'number':
      return Number.isInteger(value) ? 'integer' : 'float';
    case 'boolean':
      return 'boolean';
    default:
      return undefined;
  }
}

/** Undefined where the two cannot be compared so. */
function compare(
  left: JsonValue,
  leftType: LiteralType | undefined,
  operator: string,
  right: JsonValue,
  rightType: LiteralType | undefined,
): boolean | undefined {
  if (leftType === undefined || leftType !== rightType) return undefined;
  if (operator === '==') return left === right;
  if (operator === '!=') return left !== right;
  if (leftType === 'boolean') return undefined;
  const order =
    leftType === 'text'
      ? Buffer.compare(Buffer.from(left as string), Buffer.from(right as string))
      : Number(left) - Number(right);
  switch (operator) {
    case '<':
      return order < 0;
    case '<=':
      return order <= 0;
    case '>':
      return order > 0;
    case '>=':
      return order >= 0;
    default:
      return undefined;
  }
}
