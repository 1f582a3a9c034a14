import { stringifyExact } from '../codec/exact-json';
import { countCharacters } from '../count-characters';
import { sortedJson } from '../sorted-json';
import type { RE2JS } from 're2js';
import { invalid, required, type FieldError } from '../errors/field-error';
import { printValue } from '../errors/field-error';
import { quoteShown } from '../errors/shown-value';
import type { JsonObject, JsonValue } from '../object';
import { keysOf, type Steps } from '../parts';
import { PatternError, readPattern } from '../patterns/read-pattern';
import { isLongSearch, searchInSteps, searchSize } from '../patterns/search';
import {
  checkAfter,
  checkInParts,
  checkInSteps,
  checkLong,
  checkNow,
  isForLater,
  leftForLater,
} from '../validation/check-each';
import { WorkBudget } from '../work-budget';
import { hasManyTrials } from './trials';
import { FORMATS } from './formats';
import { isJsonList, isJsonObject, valueSchema, type JsonSchema } from './json-schema';
import { counterpartsIn, type Unchanged } from './unchanged';

/**
 * Checks values against a CustomResourceDefinition's schema, in the order and the words of kube-apiserver. Compiled into
 * closures, part by part when a value first gets there: a generic JSON schema compiler takes seconds and hundreds of
 * megabytes for schemas of the size that operators ship.
 */
export type Check = (value: JsonValue, path: string, errors: FieldError[], before?: Before) => void;

/** What a value was before a change; nothing is wrong with what is the same. */
export interface Before {
  readonly value: JsonValue;
  readonly unchanged: Unchanged;
}

/** One demand on a value that looks at nothing inside it. */
type ValueCheck = (value: JsonValue, path: string, errors: FieldError[]) => void;

/** A check of a part, with what may still be spent on the whole. `before`: of a change of which something has been found wrong. */
type PartCheck = (value: JsonValue, path: string, errors: FieldError[], work: WorkBudget, before?: Before) => void;

/** More than this are not looked for: a schema may have as many demands as a value has items. */
const MAX_ERRORS = 10_000;

/**
 * Each value is tried against each alternative of its schema: where both are many, that is more than either is long. So many
 * are three for each value of the largest body.
 */
const MAX_ALTERNATIVES = 300_000;

function addAll(errors: FieldError[], more: readonly FieldError[]): void {
  for (const error of more) errors.push(error);
}

/** How kube-apiserver names the field of a problem that belongs to no field. */
const NO_FIELD = '<nil>';

export function compileValidation(schema: JsonSchema): Check {
  const check = compilePart(schema);
  return (value, path, errors, before) => {
    const work = new WorkBudget(MAX_ALTERNATIVES, 'its schema has too many alternatives for its values');
    check(value, path, errors, work, before);
  };
}

function compilePart(schema: JsonSchema): PartCheck {
  const checks = [
    typeCheck(schema),
    ...alternativeChecks(schema),
    ...textChecks(schema),
    ...numberChecks(schema),
    ...listChecks(schema),
    ...enumChecks(schema),
    ...mapChecks(schema),
  ].filter((check) => check !== undefined);
  const ofNull = [typeCheck(schema), ...enumChecks(schema)].filter((check) => check !== undefined);
  return (value, path, errors, work, before) => {
    if (before?.unchanged.has(value, before.value) === true) return;
    for (const check of value === null ? ofNull : checks) check(value, path, errors, work, before);
  };
}

/** Compiled when first needed: most of a big schema never is. */
function lazily(schema: JsonSchema): PartCheck {
  let check: PartCheck | undefined;
  return (value, path, errors, work, before) => (check ??= compilePart(schema))(value, path, errors, work, before);
}

function beforeOf(value: JsonValue | undefined, before: Before): Before | undefined {
  return value === undefined ? undefined : { value, unchanged: before.unchanged };
}

/** That an object is now of another version shows in neither of them: so these two count as new. */
function memberBefore(name: string, path: string, before: Before): Before | undefined {
  if (!isJsonObject(before.value) || !Object.hasOwn(before.value, name)) return undefined;
  if (path === '' && (name === 'apiVersion' || name === 'kind')) return undefined;
  return beforeOf(before.value[name], before);
}

function inBody(path: string, problem: string): string {
  return `${path} in body ${problem}`;
}

