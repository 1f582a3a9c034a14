import { duplicate, invalid, notSupported, required, type FieldError } from '../errors/field-error';
import { CONDITION_VARIABLES } from '../cel/admission-environment';
import type { Steps } from '../parts';
import { checkEach } from './check-each';
import { typeOfExpression } from './expressions';
import type { RequestedVersion } from '../kinds/kind-definition';
import type { KubeObject } from '../object';
import type { MatchCondition, MutatingWebhook, ValidatingWebhook } from '../schema/generated/admissionregistration-v1';
import { invalidLiteral, stringListLiteral } from './go-literal';
import { validateLabelSelector } from './label-selector';
import { validateMatchConditions } from './match-conditions';
import { dns1035LabelProblems, dns1123SubdomainProblems } from './names';
import { validateWebhookClient } from './webhook-client';
import { validateWebhookRule } from './webhook-rules';
import { repetitionsInOrder } from './repetitions';

type Webhook = ValidatingWebhook & Pick<MutatingWebhook, 'reinvocationPolicy'>;

const FAILURE_POLICIES = ['Fail', 'Ignore'];
const MATCH_POLICIES = ['Equivalent', 'Exact'];
const REINVOCATION_POLICIES = ['IfNeeded', 'Never'];
const SIDE_EFFECTS = ['None', 'NoneOnDryRun', 'Some', 'Unknown'];
const NO_SIDE_EFFECTS = ['None', 'NoneOnDryRun'];
const REVIEW_VERSIONS = ['v1', 'v1beta1'];
const MAX_TIMEOUT_SECONDS = 30;

/** What v1 asks of webhooks, and what older objects need not begin to keep to. */
interface Rules {
  readonly requireNoSideEffects: boolean;
  readonly requireKnownReviewVersion: boolean;
  readonly requireUniqueNames: boolean;
}

function webhooksOf(object: KubeObject): readonly Webhook[] {
  return (object['webhooks'] ?? []) as readonly Webhook[];
}

/** A domain of at least three parts. */
function validateQualifiedName(name: string, field: string): readonly FieldError[] {
  if (name === '') return [required(field, '')];
  const problems = dns1123SubdomainProblems(name);
  if (problems.length > 0) return [invalid(field, name, problems.join(','))];
  return name.split('.', 3).length < 3
    ? [invalid(field, name, 'should be a domain with at least three segments separated by dots')]
    : [];
}

function validateChoice(value: string | null | undefined, supported: readonly string[], field: string) {
  return value === undefined || value === null || supported.includes(value)
    ? []
    : [notSupported(field, value, supported)];
}

function validateSideEffects(value: string | null | undefined, rules: Rules, field: string): readonly FieldError[] {
  const allowed = rules.requireNoSideEffects ? NO_SIDE_EFFECTS : SIDE_EFFECTS;
  return value === undefined || value === null
    ? [required(field, `must specify one of ${allowed.join(', ')}`)]
    : validateChoice(value, allowed, field);
}

function validateTimeout(seconds: number | null | undefined, field: string): readonly FieldError[] {
  if (seconds === undefined || seconds === null || (seconds >= 1 && seconds <= MAX_TIMEOUT_SECONDS)) return [];
  return [invalid(field, seconds, `the timeout value must be between 1 and ${MAX_TIMEOUT_SECONDS} seconds`)];
}

function isKnownTo(versions: readonly string[]): boolean {
  return versions.some((version) => REVIEW_VERSIONS.includes(version));
}

function validateReviewVersions(versions: readonly string[], rules: Rules, path: string): readonly FieldError[] {
  if (versions.length === 0) return [required(path, `must specify one of ${REVIEW_VERSIONS.join(', ')}`)];
  const isRepeated = repetitionsInOrder();
  const errors = checkEach(versions, (version, index) =>
    isRepeated(version)
      ? [invalid(`${path}[${index}]`, version, 'duplicate version')]
      : dns1035LabelProblems(version).map((problem) => invalid(`${path}[${index}]`, version, problem)),
  );
  if (!rules.requireKnownReviewVersion || isKnownTo(versions)) return errors;
  const detail = `must include at least one of ${REVIEW_VERSIONS.join(', ')}`;
  return [...errors, invalidLiteral(path, stringListLiteral('[]string', versions), detail)];
}

