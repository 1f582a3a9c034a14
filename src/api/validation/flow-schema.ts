import { duplicate, forbiddenField, invalid, notSupported, required, type FieldError } from '../errors/field-error';
import { quoteGo } from '../errors/go-quote';
import { checkEach } from './check-each';
import type { KubeObject } from '../object';
import type {
  FlowSchemaSpec,
  NonResourcePolicyRule,
  PolicyRulesWithSubjects,
  ResourcePolicyRule,
  Subject,
} from '../schema/generated/flowcontrol-v1beta1';
import { invalidLiteral, notSupportedLiteral, stringListLiteral } from './go-literal';
import { dnsLabelName, dnsSubdomainName } from './names';
import { invalidBecause } from './pod/field-rules';
import { repetitionsInOrder } from './repetitions';

const DISTINGUISHERS = ['ByNamespace', 'ByUser'];
const MAX_PRECEDENCE = 10_000;
/** The schema of requests that are never held back; it alone comes first. */
const EXEMPT = 'exempt';
const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'proxy', 'update', 'watch'];
const SUBJECT_KINDS = ['Group', 'ServiceAccount', 'User'];
/** The field of each kind of subject, in the order in which misplaced ones are reported. */
const SUBJECT_FIELDS = [
  ['ServiceAccount', 'serviceAccount'],
  ['User', 'user'],
  ['Group', 'group'],
] as const;

function validateServiceAccount({ name = '', namespace = '' }: NonNullable<Subject['serviceAccount']>, path: string) {
  return [
    ...(name === '' ? [required(`${path}.name`, '')] : []),
    ...(name === '' || name === '*' ? [] : invalidBecause(`${path}.name`, name, dnsSubdomainName(name, false))),
    ...(namespace === ''
      ? [required(`${path}.namespace`, 'must specify namespace for service account')]
      : invalidBecause(`${path}.namespace`, namespace, dnsLabelName(namespace, false))),
  ];
}

function validateSubject(subject: Subject, path: string): readonly FieldError[] {
  const { kind = '' } = subject;
  const own = SUBJECT_FIELDS.find(([name]) => name === kind);
  if (own === undefined) return [notSupported(`${path}.kind`, kind, SUBJECT_KINDS)];
  const [, field] = own;
  const value = subject[field];
  const fieldPath = `${path}.${field}`;
  const wrong = SUBJECT_FIELDS.filter(([name, other]) => name !== kind && subject[other]);
  const ofOwn = (): readonly FieldError[] => {
    if (!value) return [required(fieldPath, `${field} is required when subject kind is '${kind}'`)];
    if (field === 'serviceAccount') return validateServiceAccount(value, fieldPath);
    return (value.name ?? '') === '' ? [required(`${fieldPath}.name`, '')] : [];
  };
  return [
    ...ofOwn(),
    ...wrong.map(([name, other]) =>
      forbiddenField(`${path}.${other}`, `${other} is forbidden when subject kind is not '${name}'`),
    ),
  ];
}

/** A list that is not empty, in which a star stands alone. */
function validateList(list: readonly string[], field: string, missing: string, others: string): readonly FieldError[] {
  if (list.length === 0) return [required(field, missing)];
  const detail = `if '*' is present, must not specify other ${others}`;
  return list.length > 1 && list.includes('*')
    ? [invalidLiteral(field, stringListLiteral('[]string', list), detail)]
    : [];
}

function validateVerbs(verbs: readonly string[], field: string): readonly FieldError[] {
  const errors = validateList(verbs, field, 'verbs must contain at least one value', 'verbs');
  if (errors.length > 0 || verbs.includes('*')) return errors;
  if (verbs.every((verb) => VERBS.includes(verb))) return [];
  const literal = stringListLiteral('[]string', verbs);
  return [{ ...notSupported(field, '', VERBS), message: notSupportedMessage(literal) }];
}

function notSupportedMessage(literal: string): string {
  return `Unsupported value: ${literal}: supported values: ${VERBS.map((verb) => JSON.stringify(verb)).join(', ')}`;
}

function validateNamespaces(namespaces: readonly string[], isClusterScoped: boolean, field: string) {
  if (namespaces.length === 0) {
    const detail = 'resource rules that are not cluster scoped must supply at least one namespace';
    return isClusterScoped ? [] : [required(field, detail)];
  }
  if (namespaces.includes('*')) return validateList(namespaces, field, '', 'namespaces');
  const members = "each member of this list must be '*' or a DNS-1123 label; ";
  return checkEach(namespaces, (namespace, index) =>
    invalidBecause(
      `${field}[${index}]`,
      namespace,
      dnsLabelName(namespace, false).map((problem) => `${members}${problem}`),
    ),
  );
}

