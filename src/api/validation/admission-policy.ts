import { policyVariables, withVariables } from '../cel/admission-environment';
import { DYN, type Type } from '../cel/types';
import { duplicate, invalid, notSupported, required, type FieldError } from '../errors/field-error';
import { deepEqual } from '../steps/generated/kinds/deep-equal';
import { checkSame } from './immutable';
import type { KubeObject } from '../object';
import type { Steps } from '../parts';
import type {
  AuditAnnotation,
  MatchResources,
  NamedRuleWithOperations,
  ValidatingAdmissionPolicyBindingSpec,
  ValidatingAdmissionPolicySpec,
  Validation,
} from '../schema/generated/admissionregistration-v1';
import { checkEach } from './check-each';
import { typeOfExpression, type WantedType } from './expressions';
import { validateLabelSelector } from './label-selector';
import { qualifiedNameProblems } from './label-syntax';
import { validateMatchConditions } from './match-conditions';
import { dns1035LabelProblems, dns1123SubdomainProblems, pathSegmentName } from './names';
import { repetitionsInOrder } from './repetitions';
import { validateWebhookRule } from './webhook-rules';

const FAILURE_POLICIES = ['Fail', 'Ignore'];
const MATCH_POLICIES = ['Equivalent', 'Exact'];
const REASONS = ['Forbidden', 'Invalid', 'RequestEntityTooLarge', 'Unauthorized'];
const ACTIONS = ['Audit', 'Deny', 'Warn'];
const NOT_FOUND_ACTIONS = ['Allow', 'Deny'];
const MAX_AUDIT_ANNOTATIONS = 20;
const MAX_VALUE_EXPRESSION = 5 * 1024;

function specOf(object: KubeObject): ValidatingAdmissionPolicySpec {
  return object['spec'] ?? {};
}

function choice(value: string | null | undefined, supported: readonly string[], field: string): readonly FieldError[] {
  return value === undefined || value === null || supported.includes(value)
    ? []
    : [notSupported(field, value, supported)];
}

function validateRules(rules: readonly NamedRuleWithOperations[] | null | undefined, path: string) {
  return checkEach(rules, (rule, index) => [
    ...validateWebhookRule(rule, `${path}[${index}]`),
    ...validateResourceNames(rule.resourceNames ?? [], `${path}[${index}].resourceNames`),
  ]);
}

function validateResourceNames(names: readonly string[], path: string): readonly FieldError[] {
  const isRepeated = repetitionsInOrder();
  return checkEach(names, (name, index) => {
    const field = `${path}[${index}]`;
    return [
      ...pathSegmentName(name, false).map((problem) => invalid(field, name, problem)),
      ...(isRepeated(name) ? [duplicate(field, name)] : []),
    ];
  });
}

function validateMatchResources(resources: MatchResources, path: string): readonly FieldError[] {
  return [
    ...choice(resources.matchPolicy, MATCH_POLICIES, `${path}.matchPolicy`),
    ...validateLabelSelector(resources.namespaceSelector, `${path}.namespaceSelector`),
    ...validateLabelSelector(resources.objectSelector, `${path}.objectSelector`),
    ...validateRules(resources.resourceRules, `${path}.resourceRules`),
    ...validateRules(resources.excludeResourceRules, `${path}.excludeResourceRules`),
  ];
}

function validateParamKind({ paramKind }: ValidatingAdmissionPolicySpec): readonly FieldError[] {
  if (!paramKind) return [];
  const { apiVersion = '', kind = '' } = paramKind;
  return [
    ...(apiVersion === '' ? [required('spec.paramKind.apiVersion', '')] : []),
    ...(apiVersion.split('/', 3).length > 2
      ? [invalid('spec.paramKind.apiVersion', apiVersion, `unexpected GroupVersion string: ${apiVersion}`)]
      : []),
    ...(kind === '' ? [required('spec.paramKind.kind', '')] : []),
    ...dns1035LabelProblems(kind.toLowerCase()).flatMap((problem) =>
      kind === ''
        ? []
        : [invalid('spec.paramKind.kind', kind, `may have mixed case, but should otherwise match: ${problem}`)],
    ),
  ];
}

