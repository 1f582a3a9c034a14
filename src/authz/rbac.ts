import type { KubeObject } from '../api/object';
import { parseServiceAccountUserName, serviceAccountUserName, type UserInfo } from '../api/user';
import { joinErrors, type Attributes, type Authorization } from './attributes';
import { ruleAllows, type PolicyRule } from './rbac-rules';
import type { ListedRules } from './rules-review';

export interface RoleRef {
  readonly kind: string;
  readonly name: string;
}

interface Subject {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
}

interface Binding {
  /** Its own among all bindings. */
  readonly key: string;
  readonly kind: 'ClusterRoleBinding' | 'RoleBinding';
  readonly name: string;
  /** Empty for cluster role bindings. */
  readonly namespace: string;
  readonly roleRef: RoleRef;
  /** Of the role among all roles. */
  readonly roleKey: string;
  readonly subjects: readonly Subject[];
}

/** A binding as one of its subjects sees it. */
class Grant {
  #allowed: Authorization | undefined;

  constructor(
    readonly binding: Binding,
    private readonly subject: Subject,
  ) {}

  /** The answer to what the binding's role permits. */
  get allowed(): Authorization {
    return (this.#allowed ??= allowedBy(this.binding, this.subject));
  }
}

/** All of a subject in a namespace: a single one, as most have and thousands of subjects of a binding, or several by the bindings' keys. */
type Grants = Grant | Map<string, Grant>;

export type RbacKind = 'Role' | 'ClusterRole' | 'RoleBinding' | 'ClusterRoleBinding';

const NO_OPINION: Authorization = { decision: 'no-opinion', reason: '' };

const SUBJECT_KINDS = ['User', 'Group', 'ServiceAccount'] as const;
type SubjectKind = (typeof SUBJECT_KINDS)[number];

/**
 * The name under which the index has a subject: accounts by their users' names, so that a decision takes no name apart.
 * Undefined for what no user can be.
 */
function indexName({ kind, name, namespace }: Subject, bindingNamespace: string): string | undefined {
  if (kind !== 'ServiceAccount') return name;
  const userName = serviceAccountUserName(namespace || bindingNamespace, name);
  return parseServiceAccountUserName(userName)?.name === name ? userName : undefined;
}

function roleKeyOf({ kind, name }: RoleRef, namespace: string): string {
  return kind === 'ClusterRole' ? `ClusterRole:/${name}` : `Role:${namespace}/${name}`;
}

function printSubject(subject: Subject, bindingNamespace: string): string {
  return subject.kind === 'ServiceAccount'
    ? `ServiceAccount "${subject.name}/${subject.namespace || bindingNamespace}"`
    : `${subject.kind} "${subject.name}"`;
}

function allowedBy(binding: Binding, subject: Subject): Authorization {
  const { kind, name, namespace, roleRef } = binding;
  const where = kind === 'RoleBinding' ? `"${name}/${namespace}"` : `"${name}"`;
  return {
    decision: 'allow',
    reason:
      `RBAC: allowed by ${kind} ${where} of ${roleRef.kind} "${roleRef.name}" ` +
      `to ${printSubject(subject, namespace)}`,
  };
}

/**
 * Role-based access control over an index by subject and namespace: a decision costs what the user's own bindings for
 * the namespace cost, however many others there are. Fed with every change of the four kinds; holds no reference to
 * where they are stored.
 */
export class RbacAuthorizer {
  readonly #rules = new Map<string, readonly PolicyRule[]>();
  readonly #bindings = new Map<string, Binding>();
  /** By the binding's namespace (empty: the whole cluster), then by the subject's name. */
  readonly #grants: Readonly<Record<SubjectKind, Map<string, Map<string, Grants>>>> = {
    User: new Map(),
    Group: new Map(),
    ServiceAccount: new Map(),
  };

  /** Takes in an object of one of the four kinds as it now stands. */
  put(kind: RbacKind, object: KubeObject): void {
    const { name = '', namespace = '' } = object.metadata;
    if (kind === 'Role' || kind === 'ClusterRole') {
      this.#rules.set(`${kind}:${namespace}/${name}`, (object.rules as readonly PolicyRule[] | null | undefined) ?? []);
      return;
    }
    this.delete(kind, object);
    const key = `${kind}:${namespace}/${name}`;
    const binding: Binding = {
      key,
      kind,
      name,
      namespace,
      roleRef: object.roleRef as RoleRef,
      roleKey: roleKeyOf(object.roleRef as RoleRef, namespace),
      subjects: (object.subjects as readonly Subject[] | null | undefined) ?? [],
    };
    this.#bindings.set(key, binding);
    for (const subject of binding.subjects) this.#grant(binding, subject);
  }

  delete(kind: RbacKind, object: KubeObject): void {
    const { name = '', namespace = '' } = object.metadata;
    const key = `${kind}:${namespace}/${name}`;
    this.#rules.delete(key);
    const binding = this.#bindings.get(key);
    if (binding === undefined) return;
    this.#bindings.delete(key);
    for (const subject of binding.subjects) this.#revoke(binding, subject);
  }

