import { compileExpression } from '../cel/compile-expression';
import type { Program } from '../cel/evaluate';
import { CALL_LIMIT, OBJECT_BUDGET, UNITS_AT_ONCE } from '../cel/limits';
import type { Outcome } from '../cel/run';
import { schemaType, type SchemaType } from '../cel/schema-type';
import { optionalOf, type Type } from '../cel/types';
import { EvalError, NONE, Optional, type Value } from '../cel/values';
import type { FieldError } from '../errors/field-error';
import type { JsonValue } from '../object';
import type { Steps } from '../parts';
import {
  isJsonList,
  isJsonObject,
  schemasWith,
  valueSchema,
  type JsonSchema,
  type ValidationRule,
} from './json-schema';
import { fieldErrorOf, hintOf, ruleText } from './rule-messages';
import { parseRulePath } from './rule-path';
import { counterpartsIn, Unchanged } from './unchanged';

/**
 * The rules in CEL of a schema (`x-kubernetes-validations`), checked against an object, part by part: compiled once for a
 * definition, when an object is first written. An expensive evaluation is taken in steps, and all of an object share a budget.
 */
export interface RuleCheck {
  check(object: JsonValue, old: JsonValue | undefined, heard?: Hearer): Steps<readonly FieldError[]>;
}

/** Is told of rules that are broken where nothing has changed, and are no error therefore. */
export interface Hearer {
  warn(text: string): void;
}

/** A part of the schema with rules, or with parts that have some. */
interface Part {
  readonly type: string;
  readonly rules: readonly LazyRule[];
  /** Undefined also where there are no rules. */
  readonly self: SchemaType | undefined;
  readonly properties: readonly (readonly [name: string, part: LazyPart])[];
  readonly items: LazyPart | undefined;
  readonly values: LazyPart | undefined;
  readonly schema: JsonSchema;
  /** Rules of its members or items may compare them with what they were. */
  readonly isComparable: boolean;
}

interface CompiledRule {
  readonly rule: ValidationRule;
  readonly program: Program;
  readonly message: Program | undefined;
  readonly usesOld: boolean;
  /** Compares with the old value, and is not checked where there is none. */
  readonly isTransition: boolean;
  readonly fieldPath: string;
}

/** Undefined: the schema has no rules. */
export function compileRules(schema: JsonSchema): RuleCheck | undefined {
  const parts = schemasWith(schema, (part) => (part['x-kubernetes-validations']?.length ?? 0) > 0);
  if (!parts.has(schema)) return undefined;
  const root = new LazyPart(schema, true, parts);
  return {
    *check(object, old, heard) {
      const checking = new Checking();
      yield* checking.part(root, object, old, true, '');
      if (old === undefined || checking.forgivable.size === 0) return checking.errors;
      const unchanged = yield* Unchanged.between(schema, object, old);
      return checking.errorsOfChange(unchanged, heard);
    },
  };
}

/** Schemas may be nested deeply, so they are walked without recursion. */
export function hasRules(schema: JsonSchema): boolean {
  const pending: JsonSchema[] = [schema];
  for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
    if ((part['x-kubernetes-validations']?.length ?? 0) > 0) return true;
    if (part.items !== undefined) pending.push(part.items);
    const values = valueSchema(part);
    if (values !== undefined) pending.push(values);
    for (const property of Object.values(part.properties ?? {})) pending.push(property);
  }
  return false;
}

/** Compiled when a value first gets there. */
class LazyPart {
  #part: Part | undefined;

  constructor(
    private readonly schema: JsonSchema,
    private readonly isRoot: boolean,
    /** Of the whole schema, those that have rules, or parts with rules. */
    private readonly known: ReadonlySet<JsonSchema>,
  ) {}

  get(): Part {
    return (this.#part ??= compilePart(this.schema, this.isRoot, this.known));
  }
}

/** Compiled when it is first asked for: of many, each by itself. */
class LazyRule {
  #compiled: CompiledRule | undefined;
  isCompiled = false;

  constructor(
    private readonly rule: ValidationRule,
    private readonly self: SchemaType,
  ) {}

  get(): CompiledRule | undefined {
    if (!this.isCompiled) this.#compiled = compileRule(this.rule, this.self);
    this.isCompiled = true;
    return this.#compiled;
  }
}

function compilePart(schema: JsonSchema, isRoot: boolean, known: ReadonlySet<JsonSchema>): Part {
  const rules = schema['x-kubernetes-validations'] ?? [];
  const self = rules.length === 0 ? undefined : schemaType(schema, isRoot);
  const within = (part: JsonSchema | undefined): LazyPart | undefined =>
    part !== undefined && known.has(part)
      ? new LazyPart(part, part['x-kubernetes-embedded-resource'] === true, known)
      : undefined;
  return {
    type: isRoot ? 'object' : (schema.type ?? ''),
    self,
    rules: self === undefined ? [] : rules.map((rule) => new LazyRule(rule, self)),
    properties: Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
      const part = within(property);
      return part === undefined ? [] : [[name, part] as const];
    }),
    items: within(schema.items),
    values: within(valueSchema(schema)),
    schema,
    isComparable:
      schema.items === undefined
        ? schema['x-kubernetes-map-type'] !== 'atomic'
        : schema['x-kubernetes-list-type'] === 'map',
  };
}