function validateValidation({ message = '', reason }: Validation, path: string): readonly FieldError[] {
  const trimmed = message.trim();
  return [
    ...(message !== '' && trimmed === ''
      ? [invalid(`${path}.message`, message, 'message must be non-empty if specified')]
      : []),
    ...(/[\r\n]/.test(trimmed) ? [invalid(`${path}.message`, message, 'message must not contain line breaks')] : []),
    ...choice(reason, REASONS, `${path}.reason`),
  ];
}

/** Their keys stand behind the policy's name. */
function validateAuditAnnotations(annotations: readonly AuditAnnotation[], policyName: string): readonly FieldError[] {
  const path = 'spec.auditAnnotations';
  const isRepeated = repetitionsInOrder();
  return [
    ...(annotations.length > MAX_AUDIT_ANNOTATIONS
      ? [invalid(path, annotations, `must not have more than ${MAX_AUDIT_ANNOTATIONS} auditAnnotations`)]
      : []),
    ...checkEach(annotations, ({ key = '', valueExpression = '' }, index) => {
      const field = `${path}[${index}]`;
      return [
        ...(key === '' ? [required(`${field}.key`, '')] : []),
        ...(key === '' ? [] : qualifiedNameProblems(`${policyName}/${key}`)).map((problem) =>
          invalid(`${field}.key`, `${policyName}/${key}`, problem),
        ),
        ...(key !== '' && isRepeated(key) ? [duplicate(`${field}.key`, key)] : []),
        ...(Buffer.byteLength(valueExpression.trim()) > MAX_VALUE_EXPRESSION
          ? [required(`${field}.valueExpression`, `must not exceed ${MAX_VALUE_EXPRESSION} bytes in length`)]
          : []),
      ];
    }),
  ];
}

/** Everything but the expressions. */
export function validateAdmissionPolicy(object: KubeObject): readonly FieldError[] {
  const spec = specOf(object);
  const { matchConstraints, validations, auditAnnotations, variables, matchConditions } = spec;
  const noRules = (matchConstraints?.resourceRules ?? []).length === 0;
  const nothing = (validations ?? []).length === 0 && (auditAnnotations ?? []).length === 0;
  const noEffect = 'validations or auditAnnotations must contain at least one item';
  return [
    ...choice(spec.failurePolicy, FAILURE_POLICIES, 'spec.failurePolicy'),
    ...validateParamKind(spec),
    ...(matchConstraints ? validateMatchResources(matchConstraints, 'spec.matchConstraints') : []),
    ...(matchConstraints ? [] : [required('spec.matchConstraints', '')]),
    ...(matchConstraints && noRules ? [required('spec.matchConstraints.resourceRules', '')] : []),
    ...validateMatchConditions(matchConditions ?? [], 'spec.matchConditions'),
    ...checkEach(variables, ({ name = '' }, index) => {
      const field = `spec.variables[${index}].name`;
      if (name === '') return [required(field, 'name is not specified')];
      return /^[_a-zA-Z][_a-zA-Z0-9]*$/.test(name) ? [] : [invalid(field, name, 'name is not a valid CEL identifier')];
    }),
    ...(nothing ? [required('spec.validations', noEffect), required('spec.auditAnnotations', noEffect)] : []),
    ...checkEach(validations, (validation, index) => validateValidation(validation, `spec.validations[${index}]`)),
    ...validateAuditAnnotations(auditAnnotations ?? [], object.metadata.name ?? ''),
  ];
}

export function validateAdmissionPolicyUpdate(object: KubeObject, old: KubeObject): readonly FieldError[] {
  return checkSame(object['spec'], old['spec'], () => validateAdmissionPolicy(object));
}