  /**
   * Allows, or has no opinion: RBAC never denies. The reason of a permission names the binding, as the audit log shows
   * it; that of a refusal the roles which bindings of the user speak of and which are not there.
   */
  readonly authorize = (attributes: Attributes): Authorization => {
    const missing: string[] = [];
    const granted = this.#find(attributes.user, attributes.namespace, (grant) => {
      const rules = this.#rules.get(grant.binding.roleKey);
      if (rules === undefined) missing.push(missingRole(grant.binding.roleRef));
      return rules?.some((rule) => ruleAllows(rule, attributes)) ?? false;
    });
    if (granted !== undefined) return granted.allowed;
    return missing.length === 0 ? NO_OPINION : { decision: 'no-opinion', reason: `RBAC: ${joinErrors(missing)}` };
  };

  /** Every rule that applies to a user in a namespace (SelfSubjectRulesReview, escalation checks). */
  rulesFor(user: UserInfo, namespace: string): ListedRules {
    const rules: PolicyRule[] = [];
    const missing: string[] = [];
    this.#find(user, namespace, ({ binding: { roleRef, roleKey } }) => {
      const ofRole = this.#rules.get(roleKey);
      if (ofRole === undefined) missing.push(missingRole(roleRef));
      else rules.push(...ofRole);
      return false;
    });
    return missing.length === 0
      ? { rules, incomplete: false }
      : { rules, incomplete: true, error: joinErrors(missing) };
  }

  /** The rules of a role as a binding in `namespace` refers to it; undefined when the role does not exist. */
  rulesOf(roleRef: RoleRef, namespace: string): readonly PolicyRule[] | undefined {
    return this.#rules.get(roleKeyOf(roleRef, namespace));
  }

  /** The first grant of the user for the namespace that is wanted; cluster-wide ones come first, as upstream has it. */
  #find(user: UserInfo, namespace: string, wanted: (grant: Grant) => boolean): Grant | undefined {
    return this.#findIn(user, '', wanted) ?? (namespace === '' ? undefined : this.#findIn(user, namespace, wanted));
  }

  #findIn({ name, groups }: UserInfo, namespace: string, wanted: (grant: Grant) => boolean): Grant | undefined {
    const { User, Group, ServiceAccount } = this.#grants;
    let found = search(User.get(namespace)?.get(name), wanted);
    const ofGroups = Group.get(namespace);
    for (let index = 0; found === undefined && ofGroups !== undefined && index < groups.length; index++) {
      found = search(ofGroups.get(groups[index]!), wanted);
    }
    return found ?? search(ServiceAccount.get(namespace)?.get(name), wanted);
  }

  #grant(binding: Binding, subject: Subject): void {
    const { key, namespace } = binding;
    const name = indexName(subject, namespace);
    const index = this.#indexOf(subject);
    if (name === undefined || index === undefined) return;
    let bySubject = index.get(namespace);
    if (bySubject === undefined) index.set(namespace, (bySubject = new Map<string, Grants>()));
    const grants = bySubject.get(name);
    if (grants === undefined) {
      bySubject.set(name, new Grant(binding, subject));
    } else if (!(grants instanceof Grant)) {
      if (!grants.has(key)) grants.set(key, new Grant(binding, subject));
    } else if (grants.binding.key !== key) {
      const several = new Map([[grants.binding.key, grants]]);
      bySubject.set(name, several.set(key, new Grant(binding, subject)));
    }
  }

  #revoke({ key, namespace }: Binding, subject: Subject): void {
    const name = indexName(subject, namespace);
    const index = this.#indexOf(subject);
    const bySubject = index?.get(namespace);
    const grants = name === undefined ? undefined : bySubject?.get(name);
    if (name === undefined || grants === undefined) return;
    if (!(grants instanceof Grant)) grants.delete(key);
    const isLeft = grants instanceof Grant ? grants.binding.key !== key : grants.size > 0;
    if (isLeft) return;
    bySubject?.delete(name);
    if (bySubject?.size === 0) index?.delete(namespace);
  }

  #indexOf({ kind }: Subject): Map<string, Map<string, Grants>> | undefined {
    const known = SUBJECT_KINDS.find((one) => one === kind);
    return known && this.#grants[known];
  }
}

function search(grants: Grants | undefined, wanted: (grant: Grant) => boolean): Grant | undefined {
  if (grants === undefined) return undefined;
  if (grants instanceof Grant) return wanted(grants) ? grants : undefined;
  for (const grant of grants.values()) if (wanted(grant)) return grant;
  return undefined;
}

function missingRole({ kind, name }: RoleRef): string {
  return `${kind.toLowerCase()}.rbac.authorization.k8s.io ${JSON.stringify(name)} not found`;
}