/** What the rules of a part may name. */
export function ruleVariables(self: Type, rule: ValidationRule): ReadonlyMap<string, Type> {
  return new Map([
    ['self', self],
    ['oldSelf', rule.optionalOldSelf === true ? optionalOf(self) : self],
  ]);
}

/** Undefined: it cannot be compiled. Definitions with such rules are refused; one may have been stored by others. */
function compileRule(rule: ValidationRule, self: SchemaType): CompiledRule | undefined {
  const variables = ruleVariables(self.type, rule);
  try {
    const program = compileExpression(rule.rule ?? '', variables);
    const { messageExpression = '' } = rule;
    const usesOld = program.checked.references.has('oldSelf');
    return {
      rule,
      program,
      message: messageExpression === '' ? undefined : compileExpression(messageExpression, variables),
      usesOld,
      isTransition: usesOld && rule.optionalOldSelf !== true,
      fieldPath: parseRulePath(rule.fieldPath ?? '')?.text ?? '',
    };
  } catch (error) {
    if (error instanceof Error && error.name === 'CelSyntaxError') return undefined;
    throw error;
  }
}

/** A value on the way to the part that is looked at, with what it was. */
interface Place {
  readonly value: JsonValue;
  readonly old: JsonValue;
}

/** The check of one object. */
class Checking {
  readonly errors: FieldError[] = [];
  /** What is no error where one of these places is as it was. */
  readonly forgivable = new Map<FieldError, readonly Place[]>();
  #budget = OBJECT_BUDGET;
  #ended = false;
  #sincePause = 0;
  /** The parts around the one that is looked at, and itself, as far as they had a value before. */
  readonly #values: JsonValue[] = [];
  readonly #olds: (JsonValue | undefined)[] = [];

