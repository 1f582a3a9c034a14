import { checkSteps } from '../cel/compile-expression';
import { estimateCost } from '../cel/estimate';
import { MAX_ESTIMATE, MAX_ESTIMATE_OF_SCHEMA } from '../cel/limits';
import { MAX_REQUEST_SIZE, schemaType, type SchemaType } from '../cel/schema-type';
import { optionalOf } from '../cel/types';
import { isJsonObject, schemasWith, valueSchema, type JsonSchema, type ValidationRule } from '../custom/json-schema';
import { hasRules, ruleVariables } from '../custom/rules';
import { parseRulePath, pathExists } from '../custom/rule-path';
import { forbiddenField, invalid, notSupported, required, type FieldError } from '../errors/field-error';
import { quoteShown } from '../errors/shown-value';
import type { KubeObject } from '../object';
import type { Steps } from '../parts';
import { deepEqual } from '../kinds/deep-equal';
import { listAt, valueAt } from '../kinds/field-values';
import { invalidLiteral } from './go-literal';

/**
 * The rules in CEL of a definition's schemas: each is read, its types are checked, and what it may cost is estimated, for
 * objects as large as the schema lets them be. A rule takes a step.
 */
export function* checkDefinitionRules(
  definition: KubeObject,
  old: KubeObject | undefined,
): Steps<readonly FieldError[]> {
  const schemas = schemasOf(definition);
  const known = old === undefined ? [] : schemasOf(old);
  const isCommon = schemas.every((schema) => deepEqual(schema, schemas[0]));
  const errors: FieldError[] = [];
  for (const [index, schema] of schemas.entries()) {
    if (isCommon && index > 0) break;
    // What has been accepted once stays acceptable.
    if (schema === undefined || !hasRules(schema) || (yield* isAmong(known, schema))) continue;
    const path = isCommon ? 'spec.validation.openAPIV3Schema' : `spec.versions[${index}].schema.openAPIV3Schema`;
    const checking = new SchemaRules(
      schemasWith(schema, (part) => (part['x-kubernetes-validations'] ?? []).length > 0),
    );
    yield* checking.part(schema, path, { isRoot: true, cardinality: 1, uncorrelated: undefined });
    errors.push(...checking.errors, ...checking.totalProblems(path));
  }
  return errors;
}

function* isAmong(known: readonly (JsonSchema | undefined)[], schema: JsonSchema): Steps<boolean> {
  for (const one of known) {
    if (deepEqual(one, schema)) return true;
    yield;
  }
  return false;
}

function schemasOf(definition: KubeObject): readonly (JsonSchema | undefined)[] {
  return listAt(definition, 'spec', 'versions').map((version) => {
    const schema = valueAt(version, 'schema', 'openAPIV3Schema');
    return isJsonObject(schema as never) ? (schema as JsonSchema) : undefined;
  });
}

interface Place {
  readonly isRoot: boolean;
  /** How many such values an object may have; undefined: as many as fit into a request. */
  readonly cardinality: number | undefined;
  /** The list or map above it whose members have no counterparts in the old object. */
  readonly uncorrelated: string | undefined;
}

interface RuleCost {
  readonly path: string;
  readonly cost: number;
}

const REASONS = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'];

class SchemaRules {
  readonly errors: FieldError[] = [];
  readonly #costs: RuleCost[] = [];
  readonly #reported = new Set<string>();

  /** `known`: the parts of the schema that have rules, or parts with rules. */
  constructor(private readonly known: ReadonlySet<JsonSchema>) {}

