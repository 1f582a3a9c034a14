import { AUTHENTICATED_GROUP, type UserInfo } from '../api/user';
import type { Attributes, Authorization, Authorizer } from './attributes';
import type { PolicyRule } from './rbac-rules';
import type { RuleLister } from './rules-review';

/** One line of `--authorization-policy-file`: what a user or a group may do. `*` matches all, absent matches empty. */
export interface AbacPolicy {
  readonly user: string;
  readonly group: string;
  /** `get`, `list` and `watch` only. */
  readonly readonly: boolean;
  readonly apiGroup: string;
  readonly resource: string;
  readonly namespace: string;
  readonly nonResourcePath: string;
}

const API_VERSIONS = new Set([
  'abac.authorization.kubernetes.io/v1beta1',
  'abac.authorization.kubernetes.io/v0',
  undefined,
]);
const READ_VERBS = new Set(['get', 'list', 'watch']);

/**
 * Reads a policy file: a JSON object a line; empty lines and those that begin with `#` are skipped. Throws an error that
 * names the file and the line for anything else.
 */
export function parseAbacPolicies(text: string, file: string): readonly AbacPolicy[] {
  return text.split('\n').flatMap((raw, index) => {
    const line = raw.trim();
    if (line === '' || line.startsWith('#')) return [];
    try {
      return [parsePolicy(JSON.parse(line))];
    } catch (error) {
      throw new Error(`error reading policy file ${file}, line ${index + 1}: ${line}: ${(error as Error).message}`);
    }
  });
}

function parsePolicy(value: unknown): AbacPolicy {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('not an object');
  const line = value as Readonly<Record<string, unknown>>;
  const apiVersion = line.apiVersion as string | undefined;
  if (!API_VERSIONS.has(apiVersion)) throw new Error(`unsupported apiVersion ${JSON.stringify(apiVersion)}`);
  if (apiVersion === undefined || apiVersion.endsWith('/v0')) return fromUnversioned(line);
  if (line.kind !== 'Policy') throw new Error(`unsupported kind ${JSON.stringify(line.kind ?? '')}`);
  if (typeof line.spec !== 'object' || line.spec === null) throw new Error('no spec');
  const spec = line.spec as Readonly<Record<string, unknown>>;
  return {
    ...subjectOf(textOf(spec, 'user'), textOf(spec, 'group')),
    readonly: spec.readonly === true,
    apiGroup: textOf(spec, 'apiGroup'),
    resource: textOf(spec, 'resource'),
    namespace: textOf(spec, 'namespace'),
    nonResourcePath: textOf(spec, 'nonResourcePath'),
  };
}

function textOf(map: Readonly<Record<string, unknown>>, name: string): string {
  const value = map[name] ?? '';
  if (typeof value !== 'string') throw new Error(`${name} must be a string`);
  return value;
}

/** A star stands for authenticated users only. */
function subjectOf(user: string, group: string): { readonly user: string; readonly group: string } {
  return { user, group: user === '*' || group === '*' ? AUTHENTICATED_GROUP : group };
}

/** The first form of the file has neither versions nor paths, and leaving out means all. */
function fromUnversioned(line: Readonly<Record<string, unknown>>): AbacPolicy {
  const group = textOf(line, 'group');
  const user = textOf(line, 'user') || (group === '' ? '*' : '');
  const resource = textOf(line, 'resource') || '*';
  const namespace = textOf(line, 'namespace') || '*';
  return {
    ...subjectOf(user, group),
    readonly: line.readonly === true,
    apiGroup: '*',
    resource,
    namespace,
    nonResourcePath: resource === '*' && namespace === '*' ? '*' : '',
  };
}

/** A line that names a user and a group wants both. */
function subjectMatches({ user, group }: AbacPolicy, { name, groups }: UserInfo): boolean {
  if (user === '' && group === '') return false;
  return (user === '' || user === '*' || user === name) && (group === '' || groups.includes(group));
}

function covers(pattern: string, value: string): boolean {
  return pattern === '*' || pattern === value;
}

function pathMatches(pattern: string, path: string): boolean {
  return pattern === path || (pattern.endsWith('*') && path.startsWith(pattern.slice(0, -1)));
}

function requestMatches(policy: AbacPolicy, attributes: Attributes): boolean {
  if (policy.readonly && !READ_VERBS.has(attributes.verb)) return false;
  if (!attributes.resourceRequest) return pathMatches(policy.nonResourcePath, attributes.path);
  return (
    policy.resource !== '' &&
    covers(policy.namespace, attributes.namespace) &&
    covers(policy.resource, attributes.resource) &&
    covers(policy.apiGroup, attributes.group)
  );
}

const ALLOWED: Authorization = { decision: 'allow', reason: '' };
const NO_MATCH: Authorization = { decision: 'no-opinion', reason: 'No policy matched.' };

/** `--authorization-mode=ABAC`: allowed by the first line that matches; never denies. */
export function abacAuthorizer(policies: readonly AbacPolicy[]): Authorizer {
  return (attributes) =>
    policies.some((policy) => subjectMatches(policy, attributes.user) && requestMatches(policy, attributes))
      ? ALLOWED
      : NO_MATCH;
}

/** The lines that concern a user in a namespace, as rules. */
export function abacRules(policies: readonly AbacPolicy[]): RuleLister {
  return (user, namespace) => ({
    rules: policies
      .filter((policy) => subjectMatches(policy, user) && covers(policy.namespace, namespace))
      .flatMap(toRules),
    incomplete: false,
  });
}

function toRules({ readonly, apiGroup, resource, nonResourcePath }: AbacPolicy): readonly PolicyRule[] {
  const verbs = readonly ? [...READ_VERBS] : ['*'];
  return [
    ...(resource === '' ? [] : [{ verbs, apiGroups: [apiGroup], resources: [resource] }]),
    ...(nonResourcePath === '' ? [] : [{ verbs, nonResourceURLs: [nonResourcePath] }]),
  ];
}