function childPath(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

/** A value's JSON type, and the format that numbers have by themselves. */
function typeOf(value: JsonValue): { readonly type: string; readonly format: string } {
  if (value === null) return { type: 'null', format: '' };
  if (isJsonList(value)) return { type: 'array', format: '' };
  if (typeof value === 'bigint') return { type: 'integer', format: 'int64' };
  if (typeof value === 'number') {
    return Number.isSafeInteger(value) ? { type: 'integer', format: 'int64' } : { type: 'number', format: 'float64' };
  }
  return { type: typeof value, format: '' };
}

function typeCheck(schema: JsonSchema): ValueCheck | undefined {
  const types =
    schema['x-kubernetes-int-or-string'] === true ? ['integer', 'string'] : schema.type ? [schema.type] : [];
  if (types.length === 0) return undefined;
  const { format = '', nullable = false } = schema;
  const numeric = types.includes('integer') || types.includes('number');
  const wanted = types.join(',');
  const fits = (type: string): boolean => types.includes(type) || (type === 'integer' && types.includes('number'));
  return (value, path, errors) => {
    if (value === null && nullable) return;
    const found = typeOf(value);
    if (fits(found.type)) return;
    const asFormat = format !== '' && !numeric && found.type !== 'string' && value !== null && !isJsonList(value);
    const [name, actual] = asFormat ? [format, found.format] : [wanted, found.type];
    errors.push(invalid(path, actual, inBody(path, `must be of type ${name}: ${JSON.stringify(actual)}`)));
  };
}

function alternativeChecks(schema: JsonSchema): readonly (PartCheck | undefined)[] {
  const { anyOf = [], oneOf = [], allOf = [], not } = schema;
  const areMany = hasManyTrials({ anyOf, oneOf, allOf, ...(not === undefined ? {} : { not }) });
  const judged = (alternatives: readonly JsonSchema[], judge: Judge): PartCheck | undefined =>
    alternatives.length === 0 ? undefined : alternativesCheck(alternatives.map(lazily), areMany, judge);
  return [
    judged(anyOf, judgeAnyOf),
    judged(oneOf, judgeOneOf),
    judged(allOf, judgeAllOf),
    judged(not === undefined ? [] : [not], judgeNot),
  ];
}

/** What the outcomes of all alternatives mean for the value. */
type Judge = (outcomes: readonly (readonly FieldError[])[], path: string) => readonly FieldError[];

/** They are tried at once, unless they are many or the value is large. */
function alternativesCheck(checks: readonly PartCheck[], areMany: boolean, judge: Judge): PartCheck {
  return (value, path, errors, work) => {
    work.spend(checks.length);
    if (!areMany && !isForLater(value)) {
      addAll(
        errors,
        judge(
          checks.map((check) => checkNow(() => problemsOf(check, value, path, work))),
          path,
        ),
      );
    } else {
      addAll(
        errors,
        checkInSteps(() => judgedInSteps(checks, value, path, work, judge)),
      );
    }
  };
}

function* judgedInSteps(
  checks: readonly PartCheck[],
  value: JsonValue,
  path: string,
  work: WorkBudget,
  judge: Judge,
): Steps<readonly FieldError[]> {
  const outcomes: (readonly FieldError[])[] = [];
  for (const check of checks) {
    outcomes.push(yield* checkInParts(() => problemsOf(check, value, path, work)));
    yield;
  }
  return judge(outcomes, path);
}

function wholeValue(path: string, problem: string): FieldError {
  return {
    reason: 'FieldValueInvalid',
    field: NO_FIELD,
    message: `Invalid value: "": ${JSON.stringify(path)} must ${problem}`,
  };
}

function problemsOf(
  check: PartCheck,
  value: JsonValue,
  path: string,
  work: WorkBudget,
  before?: Before,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  check(value, path, errors, work, before);
  return errors;
}

/** Of several alternatives that fail, the one that comes closest is told. */
function nearest(failures: readonly (readonly FieldError[])[]): readonly FieldError[] {
  return failures.reduce((best, next) => (next.length < best.length ? next : best));
}

const judgeAnyOf: Judge = (outcomes, path) => {
  if (outcomes.some((problems) => problems.length === 0)) return [];
  return [wholeValue(path, 'validate at least one schema (anyOf)'), ...nearest(outcomes)];
};

const judgeOneOf: Judge = (outcomes, path) => {
  const valid = outcomes.filter((problems) => problems.length === 0).length;
  if (valid === 1) return [];
  const found = valid === 0 ? 'Found none valid' : `Found ${valid} valid alternatives`;
  const problem = wholeValue(path, `validate one and only one schema (oneOf). ${found}`);
  return valid === 0 ? [problem, ...nearest(outcomes)] : [problem];
};

const judgeAllOf: Judge = (outcomes, path) => {
  const failures = outcomes.filter((problems) => problems.length > 0);
  if (failures.length === 0) return [];
  const none = failures.length === outcomes.length ? '. None validated' : '';
  return [...failures.flat(), wholeValue(path, `validate all the schemas (allOf)${none}`)];
};

const judgeNot: Judge = ([problems = []], path) =>
  problems.length === 0 ? [wholeValue(path, 'not validate the schema (not)')] : [];

/** Length and pattern: the first that fails is told. */
function textChecks({
  type,
  format = '',
  maxLength,
  minLength,
  pattern,
}: JsonSchema): readonly (PartCheck | undefined)[] {
  const expression = pattern === undefined ? undefined : compilePattern(pattern);
  const problemOf = (text: string): string | undefined => {
    if (maxLength !== undefined && text.length > maxLength && countCharacters(text) > maxLength)
      return `should be at most ${maxLength} chars long`;
    if (minLength !== undefined && text.length < 2 * minLength && countCharacters(text) < minLength)
      return `should be at least ${minLength} chars long`;
    return undefined;
  };
  const limits: PartCheck = (value, path, errors, work) => {
    if (typeof value !== 'string') return;
    const add = (problem: string): FieldError => invalid(path, value, inBody(path, problem));
    const problem = problemOf(value);
    if (problem !== undefined) errors.push(add(problem));
    else if (expression !== undefined)
      addAll(
        errors,
        expression(value, work, () => add(`should match '${pattern}'`)),
      );
  };
  const fitsFormat = type === 'integer' || type === 'number' ? undefined : FORMATS.get(format);
  const formatCheck: ValueCheck = (value, path, errors) => {
    if (typeof value !== 'string' || fitsFormat?.(value) !== false) return;
    errors.push(invalid(path, value, inBody(path, `must be of type ${format}: ${quoteShown(value)}`)));
  };
  const limited = maxLength !== undefined || minLength !== undefined || pattern !== undefined;
  return [limited ? limits : undefined, fitsFormat === undefined ? undefined : formatCheck];
}

/** What a search takes that cannot wait, since alternatives are decided at once, as against trying one of them. */
const SEARCH_PER_ALTERNATIVE = 100;

const NO_ERRORS: readonly FieldError[] = [];

/** In linear time, whatever the pattern, and long texts in steps. One that cannot be read fits nothing; definitions with one are refused. */
function compilePattern(
  pattern: string,
): (text: string, work: WorkBudget, problem: () => FieldError) => readonly FieldError[] {
  let known: RE2JS | undefined | null;
  const look = (text: string, work: WorkBudget, problem: () => FieldError): readonly FieldError[] => {
    const compiled = known === undefined ? (known = readable(pattern)) : known;
    if (compiled === null) return [problem()];
    if (!isLongSearch(compiled, text)) return compiled.test(text) ? NO_ERRORS : [problem()];
    const search = function* (): Steps<readonly FieldError[]> {
      return (yield* searchInSteps(compiled, text)) ? NO_ERRORS : [problem()];
    };
    return checkLong(search, () => work.spend(Math.ceil(searchSize(compiled, text) / SEARCH_PER_ALTERNATIVE)));
  };
  // To read a pattern takes some tenths of a millisecond.
  return (text, work, problem) =>
    known === undefined ? checkAfter(() => look(text, work, problem)) : look(text, work, problem);
}

function readable(pattern: string): RE2JS | null {
  try {
    return readPattern(pattern);
  } catch (error) {
    if (error instanceof PatternError) return null;
    throw error;
  }
}

function numberChecks(schema: JsonSchema): readonly ValueCheck[] {
  const { exclusiveMaximum = false, exclusiveMinimum = false } = schema;
  const [multipleOf, maximum, minimum] = [schema.multipleOf, schema.maximum, schema.minimum].map((number) =>
    number === undefined ? undefined : Number(number),
  );
  const rules: ((value: number) => string | undefined)[] = [];
  if (multipleOf !== undefined) {
    rules.push((value) => (isMultiple(value, multipleOf) ? undefined : `should be a multiple of ${multipleOf}`));
  }
  if (maximum !== undefined) {
    rules.push((value) => {
      if (exclusiveMaximum ? value < maximum : value <= maximum) return undefined;
      return `should be less than ${exclusiveMaximum ? '' : 'or equal to '}${maximum}`;
    });
  }
  if (minimum !== undefined) {
    rules.push((value) => {
      if (exclusiveMinimum ? value > minimum : value >= minimum) return undefined;
      return `should be greater than ${exclusiveMinimum ? '' : 'or equal to '}${minimum}`;
    });
  }
  return rules.map((rule) => (value, path, errors) => {
    const problem = typeof value === 'number' || typeof value === 'bigint' ? rule(Number(value)) : undefined;
    if (problem !== undefined) errors.push(invalid(path, value, inBody(path, problem)));
  });
}

/** 0.3 is a multiple of 0.1, although the quotient of the two is not quite an integer. */
function isMultiple(value: number, factor: number): boolean {
  const quotient = value / factor;
  return Math.abs(quotient - Math.round(quotient)) <= Number.EPSILON * Math.max(1, Math.abs(quotient));
}

function listChecks(schema: JsonSchema): readonly PartCheck[] {
  const { items, minItems, maxItems } = schema;
  const item = items === undefined ? undefined : lazily(items);
  if (item === undefined && minItems === undefined && maxItems === undefined) return [];
  return [
    (value, path, errors, work, before) => {
      if (!isJsonList(value)) return;
      if (item !== undefined) {
        const find = before && isJsonList(before.value) ? counterpartsIn(before.value, schema) : undefined;
        const itemBefore = (one: JsonValue, index: number): Before | undefined =>
          before && find && beforeOf(find(one, index), before);
        if (isForLater(value)) {
          errors.push(leftForLater(value, (one, index) => problemsOf(item, one, path, work, itemBefore(one, index))));
        } else {
          for (let index = 0; index < value.length; index += 1) {
            if (errors.length > MAX_ERRORS) return;
            const one = value[index] as JsonValue;
            item(one, path, errors, work, find && itemBefore(one, index));
          }
        }
      }
      const { length } = value;
      if (minItems !== undefined && length < minItems) {
        errors.push(invalid(path, length, inBody(path, `should have at least ${minItems} items`)));
      }
      if (maxItems !== undefined && length > maxItems) {
        errors.push(invalid(path, length, inBody(path, `should have at most ${maxItems} items`)));
      }
    },
  ];
}

/** So many values of an enum are told apart, and listed, at once. */
const LONG_ENUM = 256;

function enumChecks({ enum: values }: JsonSchema): readonly ValueCheck[] {
  if (values === undefined || values.length === 0) return [];
  let known: ReadonlySet<string> | undefined;
  let supported: string | undefined;
  const problemsIn = (value: JsonValue, path: string): readonly FieldError[] => {
    known ??= new Set(values.map(canonicalText));
    if (known.has(canonicalText(value))) return [];
    supported ??= values.map((one) => JSON.stringify(typeof one === 'string' ? one : stringifyExact(one))).join(', ');
    const message = `Unsupported value: ${printValue(value)}: supported values: ${supported}`;
    return [{ reason: 'FieldValueNotSupported', field: path, message }];
  };
  return [
    (value, path, errors) => {
      const isLong = values.length > LONG_ENUM && known === undefined;
      addAll(errors, isLong ? checkAfter(() => problemsIn(value, path)) : problemsIn(value, path));
    },
  ];
}

/** The same for values that differ only in the order of keys. */
function canonicalText(value: JsonValue): string {
  return typeof value === 'string' ? JSON.stringify(value) : sortedJson(value);
}

function mapChecks(schema: JsonSchema): readonly PartCheck[] {
  const { minProperties, maxProperties, required: names = [] } = schema;
  const properties = new Map(Object.entries(schema.properties ?? {}).map(([name, one]) => [name, lazily(one)]));
  const values = valueSchema(schema);
  const valueCheck = values === undefined ? undefined : lazily(values);
  const checkMember = (
    map: JsonObject,
    key: string,
    path: string,
    errors: FieldError[],
    work: WorkBudget,
    before: Before | undefined,
  ): void => {
    const member = map[key];
    const property = properties.get(key);
    const check = property ?? valueCheck;
    if (check === undefined || member === undefined) return;
    // Of values under any key, the path of the whole stands before a dot even where it is empty (`.a in body must be ...`).
    const memberPath = property === undefined ? `${path}.${key}` : childPath(path, key);
    check(member, memberPath, errors, work, before && memberBefore(key, path, before));
  };
  return [
    (value, path, errors, work, before) => {
      if (!isJsonObject(value)) return;
      const keys = keysOf(value);
      if (minProperties !== undefined && keys.length < minProperties) {
        const problem = `should have at least ${minProperties} properties`;
        errors.push(invalid(path, minProperties, inBody(path, problem)));
        return;
      }
      if (maxProperties !== undefined && keys.length > maxProperties) {
        const problem = `should have at most ${maxProperties} properties`;
        errors.push(invalid(path, maxProperties, inBody(path, problem)));
        return;
      }
      if (isForLater(value)) {
        errors.push(
          leftForLater(keys, (key) => {
            const found: FieldError[] = [];
            checkMember(value, key, path, found, work, before);
            return found;
          }),
        );
      } else {
        for (const key of keys) {
          if (errors.length > MAX_ERRORS) return;
          checkMember(value, key, path, errors, work, before);
        }
      }
      for (const name of names) {
        if (Object.hasOwn(value, name)) continue;
        work.spend(1);
        errors.push(required(childPath(path, name), ''));
      }
    },
  ];
}