  *part(schema: JsonSchema, path: string, place: Place): Steps<void> {
    const rules = schema['x-kubernetes-validations'] ?? [];
    if (rules.length > 0) yield* this.#rules(schema, rules, `${path}.x-kubernetes-validations`, place);
    const isAtomicMap = schema['x-kubernetes-map-type'] === 'atomic';
    const uncorrelated = place.uncorrelated ?? (isAtomicMap ? path : undefined);
    const values = valueSchema(schema);
    if (values !== undefined && this.known.has(values)) {
      const cardinality = times(place.cardinality, schema.maxProperties);
      yield* this.part(values, `${path}.additionalProperties`, { ...inside(values), cardinality, uncorrelated });
    }
    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      if (!this.known.has(property)) continue;
      const { cardinality } = place;
      yield* this.part(property, `${path}.properties[${name}]`, { ...inside(property), cardinality, uncorrelated });
    }
    const { items } = schema;
    if (items === undefined || !this.known.has(items)) return;
    const isKeyed = schema['x-kubernetes-list-type'] === 'map';
    yield* this.part(items, `${path}.items`, {
      ...inside(items),
      cardinality: times(place.cardinality, schema.maxItems),
      uncorrelated: place.uncorrelated ?? (isKeyed ? undefined : path),
    });
  }

  *#rules(schema: JsonSchema, rules: readonly ValidationRule[], path: string, place: Place): Steps<void> {
    const self = schemaType(schema, place.isRoot);
    for (const [index, rule] of rules.entries()) {
      const where = `${path}[${index}]`;
      this.errors.push(...validateRuleFields(rule, schema, where));
      if ((rule.rule ?? '').trim() !== '' && self !== undefined) yield* this.#expressions(rule, self, where, place);
      yield;
    }
  }

  *#expressions(rule: ValidationRule, self: SchemaType, path: string, place: Place): Steps<void> {
    const variables = ruleVariables(self.type, rule);
    const known = knownVariables(self, rule);
    const cardinality = place.cardinality ?? Math.floor(MAX_REQUEST_SIZE / (self.minSize + 1));
    const rulePath = `${path}.rule`;
    const literal = ruleLiteral(rule);
    try {
      const checked = yield* checkSteps(rule.rule ?? '', variables);
      const usesOld = checked.references.has('oldSelf');
      if (!['bool', 'dyn'].includes(checked.type.kind)) {
        this.errors.push(invalidLiteral(rulePath, literal, 'cel expression must evaluate to a bool'));
      }
      if (rule.optionalOldSelf !== undefined && !usesOld) {
        this.errors.push(
          invalid(`${path}.optionalOldSelf`, rule.optionalOldSelf, 'may not be set if oldSelf is not used in rule'),
        );
      }
      if (usesOld && rule.optionalOldSelf !== true && place.uncorrelated !== undefined) {
        const problem = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${place.uncorrelated}`;
        this.errors.push(invalid(rulePath, rule.rule, problem));
      }
      this.#addCost(rulePath, 'estimated rule cost', estimateCost(checked, known) * cardinality);
    } catch (error) {
      this.errors.push(invalidLiteral(rulePath, literal, `compilation failed: ${messageOf(error)}`));
    }
    if ((rule.messageExpression ?? '').trim() !== '') {
      yield* this.#message(rule, variables, known, path, cardinality);
    }
  }

  *#message(
    rule: ValidationRule,
    variables: ReturnType<typeof ruleVariables>,
    known: ReadonlyMap<string, SchemaType>,
    path: string,
    cardinality: number,
  ): Steps<void> {
    const field = `${path}.messageExpression`;
    try {
      const checked = yield* checkSteps(rule.messageExpression ?? '', variables);
      if (!['string', 'dyn'].includes(checked.type.kind)) {
        this.errors.push(invalidLiteral(field, ruleLiteral(rule), 'messageExpression must evaluate to a string'));
      }
      this.#addCost(field, 'estimated messageExpression cost', estimateCost(checked, known) * cardinality);
    } catch (error) {
      const problem = `messageExpression compilation failed: ${messageOf(error)}`;
      this.errors.push(invalidLiteral(field, ruleLiteral(rule), problem));
    }
  }

  #addCost(path: string, name: string, cost: number): void {
    this.#costs.push({ path, cost });
    if (cost <= MAX_ESTIMATE) return;
    this.#reported.add(path);
    this.errors.push(forbiddenField(path, costProblem(name, cost, MAX_ESTIMATE)));
  }

  /** Many rules that are cheap one by one may be too much together; the most expensive are told. */
  totalProblems(path: string): readonly FieldError[] {
    const total = this.#costs.reduce((sum, { cost }) => sum + cost, 0);
    if (total <= MAX_ESTIMATE_OF_SCHEMA) return [];
    const share = 'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema';
    const top = [...this.#costs]
      .sort((left, right) => right.cost - left.cost)
      .slice(0, 4)
      .filter(({ cost }) => cost > MAX_ESTIMATE_OF_SCHEMA / 100);
    const name = 'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema';
    return [
      ...top.map((one) => forbiddenField(one.path, share)),
      forbiddenField(path, costProblem(name, total, MAX_ESTIMATE_OF_SCHEMA)),
    ];
  }
}

function inside(schema: JsonSchema): { readonly isRoot: boolean } {
  return { isRoot: schema['x-kubernetes-embedded-resource'] === true };
}

function times(cardinality: number | undefined, count: number | undefined): number | undefined {
  return cardinality === undefined || count === undefined ? undefined : cardinality * count;
}

/** What the estimate knows of the variables. */
function knownVariables(self: SchemaType, { optionalOldSelf }: ValidationRule): ReadonlyMap<string, SchemaType> {
  const old: SchemaType = optionalOldSelf === true ? { ...self, type: optionalOf(self.type) } : self;
  return new Map([
    ['self', self],
    ['oldSelf', old],
  ]);
}

function messageOf(error: unknown): string {
  if (error instanceof Error && error.name === 'CelSyntaxError') return error.message;
  throw error;
}

function costProblem(name: string, cost: number, limit: number): string {
  const factor = cost / limit;
  const shown = factor > 100 ? 'more than 100x' : factor < 1.5 ? `${factor.toFixed(6)}x` : `${factor.toFixed(1)}x`;
  return (
    `${name} exceeds budget by factor of ${shown} (try simplifying the rule, or adding maxItems, maxProperties, ` +
    'and maxLength where arrays, maps, and strings are declared)'
  );
}

/** A rule as messages show it. */
function ruleLiteral(rule: ValidationRule): string {
  const { rule: text = '', message = '', messageExpression = '', reason, fieldPath = '', optionalOldSelf } = rule;
  const quoted = [text, message, messageExpression, fieldPath].map(quoteShown);
  const optional = optionalOldSelf === undefined ? '(*bool)(nil)' : `(*bool)(${optionalOldSelf})`;
  const given = reason === undefined ? '(*apiextensions.FieldValueErrorReason)(nil)' : JSON.stringify(reason);
  return (
    `apiextensions.ValidationRule{Rule:${quoted[0]}, Message:${quoted[1]}, MessageExpression:${quoted[2]}, ` +
    `Reason:${given}, FieldPath:${quoted[3]}, OptionalOldSelf:${optional}}`
  );
}

const LINE_BREAK = /[\n\r]/;

function validateRuleFields(rule: ValidationRule, schema: JsonSchema, path: string): readonly FieldError[] {
  const { message = '', messageExpression = '', reason, fieldPath = '' } = rule;
  const text = (rule.rule ?? '').trim();
  const errors: FieldError[] = [];
  if (text === '') errors.push(required(`${path}.rule`, 'rule is not specified'));
  if (message !== '' && message.trim() === '') {
    errors.push(invalid(`${path}.message`, message, 'message must be non-empty if specified'));
  } else if (LINE_BREAK.test(message.trim())) {
    errors.push(invalid(`${path}.message`, message, 'message must not contain line breaks'));
  } else if (LINE_BREAK.test(text) && message.trim() === '') {
    errors.push(required(`${path}.message`, 'message must be specified if rule contains line breaks'));
  }
  if (messageExpression !== '' && messageExpression.trim() === '') {
    errors.push(required(`${path}.messageExpression`, 'messageExpression must be non-empty if specified'));
  }
  if (reason !== undefined && !REASONS.includes(reason)) errors.push(notSupported(`${path}.reason`, reason, REASONS));
  if (fieldPath === '') return errors;
  const parsed = parseRulePath(fieldPath.trim());
  if (fieldPath.trim() === '') {
    errors.push(invalid(`${path}.fieldPath`, fieldPath, 'fieldPath must be non-empty if specified'));
  } else if (parsed === undefined || !pathExists(schema, parsed)) {
    errors.push(invalid(`${path}.fieldPath`, fieldPath, 'fieldPath must be a valid path'));
  }
  return errors;
}