/** The expressions, one in a step; what an update leaves alone stays acceptable. */
export function* checkPolicyExpressions(object: KubeObject, old: KubeObject | undefined): Steps<readonly FieldError[]> {
  const spec = specOf(object);
  if (old !== undefined && (yield* deepEqual(object['spec'], old['spec']))) return [];
  const errors: FieldError[] = [];
  const base = policyVariables(spec.paramKind);
  const check = function* (
    source: string | undefined,
    field: string,
    variables: ReadonlyMap<string, Type>,
    wanted: WantedType,
  ): Steps<Type | undefined> {
    const expression = (source ?? '').trim();
    if (expression === '') {
      errors.push(required(field, `${field.slice(field.lastIndexOf('.') + 1)} is not specified`));
      return undefined;
    }
    const { type, problem } = yield* typeOfExpression(expression, variables, wanted);
    if (problem !== undefined) errors.push(invalid(field, source, problem));
    return type;
  };
  for (const [index, { expression }] of (spec.matchConditions ?? []).entries()) {
    if ((expression ?? '').trim() !== '')
      yield* check(expression, `spec.matchConditions[${index}].expression`, base, 'bool');
    yield;
  }
  const known = new Map<string, Type>();
  const all = withVariables(base, known);
  for (const [index, { name = '', expression }] of (spec.variables ?? []).entries()) {
    const type = yield* check(expression, `spec.variables[${index}].expression`, all, undefined);
    known.set(name, type ?? DYN);
    yield;
  }
  for (const [index, { expression, messageExpression = '' }] of (spec.validations ?? []).entries()) {
    const path = `spec.validations[${index}]`;
    yield* check(expression, `${path}.expression`, all, 'bool');
    const field = `${path}.messageExpression`;
    if (messageExpression.trim() !== '') yield* check(messageExpression, field, all, 'string');
    else if (messageExpression !== '') errors.push(invalid(field, messageExpression, 'must be non-empty if specified'));
    yield;
  }
  for (const [index, { valueExpression }] of (spec.auditAnnotations ?? []).entries()) {
    yield* check(valueExpression, `spec.auditAnnotations[${index}].valueExpression`, all, 'string or null');
    yield;
  }
  return errors;
}

export function validatePolicyBinding(object: KubeObject): readonly FieldError[] {
  const spec = (object['spec'] ?? {}) as ValidatingAdmissionPolicyBindingSpec;
  const { policyName = '', paramRef, matchResources, validationActions } = spec;
  const actions = validationActions ?? [];
  return [
    ...(policyName === ''
      ? [required('spec.policyName', '')]
      : dns1123SubdomainProblems(policyName).map((problem) => invalid('spec.policyName', policyName, problem))),
    ...(paramRef ? validateParamRef(paramRef) : []),
    ...(matchResources ? validateMatchResources(matchResources, 'spec.matchResources') : []),
    ...(actions.length === 0 ? [required('spec.validationActions', 'at least one validation action is required')] : []),
    ...validateActions(actions),
    ...(actions.includes('Deny') && actions.includes('Warn')
      ? [
          invalid(
            'spec.validationActions',
            actions,
            'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)',
          ),
        ]
      : []),
  ];
}

function validateActions(actions: readonly string[]): readonly FieldError[] {
  const seen = new Set<string>();
  return checkEach(actions, (action, index) => {
    const isRepeated = seen.has(action);
    seen.add(action);
    const path = `spec.validationActions[${index}]`;
    return [...choice(action, ACTIONS, path), ...(isRepeated ? [duplicate(path, action)] : [])];
  });
}

function validateParamRef({
  name = '',
  selector,
  parameterNotFoundAction: action,
}: NonNullable<ValidatingAdmissionPolicyBindingSpec['paramRef']>): readonly FieldError[] {
  const path = 'spec.paramRef';
  const exclusive = 'name and selector are mutually exclusive';
  const isSelecting = selector !== undefined && selector !== null;
  return [
    ...(name !== '' && isSelecting ? [invalid(`${path}.name`, name, exclusive)] : []),
    ...(name === '' && !isSelecting ? [required(path, 'one of name or selector must be specified')] : []),
    ...validateLabelSelector(selector, `${path}.selector`),
    ...(action === undefined || action === null || action === ''
      ? [required(`${path}.parameterNotFoundAction`, '')]
      : choice(action, NOT_FOUND_ACTIONS, `${path}.parameterNotFoundAction`)),
  ];
}
