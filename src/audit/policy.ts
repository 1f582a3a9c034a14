import { quoteGo } from '../api/errors/go-quote';
import { parseYaml } from '../api/codec/yaml';
import { invalid, notSupported, required, type FieldError } from '../api/errors/field-error';
import type { UserInfo } from '../api/user';

/** How much of a request is recorded; each level has what those before it have. */
export const AUDIT_LEVELS = ['None', 'Metadata', 'Request', 'RequestResponse'] as const;
export type AuditLevel = (typeof AUDIT_LEVELS)[number];

export const AUDIT_STAGES = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'] as const;
export type AuditStage = (typeof AUDIT_STAGES)[number];

/** What a policy looks at, besides the user. */
export interface AuditedRequest {
  readonly isResourceRequest: boolean;
  readonly verb: string;
  readonly group: string;
  readonly namespace: string;
  readonly resource: string;
  readonly subresource: string;
  readonly name: string;
  readonly path: string;
}

/** What a policy wants recorded of a request. */
export interface AuditVerdict {
  readonly level: AuditLevel;
  readonly omitStages: ReadonlySet<AuditStage>;
  readonly omitManagedFields: boolean;
}

interface GroupResources {
  readonly group?: string;
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
}

/** A rule of `audit.k8s.io/v1`. */
interface SentRule {
  readonly level?: string;
  readonly users?: readonly string[];
  readonly userGroups?: readonly string[];
  readonly verbs?: readonly string[];
  readonly resources?: readonly GroupResources[];
  readonly namespaces?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
  readonly omitStages?: readonly string[];
  readonly omitManagedFields?: boolean;
}

interface SentPolicy {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly rules?: readonly SentRule[];
  readonly omitStages?: readonly string[];
  readonly omitManagedFields?: boolean;
}

const API_VERSIONS: ReadonlySet<string> = new Set(['audit.k8s.io/v1', 'audit.k8s.io/v1beta1', 'audit.k8s.io/v1alpha1']);
/** The fields of a rule that are lists of texts. */
const TEXT_LISTS = [
  'users',
  'userGroups',
  'verbs',
  'namespaces',
  'nonResourceURLs',
  'omitStages',
] as const satisfies readonly (keyof SentRule)[];
const POLICY_FIELDS: ReadonlySet<string> = new Set([
  'apiVersion',
  'kind',
  'metadata',
  'rules',
  'omitStages',
  'omitManagedFields',
]);
const RULE_FIELDS: ReadonlySet<string> = new Set([...TEXT_LISTS, 'level', 'resources', 'omitManagedFields']);
const RESOURCE_FIELDS: ReadonlySet<string> = new Set(['group', 'resources', 'resourceNames']);
const GROUP_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

type Matches = (request: AuditedRequest, user: UserInfo | undefined) => boolean;

interface Rule extends AuditVerdict {
  readonly matches: Matches;
}

/** Which requests are recorded, and how much of them: the first rule that matches says. */
export class AuditPolicy {
  readonly #rules: readonly Rule[];
  readonly #otherwise: AuditVerdict;

  constructor({ rules = [], omitStages = [], omitManagedFields = false }: SentPolicy) {
    this.#rules = rules.map((rule) => ({
      level: rule.level as AuditLevel,
      omitStages: new Set([...omitStages, ...(rule.omitStages ?? [])] as AuditStage[]),
      omitManagedFields: rule.omitManagedFields ?? omitManagedFields,
      matches: matcherOf(rule),
    }));
    this.#otherwise = { level: 'None', omitStages: new Set(), omitManagedFields: false };
  }

  /** `user` is undefined for a request that was not authenticated. */
  verdictOn(request: AuditedRequest, user: UserInfo | undefined): AuditVerdict {
    for (const rule of this.#rules) if (rule.matches(request, user)) return rule;
    return this.#otherwise;
  }
}