/** Each with a name of its own; the expressions are checked one by one, after all else. */
function validateWebhook(hook: Webhook, rules: Rules, path: string): readonly FieldError[] {
  return [
    ...validateQualifiedName(hook.name ?? '', `${path}.name`),
    ...checkEach(hook.rules, (rule, index) => validateWebhookRule(rule, `${path}.rules[${index}]`)),
    ...validateChoice(hook.failurePolicy, FAILURE_POLICIES, `${path}.failurePolicy`),
    ...validateChoice(hook.matchPolicy, MATCH_POLICIES, `${path}.matchPolicy`),
    ...validateSideEffects(hook.sideEffects, rules, `${path}.sideEffects`),
    ...validateTimeout(hook.timeoutSeconds, `${path}.timeoutSeconds`),
    ...validateLabelSelector(hook.namespaceSelector, `${path}.namespaceSelector`),
    ...validateLabelSelector(hook.objectSelector, `${path}.objectSelector`),
    ...validateChoice(hook.reinvocationPolicy, REINVOCATION_POLICIES, `${path}.reinvocationPolicy`),
    ...validateWebhookClient(hook.clientConfig ?? {}, `${path}.clientConfig`),
    ...validateMatchConditions(hook.matchConditions ?? [], `${path}.matchConditions`),
  ];
}

function validateWebhooks(hooks: readonly Webhook[], rules: Rules): readonly FieldError[] {
  const isRepeated = repetitionsInOrder();
  return checkEach(hooks, (hook, index) => {
    const path = `webhooks[${index}]`;
    const { name = '', admissionReviewVersions } = hook;
    const isTaken = rules.requireUniqueNames && name !== '' && isRepeated(name);
    return [
      ...validateWebhook(hook, rules, path),
      ...validateReviewVersions(admissionReviewVersions ?? [], rules, `${path}.admissionReviewVersions`),
      ...(isTaken ? [duplicate(`${path}.name`, name)] : []),
    ];
  });
}

export function validateWebhookConfiguration(object: KubeObject, requested?: RequestedVersion): readonly FieldError[] {
  const isStable = requested?.version !== 'v1beta1';
  return validateWebhooks(webhooksOf(object), {
    requireNoSideEffects: isStable,
    requireKnownReviewVersion: true,
    requireUniqueNames: isStable,
  });
}

/** What the old object does not keep to, the new one need not. */
export function validateWebhookConfigurationUpdate(
  object: KubeObject,
  old: KubeObject,
  requested?: RequestedVersion,
): readonly FieldError[] {
  const isStable = requested?.version !== 'v1beta1';
  const hooks = webhooksOf(old);
  const names = hooks.map(({ name }) => name);
  return validateWebhooks(webhooksOf(object), {
    requireNoSideEffects: isStable && hooks.every(({ sideEffects }) => NO_SIDE_EFFECTS.includes(sideEffects ?? '')),
    requireKnownReviewVersion: hooks.every(({ admissionReviewVersions }) => isKnownTo(admissionReviewVersions ?? [])),
    requireUniqueNames: isStable && new Set(names).size === names.length,
  });
}

/** The conditions' expressions, one in a step; what stood there before stays acceptable. */
export function* checkConditionExpressions(
  object: KubeObject,
  old: KubeObject | undefined,
): Steps<readonly FieldError[]> {
  const conditionsOf = (hook: Webhook): readonly MatchCondition[] => hook.matchConditions ?? [];
  const before = old === undefined ? [] : webhooksOf(old).flatMap(conditionsOf);
  const accepted = new Set(before.map(({ expression }) => expression));
  const errors: FieldError[] = [];
  for (const [hook, webhook] of webhooksOf(object).entries()) {
    for (const [index, { expression = '' }] of conditionsOf(webhook).entries()) {
      if (accepted.has(expression)) continue;
      const { problem } = yield* typeOfExpression(expression, CONDITION_VARIABLES, 'bool');
      const field = `webhooks[${hook}].matchConditions[${index}].expression`;
      if (problem !== undefined) errors.push(invalid(field, expression, problem));
      yield;
    }
  }
  return errors;
}