  /** `isComparable`: transition rules see `old`. */
  *part(
    lazy: LazyPart,
    value: JsonValue,
    old: JsonValue | undefined,
    isComparable: boolean,
    path: string,
  ): Steps<void> {
    const part = lazy.get();
    this.#values.push(value);
    this.#olds.push(old);
    if (part.self !== undefined) yield* this.#rules(part, part.self, value, isComparable ? old : undefined, path);
    const within = isComparable && part.isComparable;
    if (isJsonObject(value)) {
      const before = isJsonObject(old) ? old : undefined;
      for (const [name, property] of part.properties) {
        const member = Object.hasOwn(value, name) ? value[name] : undefined;
        if (member === undefined) continue;
        yield* this.part(property, member, memberOf(before, name), within, path === '' ? name : `${path}.${name}`);
        if (this.#ended) return;
      }
      if (part.values !== undefined) yield* this.#members(part.values, value, before, within, path);
    } else if (part.items !== undefined && isJsonList(value)) {
      yield* this.#items(part, part.items, value, old, within, path);
    }
    this.#values.pop();
    this.#olds.pop();
  }

  /** Without what is broken in parts that are as they were. */
  errorsOfChange(unchanged: Unchanged, heard: Hearer | undefined): readonly FieldError[] {
    return this.errors.filter((error) => {
      const places = this.forgivable.get(error);
      if (places?.some(({ value, old }) => unchanged.has(value, old)) !== true) return true;
      heard?.warn(`${error.field}: ${error.message}`);
      return false;
    });
  }

  *#members(
    part: LazyPart,
    map: Readonly<Record<string, JsonValue | undefined>>,
    before: Readonly<Record<string, JsonValue | undefined>> | undefined,
    isComparable: boolean,
    path: string,
  ): Steps<void> {
    for (const name of Object.keys(map)) {
      const member = map[name];
      if (member === undefined) continue;
      yield* this.part(part, member, memberOf(before, name), isComparable, `${path}[${name}]`);
      if (this.#ended) return;
    }
  }

  *#items(
    { schema }: Part,
    part: LazyPart,
    list: readonly JsonValue[],
    old: JsonValue | undefined,
    isComparable: boolean,
    path: string,
  ): Steps<void> {
    const find = isJsonList(old) ? counterpartsIn(old, schema) : undefined;
    for (let index = 0; index < list.length; index += 1) {
      const item = list[index] as JsonValue;
      yield* this.part(part, item, find?.(item, index), isComparable, `${path}[${index}]`);
      if (this.#ended) return;
    }
  }

  *#rules(part: Part, self: SchemaType, value: JsonValue, old: JsonValue | undefined, path: string): Steps<void> {
    let variables: Readonly<Record<string, Value>> | undefined;
    let optional: Readonly<Record<string, Value>> | undefined;
    for (const lazy of part.rules) {
      if (!lazy.isCompiled && this.#isPauseDue(COMPILATION)) yield;
      const rule = lazy.get();
      if (rule === undefined) continue;
      if (rule.isTransition && old === undefined) continue;
      let of: Readonly<Record<string, Value>>;
      try {
        if (rule.rule.optionalOldSelf === true) {
          of = optional ??= {
            self: self.adapt(value),
            oldSelf: old === undefined ? NONE : new Optional(self.adapt(old)),
          };
        } else {
          of = variables ??= { self: self.adapt(value), ...(old === undefined ? {} : { oldSelf: self.adapt(old) }) };
        }
      } catch (error) {
        // What is not of its type has been forgiven by the schema, as it was so before.
        if (!(error instanceof EvalError)) throw error;
        const problem = hintOf.failure({ error: error.message, costExceeded: false }, rule.rule);
        this.#add('FieldValueInvalid', path, part.type, problem);
        continue;
      }
      yield* this.#rule(rule, of, part.type, path);
      if (this.#ended) return;
    }
  }

  *#rule(rule: CompiledRule, variables: Readonly<Record<string, Value>>, type: string, path: string): Steps<void> {
    const outcome = yield* this.#evaluate(rule.program, variables);
    if (this.#budget < 0) {
      this.#add('FieldValueInvalid', path, type, hintOf.budget);
      this.#ended = true;
      return;
    }
    if ('error' in outcome) {
      this.#add('FieldValueInvalid', path, type, hintOf.failure(outcome, rule.rule));
      this.#ended = outcome.costExceeded;
      return;
    }
    if (outcome.value === true) return;
    const field = `${path}${rule.fieldPath}`.replace(/^\./, '');
    const message = yield* this.#message(rule, variables);
    // What has run out while it was told what is wrong is told instead.
    const error = this.#ended
      ? fieldErrorOf(undefined, field, type, message)
      : fieldErrorOf(rule.rule.reason, field, type, message);
    this.errors.push(error);
    if (!rule.usesOld) this.forgivable.set(error, this.#places());
  }

  #places(): readonly Place[] {
    return this.#values.flatMap((value, depth) => {
      const old = this.#olds[depth];
      return old === undefined ? [] : [{ value, old }];
    });
  }

  /** Its own, unless that cannot be used. */
  *#message({ message, rule }: CompiledRule, variables: Readonly<Record<string, Value>>): Steps<string> {
    if (message === undefined) return ruleText(rule);
    const outcome = yield* this.#evaluate(message, variables);
    if (this.#budget < 0 || ('error' in outcome && outcome.costExceeded)) {
      this.#ended = true;
      return this.#budget < 0 ? hintOf.messageBudget : hintOf.messageCost(rule);
    }
    const text = 'value' in outcome && typeof outcome.value === 'string' ? outcome.value.trim() : '';
    return text === '' || text.length > MAX_MESSAGE || text.includes('\n') ? ruleText(rule) : text;
  }

  *#evaluate(program: Program, variables: Readonly<Record<string, Value>>): Steps<Outcome> {
    const run = program.start(variables, CALL_LIMIT);
    for (;;) {
      const outcome = run.proceed(UNITS_AT_ONCE);
      if (outcome !== undefined) {
        this.#budget -= run.cost;
        if (this.#isPauseDue(run.cost + EVALUATION)) yield;
        return outcome;
      }
      yield;
    }
  }

  #isPauseDue(units: number): boolean {
    this.#sincePause += units;
    if (this.#sincePause <= UNITS_AT_ONCE) return false;
    this.#sincePause = 0;
    return true;
  }

  #add(reason: FieldError['reason'], path: string, type: string, message: string): void {
    this.errors.push({
      reason,
      field: path === '' ? '<nil>' : path,
      message: `Invalid value: ${JSON.stringify(type)}: ${message}`,
    });
  }
}

/** What an evaluation takes besides what it counts, in the same units. */
const EVALUATION = 20;
/** What it takes to compile a rule. */
const COMPILATION = UNITS_AT_ONCE / 2;
const MAX_MESSAGE = 5 * 1024;

function memberOf(
  map: Readonly<Record<string, JsonValue | undefined>> | undefined,
  name: string,
): JsonValue | undefined {
  return map !== undefined && Object.hasOwn(map, name) ? map[name] : undefined;
}
