import type { StatusError } from '../api/errors/status-error';
import type { KubeObject } from '../api/object';
import { keysOf, type Steps } from '../api/parts';
import { parseQuantity, type Quantity } from '../api/quantity/quantity';
import type { QuotaEvaluator } from '../api/quota/evaluator';
import {
  addResources,
  pickResources,
  printNames,
  printResourceList,
  resourcesAbove,
  resourcesThat,
  subtractResources,
  withoutZeros,
  type ResourceList,
} from '../api/quota/resource-list';
import { scopesOf, type ScopeRequirement } from '../api/quota/scopes';
import { isPauseDue } from '../api/steps/pace';
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

type Amounts = Readonly<Record<string, string>>;

function hardOf(quota: KubeObject): Amounts {
  return (quota.status as { readonly hard?: Amounts } | undefined)?.hard ?? {};
}

export function usedOf(quota: KubeObject): Amounts {
  return (quota.status as { readonly used?: Amounts } | undefined)?.used ?? {};
}

/** What the request adds to what is used already. */
function* deltaOf(attributes: AdmissionAttributes, evaluator: QuotaEvaluator): Steps<ResourceList> {
  const { operation, object, oldObject } = attributes;
  if (object === undefined) return new Map();
  const usage = yield* evaluator.usage(object);
  if (operation !== 'UPDATE' || oldObject === undefined) return yield* withoutZeros(usage);
  return yield* withoutZeros(yield* subtractResources(usage, yield* evaluator.usage(oldObject)));
}

function* refuseNegative(attributes: AdmissionAttributes, evaluator: QuotaEvaluator): Steps<void> {
  if (attributes.object === undefined) return;
  const negative = yield* resourcesThat(yield* evaluator.usage(attributes.object), ({ nanos }) => nanos < 0n);
  if (negative.size === 0) return;
  throw refuse(attributes, `quota usage is negative for resource(s): ${printNames([...negative.keys()])}`);
}

/** The names that a quota limits and the evaluator measures. */
function* measuredNames(quota: KubeObject, evaluator: QuotaEvaluator): Steps<readonly string[]> {
  const names: string[] = [];
  for (const name of keysOf(hardOf(quota))) {
    if (isPauseDue()) yield;
    if (evaluator.measures(name)) names.push(name);
  }
  return names;
}

/** The evaluator for one object: what quotas have in common is not found out for each of them. */
function askedOnce(evaluator: QuotaEvaluator, object: KubeObject): QuotaEvaluator {
  const responses = new Map<string, boolean>();
  let usage: ResourceList | undefined;
  function* once(key: string, ask: () => Steps<boolean>): Steps<boolean> {
    const known = responses.get(key);
    if (known !== undefined) return known;
    const response = yield* ask();
    responses.set(key, response);
    return response;
  }
  function* isMissing(of: KubeObject, name: string): Steps<boolean> {
    return (yield* evaluator.missing(of, [name])).length > 0;
  }
  return {
    ...evaluator,
    *usage(of) {
      if (of !== object) return yield* evaluator.usage(of);
      return (usage ??= yield* evaluator.usage(of));
    },
    matchesScope: (of, scope) =>
      of === object
        ? once(JSON.stringify(scope), () => evaluator.matchesScope(of, scope))
        : evaluator.matchesScope(of, scope),
    *missing(of, limited) {
      const missing: string[] = [];
      for (const name of limited) {
        if (isPauseDue()) yield;
        if (yield* once(name, () => isMissing(of, name))) missing.push(name);
      }
      return missing.sort();
    },
  };
}

/**
 * What the request costs each of the quotas that concern it. Throws 403 when it lacks what they need to know, when a
 * quota's usage is not known yet, or when nothing limits what has to be limited.
 */
