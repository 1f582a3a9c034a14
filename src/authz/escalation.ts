import { forbidden, notFound } from '../api/errors/status-error';
import type { KubeObject } from '../api/object';
import { MASTERS_GROUP, type UserInfo } from '../api/user';
import type { Attributes, Authorizer } from './attributes';
import { uncoveredRules } from './rbac-coverage';
import type { RbacAuthorizer, RoleRef } from './rbac';
import type { PolicyRule } from './rbac-rules';

/** A create or an update of a role or a binding, as it is about to be stored. */
export interface RbacWrite {
  /** `roles`, `clusterroles`, `rolebindings` or `clusterrolebindings`. */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly user: UserInfo;
  readonly object: KubeObject;
  /** Undefined when it is created. */
  readonly oldObject: KubeObject | undefined;
}

export const RBAC_GROUP = 'rbac.authorization.k8s.io';
const EVERYTHING: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
];

type Rbac = Pick<RbacAuthorizer, 'rulesFor' | 'rulesOf'>;

/**
 * Users give away no more than they hold: to write a role takes its permissions or the verb `escalate` on it, to
 * write a binding has the role's permissions or the verb `bind` on the role. Throws the 403 that lists what is missing,
 * or the 404 of the role that a binding refers to. Members of system:masters may do all.
 */
export function escalationGuard(rbac: Rbac, authorize: Authorizer): (write: RbacWrite) => Promise<void> {
  return async (write) => {
    const { resource, user } = write;
    if (user.groups.includes(MASTERS_GROUP) || onlyCollectorFieldsChange(write)) return;
    if (resource === 'roles' || resource === 'clusterroles') await checkRole(rbac, authorize, write);
    else await checkBinding(rbac, authorize, write);
  };
}

async function checkRole(rbac: Rbac, authorize: Authorizer, write: RbacWrite): Promise<void> {
  const { resource, namespace, name, user, object, oldObject } = write;
  if (await mayOn(authorize, user, 'escalate', resource, namespace, name)) return;
  confirm(rbac, write, rulesIn(object));
  if (resource === 'roles' || (object.aggregationRule == null && oldObject?.aggregationRule == null)) return;
  // What it gathers later cannot be known now.
  if (uncoveredRules(rbac.rulesFor(user, namespace).rules, EVERYTHING).length > 0) {
    throw refuse(write, 'must have cluster-admin privileges to use the aggregationRule');
  }
}

async function checkBinding(rbac: Rbac, authorize: Authorizer, write: RbacWrite): Promise<void> {
  const { namespace, user, object } = write;
  const roleRef = object.roleRef as RoleRef;
  const resource = roleRef.kind === 'ClusterRole' ? 'clusterroles' : 'roles';
  if (await mayOn(authorize, user, 'bind', resource, namespace, roleRef.name)) return;
  const rules = rbac.rulesOf(roleRef, namespace);
  if (rules === undefined) throw notFound({ group: RBAC_GROUP, resource }, roleRef.name);
  confirm(rbac, write, rules);
}

function rulesIn(role: KubeObject): readonly PolicyRule[] {
  return (role.rules as readonly PolicyRule[] | null | undefined) ?? [];
}

async function mayOn(
  authorize: Authorizer,
  user: UserInfo,
  verb: string,
  resource: string,
  namespace: string,
  name: string,
): Promise<boolean> {
  const attributes: Attributes = {
    user,
    verb,
    resourceRequest: true,
    group: RBAC_GROUP,
    version: '*',
    resource,
    subresource: '',
    namespace,
    name,
    path: '',
  };
  return (await authorize(attributes)).decision === 'allow';
}

function confirm(rbac: Rbac, write: RbacWrite, wanted: readonly PolicyRule[]): void {
  const { user, namespace } = write;
  const held = rbac.rulesFor(user, namespace);
  const missing = uncoveredRules(held.rules, wanted);
  if (missing.length === 0) return;
  const lines = [...new Set(mergeVerbs(missing).map(printRule))].sort();
  const errors = held.error === undefined ? '' : `; resolution errors: ${held.error}`;
  throw refuse(
    write,
    `user ${JSON.stringify(user.name)} (groups=${printList(user.groups)}) is attempting to grant RBAC permissions ` +
      `not currently held:\n${lines.join('\n')}${errors}`,
  );
}

function refuse({ resource, name }: RbacWrite, cause: string): Error {
  return forbidden({ group: RBAC_GROUP, resource }, name, cause);
}

/** Rules of one group, resource and name become one with all verbs; those for paths stay apart. */
function mergeVerbs(rules: readonly PolicyRule[]): readonly PolicyRule[] {
  const merged = new Map<string, PolicyRule & { readonly verbs: string[] }>();
  for (const rule of rules) {
    const key = JSON.stringify([
      rule.apiGroups,
      rule.resources,
      rule.resourceNames,
      rule.nonResourceURLs,
      rule.nonResourceURLs === undefined ? '' : rule.verbs,
    ]);
    const known = merged.get(key);
    if (known === undefined) merged.set(key, { ...rule, verbs: [...(rule.verbs ?? [])] });
    else known.verbs.push(...(rule.verbs ?? []));
  }
  return [...merged.values()];
}

function printList(list: readonly string[]): string {
  return `[${list.map((text) => JSON.stringify(text)).join(' ')}]`;
}

function printRule(rule: PolicyRule): string {
  const parts: readonly (readonly [string, readonly string[] | undefined])[] = [
    ['APIGroups', rule.apiGroups],
    ['Resources', rule.resources],
    ['NonResourceURLs', rule.nonResourceURLs],
    ['ResourceNames', rule.resourceNames],
    ['Verbs', rule.verbs],
  ];
  const printed = parts.flatMap(([name, list]) =>
    list === undefined || list.length === 0 ? [] : [`${name}:${printList(list)}`],
  );
  return `{${printed.join(', ')}}`;
}

/** The garbage collector removes owners and finalizers without holding the role's permissions. */
function onlyCollectorFieldsChange({ object, oldObject }: RbacWrite): boolean {
  if (oldObject === undefined) return false;
  const before = withoutCollectorFields(oldObject);
  const after = withoutCollectorFields(object);
  return JSON.stringify(before) === JSON.stringify(after) && touched(object) !== touched(oldObject);
}

function touched({ metadata: { finalizers, ownerReferences } }: KubeObject): string {
  return JSON.stringify([finalizers ?? [], ownerReferences ?? []]);
}

function withoutCollectorFields({ metadata, ...rest }: KubeObject): object {
  const { finalizers: _finalizers, ownerReferences: _owners, managedFields: _fields, ...kept } = metadata;
  return { metadata: sorted({ ...kept, resourceVersion: undefined, selfLink: undefined }), ...sorted(rest) };
}

function sorted(map: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1)));
}
