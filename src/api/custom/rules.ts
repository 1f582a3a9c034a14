import { compileExpression } from '../cel/compile-expression';
import type { Program } from '../cel/evaluate';
import { CALL_LIMIT, OBJECT_BUDGET, UNITS_AT_ONCE } from '../cel/limits';
import type { Outcome } from '../cel/run';
import { schemaType, type SchemaType } from '../cel/schema-type';
import { optionalOf, type Type } from '../cel/types';
import { NONE, Optional, type Value } from '../cel/values';
import type { FieldError } from '../errors/field-error';
import type { JsonValue } from '../object';
import type { Steps } from '../parts';
import { isJsonList, isJsonObject, valueSchema, type JsonSchema, type ValidationRule } from './json-schema';
import { listKeyOf } from './list-key';
import { fieldErrorOf, hintOf, ruleText } from './rule-messages';
import { parseRulePath } from './rule-path';

/**
 * The rules in CEL of a schema (`x-kubernetes-validations`), checked against an object, part by part: compiled once for a
 * definition, when an object is first written. An expensive evaluation is taken in steps, and all of an object share a budget.
 */
export interface RuleCheck {
  check(object: JsonValue, old: JsonValue | undefined): Steps<readonly FieldError[]>;
}

/** A part of the schema with rules, or with parts that have some. */
interface Part {
  readonly type: string;
  readonly rules: readonly CompiledRule[];
  readonly self: SchemaType | undefined;
  readonly properties: readonly (readonly [name: string, part: Part])[];
  readonly items: Part | undefined;
  readonly values: Part | undefined;
  /** By which an item of the old list is found; undefined: items have no counterparts. */
  readonly itemKeys: readonly string[] | undefined;
  readonly isAtomicMap: boolean;
}

interface CompiledRule {
  readonly rule: ValidationRule;
  readonly program: Program;
  readonly message: Program | undefined;
  /** Compares with the old value, and is not checked where there is none. */
  readonly isTransition: boolean;
  readonly fieldPath: string;
}

