import { invalid, notSupported, required, type FieldError } from '../errors/field-error';
import { checkEach } from './check-each';
import type { KubeObject } from '../object';
import type { ClusterRole, PolicyRule, RoleRef, Subject } from '../schema/generated/rbac-v1';
import { invalidLiteral, stringListLiteral } from './go-literal';
import { checkUsable, validateLabelSelector } from './label-selector';
import { dnsSubdomainName, pathSegmentName } from './names';

const RBAC_GROUP = 'rbac.authorization.k8s.io';
const SUBJECT_KINDS = ['ServiceAccount', 'User', 'Group'] as const;

/** A role applies in a namespace, a cluster role everywhere: also to paths that are no resources. */
export interface RoleScope {
  readonly namespaced: boolean;
}

function validateUrls(rule: PolicyRule, { namespaced }: RoleScope, path: string): readonly FieldError[] {
  const field = `${path}.nonResourceURLs`;
  const literal = stringListLiteral('[]string', rule.nonResourceURLs ?? []);
  const hasResources = [rule.apiGroups, rule.resources, rule.resourceNames].some((list) => (list ?? []).length > 0);
  return [
    ...(namespaced ? [invalidLiteral(field, literal, 'namespaced rules cannot apply to non-resource URLs')] : []),
    ...(hasResources
      ? [invalidLiteral(field, literal, 'rules cannot apply to both regular resources and non-resource URLs')]
      : []),
  ];
}

function atLeastOne(list: readonly string[] | null | undefined, field: string, detail: string): readonly FieldError[] {
  return (list ?? []).length > 0 ? [] : [required(field, detail)];
}

function validateRule(rule: PolicyRule, scope: RoleScope, path: string): readonly FieldError[] {
  return [
    ...atLeastOne(rule.verbs, `${path}.verbs`, 'verbs must contain at least one value'),
    ...((rule.nonResourceURLs ?? []).length > 0
      ? validateUrls(rule, scope, path)
      : [
          ...atLeastOne(rule.apiGroups, `${path}.apiGroups`, 'resource rules must supply at least one api group'),
          ...atLeastOne(rule.resources, `${path}.resources`, 'resource rules must supply at least one resource'),
        ]),
  ];
}

function validateAggregation({ aggregationRule }: Pick<ClusterRole, 'aggregationRule'>): readonly FieldError[] {
  if (!aggregationRule) return [];
  const field = 'aggregationRule.clusterRoleSelectors';
  const selectors = aggregationRule.clusterRoleSelectors ?? [];
  if (selectors.length === 0) {
    return [required(field, 'at least one clusterRoleSelector required if aggregationRule is non-nil')];
  }
  return checkEach(selectors, (selector, index) => [
    ...validateLabelSelector(selector, `${field}[${index}]`),
    ...checkUsable(selector, (isUsable) =>
      isUsable ? [] : [invalidLiteral(`${field}[${index}]`, '"null"', 'invalid label selector.')],
    ),
  ]);
}

/** All problems of a role or a cluster role. */
export function validateRole(scope: RoleScope): (object: KubeObject) => readonly FieldError[] {
  return (object) => {
    const rules = (object['rules'] ?? []) as readonly PolicyRule[];
    return [
      ...checkEach(rules, (rule, index) => validateRule(rule, scope, `rules[${index}]`)),
      ...validateAggregation(object as Pick<ClusterRole, 'aggregationRule'>),
    ];
  };
}

/** An update reports each problem twice, once as a new object would and once as a changed one. */
export function validateRoleUpdate(scope: RoleScope): (object: KubeObject) => readonly FieldError[] {
  const validate = validateRole(scope);
  return (object) => {
    const errors = validate(object);
    return [...errors, ...errors];
  };
}

function validateRoleRef(roleRef: RoleRef, { namespaced }: RoleScope): readonly FieldError[] {
  const { apiGroup = '', kind = '', name = '' } = roleRef;
  const kinds = namespaced ? ['Role', 'ClusterRole'] : ['ClusterRole'];
  return [
    ...(apiGroup === RBAC_GROUP ? [] : [notSupported('roleRef.apiGroup', apiGroup, [RBAC_GROUP])]),
    ...(kinds.includes(kind) ? [] : [notSupported('roleRef.kind', kind, kinds)]),
    ...(name === ''
      ? [required('roleRef.name', '')]
      : pathSegmentName(name, false).map((problem) => invalid('roleRef.name', name, problem))),
  ];
}

function validateAccount(subject: Subject, { namespaced }: RoleScope, path: string): readonly FieldError[] {
  const { name = '', namespace = '', apiGroup = '' } = subject;
  return [
    ...(name === '' ? [] : dnsSubdomainName(name, false).map((problem) => invalid(`${path}.name`, name, problem))),
    ...(apiGroup === '' ? [] : [notSupported(`${path}.apiGroup`, apiGroup, [''])]),
    ...(!namespaced && namespace === '' ? [required(`${path}.namespace`, '')] : []),
  ];
}

function validateSubject(subject: Subject, scope: RoleScope, path: string): readonly FieldError[] {
  const { kind = '', name = '', apiGroup = '' } = subject;
  const unnamed = name === '' ? [required(`${path}.name`, '')] : [];
  switch (kind) {
    case 'ServiceAccount':
      return [...unnamed, ...validateAccount(subject, scope, path)];
    case 'User':
    case 'Group':
      return [
        ...unnamed,
        ...(apiGroup === RBAC_GROUP ? [] : [notSupported(`${path}.apiGroup`, apiGroup, [RBAC_GROUP])]),
      ];
    default:
      return [...unnamed, notSupported(`${path}.kind`, kind, SUBJECT_KINDS)];
  }
}

/** All problems of a role binding or a cluster role binding. */
export function validateBinding(scope: RoleScope): (object: KubeObject) => readonly FieldError[] {
  return (object) => {
    const subjects = (object['subjects'] ?? []) as readonly Subject[];
    return [
      ...validateRoleRef(object['roleRef'] ?? {}, scope),
      ...checkEach(subjects, (subject, index) => validateSubject(subject, scope, `subjects[${index}]`)),
    ];
  };
}

/** Who may bind one role must not get another by an update: the reference stays. Problems are reported twice. */
export function validateBindingUpdate(
  scope: RoleScope,
): (object: KubeObject, old: KubeObject) => readonly FieldError[] {
  const validate = validateBinding(scope);
  return (object, old) => {
    const errors = validate(object);
    const { apiGroup = '', kind = '', name = '' } = (object['roleRef'] ?? {}) as RoleRef;
    const was = (old['roleRef'] ?? {}) as RoleRef;
    const same = apiGroup === (was.apiGroup ?? '') && kind === (was.kind ?? '') && name === (was.name ?? '');
    const [groupText, kindText, nameText] = [apiGroup, kind, name].map((text) => JSON.stringify(text));
    const literal = `rbac.RoleRef{APIGroup:${groupText}, Kind:${kindText}, Name:${nameText}}`;
    return [...errors, ...errors, ...(same ? [] : [invalidLiteral('roleRef', literal, 'cannot change roleRef')])];
  };
}