function validateResourceRule(rule: ResourcePolicyRule, path: string): readonly FieldError[] {
  const missing = (what: string): string => `resource rules must supply at least one ${what}`;
  return [
    ...validateVerbs(rule.verbs ?? [], `${path}.verbs`),
    ...validateList(rule.apiGroups ?? [], `${path}.apiGroups`, missing('api group'), 'api groups'),
    ...validateList(rule.resources ?? [], `${path}.resources`, missing('resource'), 'resources'),
    ...validateNamespaces(rule.namespaces ?? [], rule.clusterScope === true, `${path}.namespaces`),
  ];
}

function validateUrlPath(url: string, field: string): readonly FieldError[] {
  if (url === '') return [invalid(field, url, 'must not be empty')];
  if (url === '/') return [];
  const stars = url.split('*').length - 1;
  return [
    ...(url.startsWith('/') ? [] : [invalid(field, url, 'must start with slash')]),
    ...(url.includes(' ') ? [invalid(field, url, 'must not contain white-space')] : []),
    ...(url.includes('//') ? [invalid(field, url, 'must not contain double slash')] : []),
    ...(stars > 1 || (stars === 1 && !url.endsWith('/*'))
      ? [invalid(field, url, 'wildcard can only do suffix matching')]
      : []),
  ];
}

function validateNonResourceRule(rule: NonResourcePolicyRule, path: string): readonly FieldError[] {
  const field = `${path}.nonResourceURLs`;
  const urls = rule.nonResourceURLs ?? [];
  const ofList = validateList(urls, field, 'nonResourceURLs must contain at least one value', 'non-resource URLs');
  return [
    ...validateVerbs(rule.verbs ?? [], `${path}.verbs`),
    ...ofList,
    ...(urls.includes('*') ? [] : checkEach(urls, (url, index) => validateUrlPath(url, `${field}[${index}]`))),
  ];
}

function validateRules(rules: PolicyRulesWithSubjects, path: string): readonly FieldError[] {
  const { subjects = [], resourceRules = [], nonResourceRules = [] } = rules;
  const isEmpty = (resourceRules ?? []).length === 0 && (nonResourceRules ?? []).length === 0;
  return [
    ...((subjects ?? []).length === 0
      ? [required(`${path}.subjects`, 'subjects must contain at least one value')]
      : []),
    ...checkEach(subjects, (subject, index) => validateSubject(subject, `${path}.subjects[${index}]`)),
    ...(isEmpty ? [required(path, 'at least one of resourceRules and nonResourceRules has to be non-empty')] : []),
    ...checkEach(resourceRules, (rule, index) => validateResourceRule(rule, `${path}.resourceRules[${index}]`)),
    ...checkEach(nonResourceRules, (rule, index) =>
      validateNonResourceRule(rule, `${path}.nonResourceRules[${index}]`),
    ),
  ];
}

function validatePrecedence(precedence: number, schema: string): readonly FieldError[] {
  const field = 'spec.matchingPrecedence';
  return [
    ...(precedence <= 0 ? [invalid(field, precedence, 'must be a positive value')] : []),
    ...(precedence > MAX_PRECEDENCE ? [invalid(field, precedence, `must not be greater than ${MAX_PRECEDENCE}`)] : []),
    ...(precedence === 1 && schema !== EXEMPT
      ? [invalid(field, precedence, "only the schema named 'exempt' may have matchingPrecedence 1")]
      : []),
  ];
}

function validateLevelName(name: string): readonly FieldError[] {
  const field = 'spec.priorityLevelConfiguration.name';
  return name === ''
    ? [required(field, 'must reference a priority level')]
    : invalidBecause(field, name, dnsSubdomainName(name, false));
}

/** The conditions of flow schemas and of priority levels. */
export function validateFlowControlStatus(object: KubeObject): readonly FieldError[] {
  const { conditions } = (object['status'] ?? {}) as {
    readonly conditions?: readonly { readonly type?: string }[] | null;
  };
  const list = conditions ?? [];
  const isRepeated = repetitionsInOrder();
  return checkEach(list, ({ type = '' }, index) => {
    const field = `status.conditions[${index}].type`;
    return [
      ...(isRepeated(type) ? [duplicate(field, type)] : []),
      ...(type === '' ? [required(field, 'must not be empty')] : []),
    ];
  });
}

/** All problems of a flow schema: also what an update checks. */
export function validateFlowSchema(object: KubeObject): readonly FieldError[] {
  const spec = (object['spec'] ?? {}) as FlowSchemaSpec;
  const method = spec.distinguisherMethod;
  const methodType = method?.type ?? '';
  const methodLiteral = `flowcontrol.FlowDistinguisherMethod{Type:${quoteGo(methodType)}}`;
  return [
    ...validatePrecedence(spec.matchingPrecedence ?? 0, object.metadata.name ?? ''),
    ...(method && !DISTINGUISHERS.includes(methodType)
      ? [notSupportedLiteral('spec.distinguisherMethod.type', methodLiteral, DISTINGUISHERS)]
      : []),
    ...validateLevelName(spec.priorityLevelConfiguration?.name ?? ''),
    ...checkEach(spec.rules, (rules, index) => validateRules(rules, `spec.rules[${index}]`)),
    ...validateFlowControlStatus(object),
  ];
}