/** Reads a policy file. Throws an error in kube-apiserver's words; `warn` hears of unknown fields. */
export function parseAuditPolicy(text: string, file: string, warn: (problem: string) => void): AuditPolicy {
  const fail = (problem: string): Error => new Error(`loading audit policy file: ${problem}: from file ${file}`);
  let parsed: unknown;
  try {
    parsed = parseYaml(text);
  } catch (error) {
    throw fail(`failed decoding: ${(error as Error).message.split('\n', 1)[0] ?? ''}`);
  }
  const policy = parsed as SentPolicy | undefined;
  if (typeof policy !== 'object' || policy === null || policy.kind !== 'Policy') throw fail('this is no audit policy');
  if (!API_VERSIONS.has(policy.apiVersion ?? '')) {
    throw fail(`unknown group version field ${JSON.stringify(policy.apiVersion ?? '')} in policy`);
  }
  const misfit = wrongType(policy);
  if (misfit !== undefined) throw fail(`${misfit} has the wrong type`);
  for (const field of unknownFields(policy)) warn(`unknown field ${JSON.stringify(field)} in audit policy ${file}`);
  const problems = problemsOf(policy);
  if (problems.length > 0) throw fail(describe(problems));
  if ((policy.rules ?? []).length === 0) throw fail('loaded illegal policy with 0 rules');
  return new AuditPolicy(policy);
}

function describe(problems: readonly FieldError[]): string {
  const texts = problems.map(({ field, message }) => `${field}: ${message}`);
  return texts.length === 1 ? texts[0]! : `[${texts.join(', ')}]`;
}