export function* chargesOf(
  attributes: AdmissionAttributes,
  every: QuotaEvaluator,
  quotas: readonly KubeObject[],
  limited: readonly LimitedResource[] = [],
): Steps<readonly Charge[]> {
  const { object } = attributes;
  if (object === undefined) return [];
  const evaluator = askedOnce(every, object);
  const covered = new Set<string>();
  const coveredScopes = new Set<string>();
  const concerned: { readonly quota: string; readonly names: readonly string[] }[] = [];
  for (const quota of quotas) {
    let isWithin = true;
    for (const scope of scopesOf(quota)) {
      if (isPauseDue()) yield;
      if (yield* evaluator.matchesScope(object, scope)) coveredScopes.add(scope.scopeName);
      else isWithin = false;
    }
    const names = yield* measuredNames(quota, evaluator);
    if (!isWithin || names.length === 0) continue;
    const name = quota.metadata.name ?? '';
    const missing = yield* evaluator.missing(object, names);
    if (missing.length > 0) throw refuse(attributes, `failed quota: ${name}: must specify ${missing.join(',')}`);
    const used = usedOf(quota);
    let isKnown = true;
    for (const one of names) {
      if (isPauseDue()) yield;
      covered.add(one);
      if (!Object.hasOwn(used, one)) isKnown = false;
    }
    if (!isKnown) throw refuse(attributes, `status unknown for quota: ${name}, resources: ${printNames(names)}`);
    concerned.push({ quota: name, names });
  }
  yield* checkCovered(attributes, evaluator, limited, covered, coveredScopes);
  if (concerned.length === 0) return [];
  yield* refuseNegative(attributes, evaluator);
  const delta = yield* deltaOf(attributes, evaluator);
  const charges: Charge[] = [];
  for (const { quota, names } of concerned) {
    const amounts = yield* pickResources(delta, names);
    if (amounts.size > 0) charges.push({ quota, amounts });
  }
  return charges;
}

/** Throws 403 when the request uses what the configuration limits and no quota covers it. */
function* checkCovered(
  attributes: AdmissionAttributes,
  evaluator: QuotaEvaluator,
  limited: readonly LimitedResource[],
  covered: ReadonlySet<string>,
  coveredScopes: ReadonlySet<string>,
): Steps<void> {
  const { group, resource, object } = attributes;
  const ofThis = limited.filter((one) => one.apiGroup === group && one.resource === resource);
  if (object === undefined || ofThis.length === 0) return;
  const isLimited = (name: string): boolean =>
    ofThis.some(({ matchContains }) => matchContains.some((part) => name.includes(part)));
  const uncovered = yield* resourcesThat(
    yield* deltaOf(attributes, evaluator),
    (_, name) => !covered.has(name) && isLimited(name),
  );
  if (uncovered.size > 0) {
    throw refuse(attributes, `insufficient quota to consume: ${printNames([...uncovered.keys()])}`);
  }
  const texts: string[] = [];
  for (const scope of ofThis.flatMap(({ matchScopes }) => matchScopes)) {
    const { scopeName, operator, values = [] } = scope;
    if (coveredScopes.has(scopeName) || !(yield* evaluator.matchesScope(object, scope))) continue;
    texts.push(`{${scopeName} ${operator} [${values.join(' ')}]}`);
  }
  if (texts.length > 0) throw refuse(attributes, `insufficient quota to match these scopes: [${texts.join(' ')}]`);
}

/** What is used with the charge; throws 403 when that is more than the quota allows. */
export function* usedWith(
  attributes: AdmissionAttributes,
  quota: KubeObject,
  used: ResourceList,
  { amounts }: Charge,
): Steps<ResourceList> {
  const after = yield* addResources(used, amounts);
  const limits = yield* limitsOn(quota, amounts.keys());
  const exceeded = yield* resourcesAbove(yield* pickResources(after, amounts.keys()), limits);
  if (exceeded.size > 0) throw yield* exceededQuota(attributes, quota, used, amounts, exceeded);
  return after;
}

/** What the quota allows of these names. */
function* limitsOn(quota: KubeObject, names: Iterable<string>): Steps<ResourceList> {
  const hard = hardOf(quota);
  const limits = new Map<string, Quantity>();
  for (const name of names) {
    if (isPauseDue()) yield;
    if (Object.hasOwn(hard, name)) limits.set(name, parseQuantity(hard[name]!));
  }
  return limits;
}

function* exceededQuota(
  attributes: AdmissionAttributes,
  quota: KubeObject,
  used: ResourceList,
  amounts: ResourceList,
  exceeded: ResourceList,
): Steps<StatusError> {
  const texts: string[] = [];
  for (const list of [amounts, used, yield* limitsOn(quota, exceeded.keys())]) {
    texts.push(yield* printResourceList(yield* pickResources(list, exceeded.keys())));
  }
  const [requested, before, limited] = texts;
  return refuse(
    attributes,
    `exceeded quota: ${quota.metadata.name ?? ''}, requested: ${requested}, used: ${before}, limited: ${limited}`,
  );
}