/** Undefined: the schema has no rules. */
export function compileRules(schema: JsonSchema): RuleCheck | undefined {
  if (!hasRules(schema)) return undefined;
  let root: Part | undefined;
  return {
    *check(object, old) {
      root ??= compilePart(schema, true);
      const checking = new Checking();
      yield* checking.part(root, object, old, '');
      return checking.errors;
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

function compilePart(schema: JsonSchema, isRoot: boolean): Part {
  const rules = schema['x-kubernetes-validations'] ?? [];
  const self = rules.length === 0 ? undefined : schemaType(schema, isRoot);
  const within = (part: JsonSchema | undefined): Part | undefined =>
    part !== undefined && hasRules(part)
      ? compilePart(part, part['x-kubernetes-embedded-resource'] === true)
      : undefined;
  const listType = schema['x-kubernetes-list-type'];
  return {
    type: isRoot ? 'object' : (schema.type ?? ''),
    self,
    rules: self === undefined ? [] : rules.flatMap((rule) => compileRule(rule, self) ?? []),
    properties: Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
      const part = within(property);
      return part === undefined ? [] : [[name, part] as const];
    }),
    items: within(schema.items),
    values: within(valueSchema(schema)),
    itemKeys: listType === 'map' ? (schema['x-kubernetes-list-map-keys'] ?? []) : undefined,
    isAtomicMap: schema['x-kubernetes-map-type'] === 'atomic',
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
    return {
      rule,
      program,
      message: messageExpression === '' ? undefined : compileExpression(messageExpression, variables),
      isTransition: program.checked.references.has('oldSelf') && rule.optionalOldSelf !== true,
      fieldPath: parseRulePath(rule.fieldPath ?? '')?.text ?? '',
    };
  } catch (error) {
    if (error instanceof Error && error.name === 'CelSyntaxError') return undefined;
    throw error;
  }
}

/** The check of one object. */
class Checking {
  readonly errors: FieldError[] = [];
  #budget = OBJECT_BUDGET;
  #ended = false;
  #sincePause = 0;

  *part(part: Part, value: JsonValue, old: JsonValue | undefined, path: string): Steps<void> {
    if (part.self !== undefined) yield* this.#rules(part, part.self, value, old, path);
    if (isJsonObject(value)) {
      const before = isJsonObject(old) && !part.isAtomicMap ? old : undefined;
      for (const [name, property] of part.properties) {
        const member = Object.hasOwn(value, name) ? value[name] : undefined;
        if (member === undefined) continue;
        yield* this.part(property, member, memberOf(before, name), path === '' ? name : `${path}.${name}`);
        if (this.#ended) return;
      }
      if (part.values !== undefined) yield* this.#values(part.values, value, before, path);
    } else if (part.items !== undefined && isJsonList(value)) yield* this.#items(part, part.items, value, old, path);
  }

  *#values(
    part: Part,
    map: Readonly<Record<string, JsonValue | undefined>>,
    before: Readonly<Record<string, JsonValue | undefined>> | undefined,
    path: string,
  ): Steps<void> {
    for (const name of Object.keys(map)) {
      const member = map[name];
      if (member === undefined) continue;
      yield* this.part(part, member, memberOf(before, name), `${path}[${name}]`);
      if (this.#ended) return;
    }
  }

  *#items(
    { itemKeys }: Part,
    part: Part,
    list: readonly JsonValue[],
    old: JsonValue | undefined,
    path: string,
  ): Steps<void> {
    const before = new Map<string, JsonValue>();
    if (itemKeys !== undefined && isJsonList(old)) for (const item of old) before.set(listKeyOf(item, itemKeys), item);
    for (let index = 0; index < list.length; index += 1) {
      const item = list[index] as JsonValue;
      const counterpart = itemKeys === undefined ? undefined : before.get(listKeyOf(item, itemKeys));
      yield* this.part(part, item, counterpart, `${path}[${index}]`);
      if (this.#ended) return;
    }
  }

  *#rules(part: Part, self: SchemaType, value: JsonValue, old: JsonValue | undefined, path: string): Steps<void> {
    let variables: Readonly<Record<string, Value>> | undefined;
    let optional: Readonly<Record<string, Value>> | undefined;
    for (const rule of part.rules) {
      if (rule.isTransition && old === undefined) continue;
      let of: Readonly<Record<string, Value>>;
      if (rule.rule.optionalOldSelf === true) {
        of = optional ??= {
          self: self.adapt(value),
          oldSelf: old === undefined ? NONE : new Optional(self.adapt(old)),
        };
      } else {
        of = variables ??= { self: self.adapt(value), ...(old === undefined ? {} : { oldSelf: self.adapt(old) }) };
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
    const message = (yield* this.#message(rule, variables)) ?? ruleText(rule.rule);
    const field = `${path}${rule.fieldPath}`.replace(/^\./, '');
    this.errors.push(fieldErrorOf(rule.rule.reason, field, type, message));
  }

  /** Undefined: it has none, or it cannot be used. */
  *#message({ message }: CompiledRule, variables: Readonly<Record<string, Value>>): Steps<string | undefined> {
    if (message === undefined) return undefined;
    const outcome = yield* this.#evaluate(message, variables);
    const text = 'value' in outcome && typeof outcome.value === 'string' ? outcome.value.trim() : '';
    return text === '' || text.length > MAX_MESSAGE || text.includes('\n') ? undefined : text;
  }

  *#evaluate(program: Program, variables: Readonly<Record<string, Value>>): Steps<Outcome> {
    const run = program.start(variables, CALL_LIMIT);
    for (;;) {
      const outcome = run.proceed(UNITS_AT_ONCE);
      if (outcome !== undefined) {
        this.#budget -= run.cost;
        this.#sincePause += run.cost + EVALUATION;
        if (this.#sincePause > UNITS_AT_ONCE) {
          this.#sincePause = 0;
          yield;
        }
        return outcome;
      }
      yield;
    }
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
const MAX_MESSAGE = 5 * 1024;

function memberOf(
  map: Readonly<Record<string, JsonValue | undefined>> | undefined,
  name: string,
): JsonValue | undefined {
  return map !== undefined && Object.hasOwn(map, name) ? map[name] : undefined;
}