function isTexts(value: unknown): boolean {
  return value == null || (Array.isArray(value) && value.every((one) => typeof one === 'string'));
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The first field whose value is of another type than it should be. */
function wrongType({ rules, omitStages }: SentPolicy): string | undefined {
  if (!isTexts(omitStages)) return 'omitStages';
  if (rules == null) return undefined;
  if (!Array.isArray(rules)) return 'rules';
  for (const [index, rule] of (rules as readonly unknown[]).entries()) {
    const path = `rules[${index}]`;
    if (!isMap(rule)) return path;
    const list = TEXT_LISTS.find((name) => !isTexts(rule[name]));
    if (list !== undefined) return `${path}.${list}`;
    const { resources } = rule;
    if (resources == null) continue;
    if (!Array.isArray(resources)) return `${path}.resources`;
    const fits = (one: unknown): boolean => isMap(one) && isTexts(one.resources) && isTexts(one.resourceNames);
    const wrong = (resources as readonly unknown[]).findIndex((one) => !fits(one));
    if (wrong >= 0) return `${path}.resources[${wrong}]`;
  }
  return undefined;
}

function* unknownFields(policy: SentPolicy): Iterable<string> {
  for (const name of Object.keys(policy)) if (!POLICY_FIELDS.has(name)) yield name;
  for (const [index, rule] of (policy.rules ?? []).entries()) {
    for (const name of Object.keys(rule)) if (!RULE_FIELDS.has(name)) yield `rules[${index}].${name}`;
    for (const [position, resource] of (rule.resources ?? []).entries()) {
      for (const name of Object.keys(resource)) {
        if (!RESOURCE_FIELDS.has(name)) yield `rules[${index}].resources[${position}].${name}`;
      }
    }
  }
}

function problemsOf({ rules, omitStages }: SentPolicy): readonly FieldError[] {
  return [
    ...stageProblems('omitStages', omitStages),
    ...(rules ?? []).flatMap((rule, index) => ruleProblems(rule, index)),
  ];
}

function ruleProblems(rule: SentRule, index: number): readonly FieldError[] {
  const path = `rules[${index}]`;
  const { level = '', nonResourceURLs, resources, namespaces } = rule;
  const problems: FieldError[] = [];
  if (level === '') problems.push(required(`${path}.level`, ''));
  else if (!AUDIT_LEVELS.some((known) => known === level)) {
    problems.push(notSupported(`${path}.level`, level, AUDIT_LEVELS));
  }
  for (const [position, url] of (nonResourceURLs ?? []).entries()) {
    const field = `${path}.nonResourceURLs[${position}]`;
    if (url === '*') continue;
    if (!url.startsWith('/')) {
      problems.push(invalid(field, url, "non-resource URL rules must begin with a '/' character"));
    }
    if (url.slice(0, -1).includes('*')) {
      problems.push(invalid(field, url, "non-resource URL wildcards '*' must be the final character of the rule"));
    }
  }
  for (const [position, { group, resources: names, resourceNames }] of (resources ?? []).entries()) {
    const field = `${path}.resources[${position}]`;
    if (group && !GROUP_NAME.test(group)) problems.push(invalid(`${field}.group`, group, 'must be a DNS subdomain'));
    if ((resourceNames ?? []).length > 0 && (names ?? []).length === 0) {
      problems.push(
        invalid(`${field}.resourceNames`, resourceNames, 'using resourceNames requires at least one resource'),
      );
    }
  }
  problems.push(...stageProblems(`${path}.omitStages`, rule.omitStages));
  if ((nonResourceURLs ?? []).length > 0 && (resources ?? namespaces ?? []).length > 0) {
    const text = 'rules cannot apply to both regular resources and non-resource URLs';
    problems.push(invalid(`${path}.nonResourceURLs`, nonResourceURLs, text));
  }
  return problems;
}

function stageProblems(field: string, stages: readonly string[] | undefined): readonly FieldError[] {
  return (stages ?? []).flatMap((stage, index) =>
    AUDIT_STAGES.some((known) => known === stage)
      ? []
      : [invalid(`${field}[${index}]`, stage, `allowed stages are ${AUDIT_STAGES.map(quoteGo).join(',')}`)],
  );
}

function setOf(texts: readonly string[] | undefined): ReadonlySet<string> | undefined {
  return texts === undefined || texts === null || texts.length === 0 ? undefined : new Set(texts);
}

function matcherOf(rule: SentRule): Matches {
  const [users, userGroups, verbs] = [setOf(rule.users), setOf(rule.userGroups), setOf(rule.verbs)];
  const namespaces = setOf(rule.namespaces);
  const resources = rule.resources?.length ? rule.resources.map(resourceMatcher) : undefined;
  const urls = rule.nonResourceURLs?.length ? rule.nonResourceURLs : undefined;
  return (request, user) => {
    if (users !== undefined && (user === undefined || !users.has(user.name))) return false;
    if (userGroups !== undefined && user?.groups.some((group) => userGroups.has(group)) !== true) return false;
    if (verbs !== undefined && !verbs.has(request.verb)) return false;
    if (namespaces !== undefined || resources !== undefined) {
      if (!request.isResourceRequest) return false;
      // Cluster-scoped requests are in the namespace with the empty name.
      if (namespaces !== undefined && !namespaces.has(request.namespace)) return false;
      return resources === undefined || resources.some((matches) => matches(request));
    }
    if (urls === undefined) return true;
    return !request.isResourceRequest && urls.some((url) => pathFits(request.path, url));
  };
}

function pathFits(path: string, url: string): boolean {
  return url === '*' || url === path || (url.endsWith('*') && path.startsWith(url.slice(0, -1)));
}

function resourceMatcher({
  group = '',
  resources,
  resourceNames,
}: GroupResources): (request: AuditedRequest) => boolean {
  const names = setOf(resourceNames);
  const kinds = setOf(resources);
  return (request) => {
    if (request.group !== (group ?? '')) return false;
    if (kinds === undefined) return true;
    if (names !== undefined && !names.has(request.name)) return false;
    const { resource, subresource } = request;
    if (kinds.has('*') || kinds.has(`${resource}/*`)) return true;
    if (subresource === '') return kinds.has(resource);
    return kinds.has(`${resource}/${subresource}`) || kinds.has(`*/${subresource}`);
  };
}
