import type { KubeObject } from '../api/object';
import { parseServiceAccountUserName, type UserInfo } from '../api/user';
import type { Attributes, Authorization } from './attributes';
import { ruleAllows, type PolicyRule } from './rbac-rules';

interface RoleRef {
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

export type RbacKind = 'Role' | 'ClusterRole' | 'RoleBinding' | 'ClusterRoleBinding';

function subjectKey(subject: Subject, bindingNamespace: string): string {
  return subject.kind === 'ServiceAccount'
    ? `ServiceAccount:${subject.namespace ?? bindingNamespace}/${subject.name}`
    : `${subject.kind}:${subject.name}`;
}

function printSubject(subject: Subject, bindingNamespace: string): string {
  return subject.kind === 'ServiceAccount'
    ? `ServiceAccount "${subject.name}/${subject.namespace ?? bindingNamespace}"`
    : `${subject.kind} "${subject.name}"`;
}

function keysOfUser(user: UserInfo): readonly string[] {
  const account = parseServiceAccountUserName(user.name);
  return [
    `User:${user.name}`,
    ...user.groups.map((group) => `Group:${group}`),
    ...(account === undefined ? [] : [`ServiceAccount:${account.namespace}/${account.name}`]),
  ];
}

/**
 * Role-based access control over an index by subject: a decision costs what the user's own bindings cost, however many
 * others there are. Fed with every change of the four kinds; holds no reference to where they are stored.
 */
export class RbacAuthorizer {
  readonly #rules = new Map<string, readonly PolicyRule[]>();
  readonly #bindings = new Map<string, Binding>();
  readonly #bindingsBySubject = new Map<string, Map<string, { binding: Binding; subject: Subject }>>();

  /** Takes in an object of one of the four kinds as it now stands. */
  put(kind: RbacKind, object: KubeObject): void {
    const { name = '', namespace = '' } = object.metadata;
    if (kind === 'Role' || kind === 'ClusterRole') {
      this.#rules.set(`${kind}:${namespace}/${name}`, (object.rules as readonly PolicyRule[] | undefined) ?? []);
      return;
    }
    this.delete(kind, object);
    const binding: Binding = {
      kind,
      name,
      namespace,
      roleRef: object.roleRef as RoleRef,
      subjects: (object.subjects as readonly Subject[] | undefined) ?? [],
    };
    const key = `${kind}:${namespace}/${name}`;
    this.#bindings.set(key, binding);
    for (const subject of binding.subjects) {
      const ofSubject = this.#subjectEntry(subjectKey(subject, namespace));
      if (!ofSubject.has(key)) ofSubject.set(key, { binding, subject });
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
      const ofSubject = this.#bindingsBySubject.get(subjectName);
      ofSubject?.delete(key);
      if (ofSubject?.size === 0) this.#bindingsBySubject.delete(subjectName);
    }
  }

  /** Allows, or has no opinion: RBAC never denies. The reason names the binding, as the audit log shows it. */
  readonly authorize = async (attributes: Attributes): Promise<Authorization> => {
    for (const { binding, subject } of this.#bindingsOf(attributes.user, attributes.namespace)) {
      if (this.rulesOf(binding.roleRef, binding.namespace).some((rule) => ruleAllows(rule, attributes))) {
        const where = binding.kind === 'RoleBinding' ? `"${binding.name}/${binding.namespace}"` : `"${binding.name}"`;
        return {
          decision: 'allow',
          reason:
            `RBAC: allowed by ${binding.kind} ${where} of ${binding.roleRef.kind} "${binding.roleRef.name}" ` +
            `to ${printSubject(subject, binding.namespace)}`,
        };
      }
    }
    return { decision: 'no-opinion', reason: '' };
  };

  /** Every rule that applies to a user in a namespace (SelfSubjectRulesReview, escalation checks). */
  rulesFor(user: UserInfo, namespace: string): readonly PolicyRule[] {
    return [...this.#bindingsOf(user, namespace)].flatMap(({ binding }) =>
      this.rulesOf(binding.roleRef, binding.namespace),
    );
  }

  /** The rules of a role as a binding in `namespace` refers to it; none when the role does not exist. */
  rulesOf(roleRef: RoleRef, namespace: string): readonly PolicyRule[] {
    const key = roleRef.kind === 'ClusterRole' ? `ClusterRole:/${roleRef.name}` : `Role:${namespace}/${roleRef.name}`;
    return this.#rules.get(key) ?? [];
  }

  /** Cluster-wide bindings first, as upstream consults them. */
  *#bindingsOf(user: UserInfo, namespace: string): Iterable<{ binding: Binding; subject: Subject }> {
    const keys = keysOfUser(user);
    for (const wanted of namespace === '' ? [''] : ['', namespace]) {
      for (const key of keys) {
        for (const entry of this.#bindingsBySubject.get(key)?.values() ?? []) {
          if (entry.binding.namespace === wanted) yield entry;
        }
      }
    }
  }

  #subjectEntry(key: string): Map<string, { binding: Binding; subject: Subject }> {
    const known = this.#bindingsBySubject.get(key);
    if (known !== undefined) return known;
    const made = new Map<string, { binding: Binding; subject: Subject }>();
    this.#bindingsBySubject.set(key, made);
    return made;
  }
}
