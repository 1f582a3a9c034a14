import type { StatusError } from '../api/errors/status-error';
import type { KubeObject } from '../api/object';
import type { QuotaEvaluator } from '../api/quota/evaluator';
import {
  addResources,
  namesAbove,
  parseResourceList,
  pickResources,
  printResourceList,
  subtractResources,
  withoutZeros,
  type ResourceList,
} from '../api/quota/resource-list';
import { scopesOf, type ScopeRequirement } from '../api/quota/scopes';
import { refuse, type AdmissionAttributes } from './plugin';

/** A resource that may be used only where some quota limits it (configuration of the ResourceQuota plugin). */
export interface LimitedResource {
  readonly apiGroup: string;
  readonly resource: string;
  /** Parts of quota names: `requests.storage`. */
  readonly matchContains: readonly string[];
  readonly matchScopes: readonly ScopeRequirement[];
}

/** Reads the plugin's configuration. Throws what is wrong with it. */
export function parseLimitedResources(configuration: unknown): readonly LimitedResource[] {
  const { limitedResources = [] } = (configuration ?? {}) as {
    readonly limitedResources?: readonly Partial<LimitedResource>[];
  };
  return limitedResources.map(({ apiGroup = '', resource = '', matchContains = [], matchScopes = [] }, index) => {
    if (resource === '') throw new Error(`limitedResources[${index}].resource: Required value`);
    return { apiGroup, resource, matchContains, matchScopes };
  });
}

/** What a request costs one quota. */
export interface Charge {
  readonly quota: string;
  readonly amounts: ResourceList;
}

export function hardOf(quota: KubeObject): ResourceList {
  return parseResourceList((quota.status as { readonly hard?: Record<string, string> } | undefined)?.hard);
}

export function usedOf(quota: KubeObject): ResourceList {
  return parseResourceList((quota.status as { readonly used?: Record<string, string> } | undefined)?.used);
}

/** What the request adds to what is used already. */
function deltaOf({ operation, object, oldObject }: AdmissionAttributes, evaluator: QuotaEvaluator): ResourceList {
  if (object === undefined) return new Map();
  const usage = evaluator.usage(object);
  if (operation !== 'UPDATE' || oldObject === undefined) return withoutZeros(usage);
  return withoutZeros(subtractResources(usage, evaluator.usage(oldObject)));
}

function refuseNegative(attributes: AdmissionAttributes, evaluator: QuotaEvaluator): void {
  if (attributes.object === undefined) return;
  const negative = [...evaluator.usage(attributes.object)].filter(([, { nanos }]) => nanos < 0n).map(([name]) => name);
  if (negative.length === 0) return;
  throw refuse(attributes, `quota usage is negative for resource(s): ${negative.sort().join(',')}`);
}

function matches(quota: KubeObject, object: KubeObject, names: readonly string[], evaluator: QuotaEvaluator): boolean {
  return names.length > 0 && scopesOf(quota).every((scope) => evaluator.matchesScope(object, scope));
}

/** The evaluator for one object: what quotas have in common is not found out for each of them. */
function askedOnce(evaluator: QuotaEvaluator, object: KubeObject): QuotaEvaluator {
  const responses = new Map<string, boolean>();
  const once = (key: string, ask: () => boolean): boolean => {
    let response = responses.get(key);
    if (response === undefined) responses.set(key, (response = ask()));
    return response;
  };
  return {
    ...evaluator,
    matchesScope: (of, scope) =>
      of === object
        ? once(JSON.stringify(scope), () => evaluator.matchesScope(of, scope))
        : evaluator.matchesScope(of, scope),
    missing: (of, limited) =>
      limited.filter((name) => once(name, () => evaluator.missing(of, [name]).length > 0)).sort(),
  };
}

/**
 * What the request costs each of the quotas that concern it. Throws 403 when it lacks what they need to know, when a
 * quota's usage is not known yet, or when nothing limits what has to be limited.
 */
