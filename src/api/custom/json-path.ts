import type { JsonValue } from '../object';
import { isJsonList, isJsonObject } from './json-schema';

/**
 * The JSONPath of printer columns, as kubectl knows it: fields (`.spec.replicas`, `['a.b']`, `.a\.b`), `[0]`, `[-1]`,
 * `[1:3]`, `[*]`, `..name` and filters `[?(@.type=="Ready")]`.
 */
type Step =
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'every' }
  | { readonly kind: 'descend' }
  | { readonly kind: 'slice'; readonly from: number | undefined; readonly to: number | undefined }
  | { readonly kind: 'index'; readonly index: number }
  | { readonly kind: 'filter'; readonly holds: (value: JsonValue) => boolean };

/** Every value that the path leads to; missing fields lead nowhere. */
export type JsonPath = (value: JsonValue) => readonly JsonValue[];

/** A path that cannot be read leads nowhere: definitions with one are refused, older ones must not break lists. */
export function compileJsonPath(text: string): JsonPath {
  const steps = parse(text.replace(/^\{(.*)\}$/s, '$1').replace(/^\$/, ''));
  if (steps === undefined) return () => [];
  return (value) =>
    steps.reduce<readonly JsonValue[]>((values, step) => values.flatMap((one) => take(one, step)), [value]);
}

const FIELD = /^\.((?:\\.|[^.[\]\\])+)/;
const QUOTED = /^\[(?:'((?:\\.|[^'\\])*)'|"((?:\\.|[^"\\])*)")\]/;
const SLICE = /^\[(-?\d*):(-?\d*)\]/;
const FILTER =
  /^\[\?\(\s*@((?:\.(?:\\.|[^.[\]\\=!<>\s)])+|\['[^']*'\])*)\s*(?:(==|!=|<=|>=|<|>)\s*('[^']*'|"[^"]*"|[^)\s]+)\s*)?\)\]/;

function parse(text: string): readonly Step[] | undefined {
  const steps: Step[] = [];
  let rest = text;
  if (rest !== '' && !rest.startsWith('.') && !rest.startsWith('[')) rest = `.${rest}`;
  while (rest !== '' && rest !== '.') {
    const [step, length] = nextStep(rest) ?? [];
    if (step === undefined || length === undefined) return undefined;
    steps.push(step);
    rest = rest.slice(length);
  }
  return steps;
}

function nextStep(text: string): readonly [Step, number] | undefined {
  if (text.startsWith('..')) return [{ kind: 'descend' }, 1];
  if (text.startsWith('.[')) return withOffset(nextStep(text.slice(1)), 1);
  if (text.startsWith('[*]')) return [{ kind: 'every' }, 3];
  const field = FIELD.exec(text);
  if (field !== null) {
    const name = unescape(field[1] ?? '');
    return [name === '*' ? { kind: 'every' } : { kind: 'field', name }, field[0].length];
  }
  const quoted = QUOTED.exec(text);
  if (quoted !== null) return [{ kind: 'field', name: unescape(quoted[1] ?? quoted[2] ?? '') }, quoted[0].length];
  const index = /^\[(-?\d+)\]/.exec(text);
  if (index !== null) return [{ kind: 'index', index: Number(index[1]) }, index[0].length];
  const slice = SLICE.exec(text);
  if (slice !== null) return [{ kind: 'slice', from: bound(slice[1]), to: bound(slice[2]) }, slice[0].length];
  const filter = FILTER.exec(text);
  if (filter === null) return undefined;
  const [whole, path = '', operator, literal] = filter;
  return [{ kind: 'filter', holds: compileFilter(compileJsonPath(path), operator, literal) }, whole.length];
}

function withOffset(found: readonly [Step, number] | undefined, offset: number): readonly [Step, number] | undefined {
  return found && [found[0], found[1] + offset];
}

function unescape(text: string): string {
  return text.replace(/\\(.)/g, '$1');
}

function bound(text: string | undefined): number | undefined {
  return text === undefined || text === '' ? undefined : Number(text);
}

function compileFilter(
  path: JsonPath,
  operator: string | undefined,
  literal: string | undefined,
): (value: JsonValue) => boolean {
  if (operator === undefined || literal === undefined) return (value) => path(value).length > 0;
  const wanted = literalValue(literal);
  return (value) => {
    const [found] = path(value);
    if (found === undefined) return false;
    switch (operator) {
      case '==':
        return found === wanted;
      case '!=':
        return found !== wanted;
      default:
        return typeof found === typeof wanted && isOrdered(found as string, wanted as string, operator);
    }
  };
}

function literalValue(text: string): JsonValue {
  const quoted = /^(['"])(.*)\1$/s.exec(text);
  if (quoted !== null) return quoted[2] ?? '';
  if (text === 'true' || text === 'false') return text === 'true';
  return Number.isNaN(Number(text)) ? text : Number(text);
}

function isOrdered(left: string, right: string, operator: string): boolean {
  if (operator.startsWith('<')) return operator === '<' ? left < right : left <= right;
  return operator === '>' ? left > right : left >= right;
}

function take(value: JsonValue, step: Step): readonly JsonValue[] {
  switch (step.kind) {
    case 'field': {
      const member = isJsonObject(value) && Object.hasOwn(value, step.name) ? value[step.name] : undefined;
      return member === undefined ? [] : [member];
    }
    case 'every':
      return childrenOf(value);
    case 'descend':
      return [value, ...childrenOf(value).flatMap((child) => take(child, step))];
    case 'index': {
      const item = isJsonList(value) ? value.at(step.index) : undefined;
      return item === undefined ? [] : [item];
    }
    case 'slice':
      return isJsonList(value) ? value.slice(step.from, step.to) : [];
    case 'filter':
      return childrenOf(value).filter(step.holds);
  }
}

function childrenOf(value: JsonValue): readonly JsonValue[] {
  if (isJsonList(value)) return value;
  return isJsonObject(value) ? Object.values(value).filter((member) => member !== undefined) : [];
}
