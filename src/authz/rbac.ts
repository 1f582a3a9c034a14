import type { KubeObject } from '../api/object';
import { parseServiceAccountUserName, type UserInfo } from '../api/user';
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
  readonly subjects: readonly Subject[];
}

/** A binding as one of its subjects sees it. */
interface Grant {
  readonly binding: Binding;
  readonly subject: Subject;
}

/** By the binding's namespace (empty: the whole cluster), then by its key. */
type Grants = Map<string, Map<string, Grant>>;

export type RbacKind = 'Role' | 'ClusterRole' | 'RoleBinding' | 'ClusterRoleBinding';

const NO_OPINION: Authorization = { decision: 'no-opinion', reason: '' };

function subjectKey(subject: Subject, bindingNamespace: string): string {
  return subject.kind === 'ServiceAccount'
    ? `ServiceAccount:${subject.namespace || bindingNamespace}/${subject.name}`
    : `${subject.kind}:${subject.name}`;
}

function printSubject(subject: Subject, bindingNamespace: string): string {
  return subject.kind === 'ServiceAccount'
    ? `ServiceAccount "${subject.name}/${subject.namespace || bindingNamespace}"`
    : `${subject.kind} "${subject.name}"`;
}

function allowedBy({ binding, subject }: Grant): Authorization {
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
  readonly #grants = new Map<string, Grants>();

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
      subjects: (object.subjects as readonly Subject[] | null | undefined) ?? [],
    };
    const key = `${kind}:${namespace}/${name}`;
    this.#bindings.set(key, binding);
    for (const subject of binding.subjects) {
      const grants = this.#grantsIn(subjectKey(subject, namespace), namespace);
      if (!grants.has(key)) grants.set(key, { binding, subject });
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
      const subjectName = subjectKey(subject, namespace);
      const ofSubject = this.#grants.get(subjectName);
      const grants = ofSubject?.get(namespace);
      grants?.delete(key);
      if (grants?.size === 0) ofSubject?.delete(namespace);
      if (ofSubject?.size === 0) this.#grants.delete(subjectName);
    }
  }

  /**
   * Allows, or has no opinion: RBAC never denies. The reason of a permission names the binding, as the audit log shows
   * it; that of a refusal the roles which bindings of the user speak of and which are not there.
   */
  readonly authorize = async (attributes: Attributes): Promise<Authorization> => {
    const missing: string[] = [];
    const granted = this.#find(attributes.user, attributes.namespace, (grant) => {
      const rules = this.rulesOf(grant.binding.roleRef, grant.binding.namespace);
      if (rules === undefined) missing.push(missingRole(grant.binding.roleRef));
      return rules?.some((rule) => ruleAllows(rule, attributes)) ?? false;
    });
    if (granted !== undefined) return allowedBy(granted);
    return missing.length === 0 ? NO_OPINION : { decision: 'no-opinion', reason: `RBAC: ${joinErrors(missing)}` };
  };

  /** Every rule that applies to a user in a namespace (SelfSubjectRulesReview, escalation checks). */
  rulesFor(user: UserInfo, namespace: string): ListedRules {
    const rules: PolicyRule[] = [];
    const missing: string[] = [];
    this.#find(user, namespace, ({ binding: { roleRef, namespace: of } }) => {
      const ofRole = this.rulesOf(roleRef, of);
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
    const key = roleRef.kind === 'ClusterRole' ? `ClusterRole:/${roleRef.name}` : `Role:${namespace}/${roleRef.name}`;
    return this.#rules.get(key);
  }

  /** The first grant of the user for the namespace that is wanted; cluster-wide ones come first, as upstream has it. */
  #find(user: UserInfo, namespace: string, wanted: (grant: Grant) => boolean): Grant | undefined {
    return this.#findIn(user, '', wanted) ?? (namespace === '' ? undefined : this.#findIn(user, namespace, wanted));
  }

  #findIn({ name, groups }: UserInfo, namespace: string, wanted: (grant: Grant) => boolean): Grant | undefined {
    const account = parseServiceAccountUserName(name);
    let found = this.#search(`User:${name}`, namespace, wanted);
    for (let index = 0; found === undefined && index < groups.length; index++) {
      found = this.#search(`Group:${groups[index]}`, namespace, wanted);
    }
    if (found !== undefined || account === undefined) return found;
    return this.#search(`ServiceAccount:${account.namespace}/${account.name}`, namespace, wanted);
  }

  #search(subject: string, namespace: string, wanted: (grant: Grant) => boolean): Grant | undefined {
    const grants = this.#grants.get(subject)?.get(namespace);
    if (grants === undefined) return undefined;
    for (const grant of grants.values()) if (wanted(grant)) return grant;
    return undefined;
  }

  #grantsIn(subject: string, namespace: string): Map<string, Grant> {
    let ofSubject = this.#grants.get(subject);
    if (ofSubject === undefined) this.#grants.set(subject, (ofSubject = new Map<string, Map<string, Grant>>()));
    let grants = ofSubject.get(namespace);
    if (grants === undefined) ofSubject.set(namespace, (grants = new Map<string, Grant>()));
    return grants;
  }
}

function missingRole({ kind, name }: RoleRef): string {
  return `${kind.toLowerCase()}.rbac.authorization.k8s.io ${JSON.stringify(name)} not found`;
}