export function chargesOf(
  attributes: AdmissionAttributes,
  every: QuotaEvaluator,
  quotas: readonly KubeObject[],
  limited: readonly LimitedResource[] = [],
): readonly Charge[] {
  const { object } = attributes;
  if (object === undefined) return [];
  const evaluator = askedOnce(every, object);
  const covered = new Set<string>();
  const coveredScopes = new Set<string>();
  const concerned: { readonly quota: string; readonly names: readonly string[] }[] = [];
  for (const quota of quotas) {
    for (const scope of scopesOf(quota)) {
      if (evaluator.matchesScope(object, scope)) coveredScopes.add(scope.scopeName);
    }
    const names = [...hardOf(quota).keys()].filter(evaluator.measures);
    if (!matches(quota, object, names, evaluator)) continue;
    const name = quota.metadata.name ?? '';
    const missing = evaluator.missing(object, names);
    if (missing.length > 0) throw refuse(attributes, `failed quota: ${name}: must specify ${missing.join(',')}`);
    const used = usedOf(quota);
    if (!names.every((one) => used.has(one))) {
      throw refuse(attributes, `status unknown for quota: ${name}, resources: ${names.sort().join(',')}`);
    }
    for (const one of names) covered.add(one);
    concerned.push({ quota: name, names });
  }
  checkCovered(attributes, evaluator, limited, covered, coveredScopes);
  if (concerned.length === 0) return [];
  refuseNegative(attributes, evaluator);
  const delta = deltaOf(attributes, evaluator);
  return concerned
    .map(({ quota, names }) => ({ quota, amounts: pickResources(delta, names) }))
    .filter(({ amounts }) => amounts.size > 0);
}

/** Throws 403 when the request uses what the configuration limits and no quota covers it. */
function checkCovered(
  attributes: AdmissionAttributes,
  evaluator: QuotaEvaluator,
  limited: readonly LimitedResource[],
  covered: ReadonlySet<string>,
  coveredScopes: ReadonlySet<string>,
): void {
  const { group, resource, object } = attributes;
  const ofThis = limited.filter((one) => one.apiGroup === group && one.resource === resource);
  if (object === undefined || ofThis.length === 0) return;
  const names = [...deltaOf(attributes, evaluator).keys()];
  const uncovered = names.filter(
    (name) =>
      !covered.has(name) && ofThis.some(({ matchContains }) => matchContains.some((part) => name.includes(part))),
  );
  if (uncovered.length > 0) throw refuse(attributes, `insufficient quota to consume: ${uncovered.sort().join(',')}`);
  const scopes = ofThis
    .flatMap(({ matchScopes }) => matchScopes)
    .filter((scope) => evaluator.matchesScope(object, scope) && !coveredScopes.has(scope.scopeName));
  if (scopes.length === 0) return;
  const text = scopes.map(({ scopeName, operator, values = [] }) => `{${scopeName} ${operator} [${values.join(' ')}]}`);
  throw refuse(attributes, `insufficient quota to match these scopes: [${text.join(' ')}]`);
}

/** What is used with the charge; throws 403 when that is more than the quota allows. */
export function usedWith(
  attributes: AdmissionAttributes,
  quota: KubeObject,
  used: ResourceList,
  { amounts }: Charge,
): ResourceList {
  const after = addResources(used, amounts);
  const exceeded = namesAbove(pickResources(after, amounts.keys()), hardOf(quota));
  if (exceeded.length > 0) throw exceededQuota(attributes, quota, used, amounts, exceeded);
  return after;
}

function exceededQuota(
  attributes: AdmissionAttributes,
  quota: KubeObject,
  used: ResourceList,
  amounts: ResourceList,
  exceeded: readonly string[],
): StatusError {
  const print = (list: ResourceList): string => printResourceList(pickResources(list, exceeded));
  return refuse(
    attributes,
    `exceeded quota: ${quota.metadata.name ?? ''}, requested: ${print(amounts)}, used: ${print(used)}, ` +
      `limited: ${print(hardOf(quota))}`,
  );
}
