import type { KubernetesRelease } from '../api/kubernetes-release';
import type { KubeObject } from '../api/object';
import { uncoveredRules } from '../authz/rbac-coverage';
import type { PolicyRule } from '../authz/rbac-rules';
import table from './default-rbac-table.json';

/**
 * The default roles and bindings (upstream's bootstrap policy; the facts are rows of `default-rbac-table.json`, of 1.20), and how an
 * existing one is brought up to date at start: what is missing is added, what is too much stays.
 */

const AUTOUPDATE = 'rbac.authorization.kubernetes.io/autoupdate';
const LABELS = { 'kubernetes.io/bootstrapping': 'rbac-defaults' };
const API_VERSION = 'rbac.authorization.k8s.io/v1';

interface Row {
  readonly name: string;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string | undefined>>;
  readonly [field: string]: unknown;
}

function toObject(kind: string, { name, namespace, labels, ...fields }: Row): KubeObject {
  return {
    kind,
    apiVersion: API_VERSION,
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      labels: { ...LABELS, ...(labels as Record<string, string> | undefined) },
      annotations: { [AUTOUPDATE]: 'true' },
    },
    ...(kind.endsWith('Role') && fields.rules === undefined ? { rules: null } : {}),
    ...fields,
  };
}

/** Rules that roles have got since the release of the table. */
const LATER_RULES: readonly { readonly since: number; readonly role: string; readonly rules: readonly PolicyRule[] }[] =
  [
    {
      since: 26,
      role: 'system:monitoring',
      rules: [{ verbs: ['get'], nonResourceURLs: ['/metrics/slis'] }],
    },
    {
      since: 27,
      role: 'system:basic-user',
      rules: [{ verbs: ['create'], apiGroups: ['authentication.k8s.io'], resources: ['selfsubjectreviews'] }],
    },
  ];

function withLaterRules(row: Row, { minor }: KubernetesRelease): Row {
  const later = LATER_RULES.filter(({ since, role }) => role === row.name && Number(minor) >= since);
  if (later.length === 0) return row;
  const rules = (row['rules'] as readonly PolicyRule[] | undefined) ?? [];
  return { ...row, rules: [...rules, ...later.flatMap((one) => one.rules)] };
}

/**
 * Those of a release, as far as it has other ones than 1.20. `resource` is the plural under rbac.authorization.k8s.io. Roles come
 * before the bindings that refer to them.
 */
export function defaultRbacObjects(
  release: KubernetesRelease,
): readonly { readonly resource: string; readonly object: KubeObject }[] {
  const rows: readonly [string, string, readonly Row[]][] = [
    ['clusterroles', 'ClusterRole', table.ClusterRole.map((row: Row) => withLaterRules(row, release))],
    ['roles', 'Role', table.Role],
    ['clusterrolebindings', 'ClusterRoleBinding', table.ClusterRoleBinding],
    ['rolebindings', 'RoleBinding', table.RoleBinding],
  ];
  return rows.flatMap(([resource, kind, ofKind]) => ofKind.map((row) => ({ resource, object: toObject(kind, row) })));
}

interface Subject {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
}

function sameSubject(a: Subject, b: Subject): boolean {
  return a.kind === b.kind && a.name === b.name && a.namespace === b.namespace;
}

/**
 * What an existing default role or binding should become, or undefined when it lacks nothing. An administrator keeps it
 * as it is with the annotation `autoupdate: "false"`. A binding to another role is left alone: a role reference cannot
 * change.
 */
export function reconcileRbacObject(existing: KubeObject, wanted: KubeObject): KubeObject | undefined {
  if (existing.metadata.annotations?.[AUTOUPDATE] === 'false') return undefined;
  const labels = { ...wanted.metadata.labels, ...existing.metadata.labels };
  const annotations = { ...wanted.metadata.annotations, ...existing.metadata.annotations };
  const missingRules = uncoveredRules(
    (existing.rules as readonly PolicyRule[] | null | undefined) ?? [],
    (wanted.rules as readonly PolicyRule[] | null | undefined) ?? [],
  );
  const subjects = (existing.subjects as readonly Subject[] | undefined) ?? [];
  const missingSubjects = ((wanted.subjects as readonly Subject[] | undefined) ?? []).filter(
    (subject) => !subjects.some((one) => sameSubject(one, subject)),
  );
  const unchanged =
    missingRules.length === 0 &&
    missingSubjects.length === 0 &&
    Object.keys(labels).length === Object.keys(existing.metadata.labels ?? {}).length &&
    Object.keys(annotations).length === Object.keys(existing.metadata.annotations ?? {}).length;
  if (unchanged) return undefined;
  return {
    ...existing,
    metadata: { ...existing.metadata, labels, annotations },
    ...(missingRules.length === 0
      ? {}
      : { rules: [...((existing.rules as readonly PolicyRule[] | null) ?? []), ...missingRules] }),
    ...(missingSubjects.length === 0 ? {} : { subjects: [...subjects, ...missingSubjects] }),
  };
}
