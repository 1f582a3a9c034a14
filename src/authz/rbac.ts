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
interface Grant {
  readonly binding: Binding;
  /** The answer to what the binding's role permits. */
  readonly allowed: Authorization;
}

/** By the binding's namespace (empty: the whole cluster), then by its key. */
type Grants = Map<string, Map<string, Grant>>;

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
  readonly #grants: Readonly<Record<SubjectKind, Map<string, Grants>>> = {
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
    const binding: Binding = {
      kind,
      name,
      namespace,
      roleRef: object.roleRef as RoleRef,
      roleKey: roleKeyOf(object.roleRef as RoleRef, namespace),
      subjects: (object.subjects as readonly Subject[] | null | undefined) ?? [],
    };
    const key = `${kind}:${namespace}/${name}`;
    this.#bindings.set(key, binding);
    for (const subject of binding.subjects) {
      const grants = this.#grantsTo(subject, namespace);
      if (grants?.has(key) === false) grants.set(key, { binding, allowed: allowedBy(binding, subject) });
    }
  }

  delete(kind: RbacKind, object: KubeObject): void {
    const { name = '', namespace = '' } = object.metadata;
    const key = `${kind}:${namespace}/${name}`;
    this.#rules.delete(key);
    const binding = this.#bindings.get(key);
    if (binding === undefined) return;
    this.#bindings.delete(key);
    for (const subject of binding.subjects) {
      const subjectName = indexName(subject, namespace);
      const index = this.#indexOf(subject);
      if (subjectName === undefined || index === undefined) continue;
      const ofSubject = index.get(subjectName);
      const grants = ofSubject?.get(namespace);
      grants?.delete(key);
      if (grants?.size === 0) ofSubject?.delete(namespace);
      if (ofSubject?.size === 0) index.delete(subjectName);
    }
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
    let found = search(User.get(name), namespace, wanted);
    for (let index = 0; found === undefined && index < groups.length; index++) {
      found = search(Group.get(groups[index]!), namespace, wanted);
    }
    return found ?? search(ServiceAccount.get(name), namespace, wanted);
  }

  #indexOf({ kind }: Subject): Map<string, Grants> | undefined {
    const known = SUBJECT_KINDS.find((one) => one === kind);
    return known && this.#grants[known];
  }

  #grantsTo(subject: Subject, namespace: string): Map<string, Grant> | undefined {
    const subjectName = indexName(subject, namespace);
    const index = this.#indexOf(subject);
    if (subjectName === undefined || index === undefined) return undefined;
    let ofSubject = index.get(subjectName);
    if (ofSubject === undefined) index.set(subjectName, (ofSubject = new Map<string, Map<string, Grant>>()));
    let grants = ofSubject.get(namespace);
    if (grants === undefined) ofSubject.set(namespace, (grants = new Map<string, Grant>()));
    return grants;
  }
}

function search(grants: Grants | undefined, namespace: string, wanted: (grant: Grant) => boolean): Grant | undefined {
  const inNamespace = grants?.get(namespace);
  if (inNamespace === undefined) return undefined;
  for (const grant of inNamespace.values()) if (wanted(grant)) return grant;
  return undefined;
}

function missingRole({ kind, name }: RoleRef): string {
  return `${kind.toLowerCase()}.rbac.authorization.k8s.io ${JSON.stringify(name)} not found`;
}
