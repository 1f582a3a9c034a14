import type { KubeObject } from '../api/object';
import { podTotal } from '../api/quota/pod-resources';
import { WorkBudget } from '../api/work-budget';
import { formatQuantity, parseQuantity, type Quantity } from '../api/quantity/quantity';
import { podSpec, withSpec, type Container } from './pod';
import { refuse, type AdmissionAttributes, type AdmissionPlugin } from './plugin';

type Amounts = Readonly<Record<string, string>>;

interface Limit {
  readonly type?: string;
  readonly min?: Amounts;
  readonly max?: Amounts;
  readonly default?: Amounts;
  readonly defaultRequest?: Amounts;
  readonly maxLimitRequestRatio?: Amounts;
}

/** That defaults may add to the containers of one pod: their note in its annotations ends it sooner. */
const MAX_DEFAULTS = 100_000;

/** What is asked for and what may be used, by resource. */
interface Usage {
  readonly requests: ReadonlyMap<string, Quantity>;
  readonly limits: ReadonlyMap<string, Quantity>;
}

const ANNOTATION = 'kubernetes.io/limit-ranger';
/** Ratios are compared in thousandths where the numbers allow it. */
const RATIO_DIGITS = 6;

function limitsOf(range: KubeObject): readonly Limit[] {
  return (range.spec as { readonly limits?: readonly Limit[] } | undefined)?.limits ?? [];
}

function sorted(amounts: Amounts = {}): readonly (readonly [string, Quantity])[] {
  return Object.keys(amounts)
    .sort()
    .map((name) => [name, parseQuantity(amounts[name] ?? '0')]);
}

/** The container with the range's defaults, and a note of what was set. */
function withDefaults(
  container: Container,
  kind: string,
  limit: { readonly requests: Amounts; readonly limits: Amounts },
): { readonly container: Container; readonly notes: readonly string[] } {
  const notes: string[] = [];
  let resources = container.resources ?? {};
  for (const [list, word] of [
    ['requests', 'request'],
    ['limits', 'limit'],
  ] as const) {
    const given = resources[list] ?? {};
    const missing = Object.keys(limit[list])
      .filter((name) => !Object.hasOwn(given, name))
      .sort();
    if (missing.length === 0) continue;
    const added = Object.fromEntries(missing.map((name) => [name, limit[list][name] ?? '0']));
    resources = { ...resources, [list]: { ...given, ...added } };
    notes.push(`${missing.join(', ')} ${word} for ${kind} ${container.name}`);
  }
  return { container: notes.length === 0 ? container : { ...container, resources }, notes };
}

/** What the containers of a namespace's pods get where they say nothing. */
interface Defaults {
  readonly requests: Amounts;
  readonly limits: Amounts;
}

function namesOf({ requests, limits }: Defaults): readonly string[] {
  return [
    ...Object.keys(requests).map((name) => `requests ${name}`),
    ...Object.keys(limits).map((name) => `limits ${name}`),
  ];
}

/** `seen`: those of the ranges before, which all containers have by now. */
function freshDefaults(range: KubeObject, seen: ReadonlySet<string>): Defaults {
  const ofContainers = limitsOf(range).filter(({ type }) => type === 'Container');
  const fresh = (list: 'requests' | 'limits', amounts: readonly (Amounts | undefined)[]): Amounts =>
    Object.fromEntries(
      Object.entries(Object.assign({}, ...amounts) as Amounts).filter(([name]) => !seen.has(`${list} ${name}`)),
    );
  return {
    requests: fresh(
      'requests',
      ofContainers.map(({ defaultRequest }) => defaultRequest),
    ),
    limits: fresh(
      'limits',
      ofContainers.map((limit) => limit.default),
    ),
  };
}

/** Sets what the pod's containers leave open to the defaults. */
function defaulted(pod: KubeObject, { requests, limits }: Defaults): KubeObject {
  const notes: string[] = [];
  const apply = (containers: readonly Container[], kind: string): readonly Container[] =>
    containers.map((one) => {
      const result = withDefaults(one, kind, { requests, limits });
      notes.push(...result.notes);
      return result.container;
    });
  const { containers, initContainers } = podSpec(pod);
  const changes = {
    ...(containers == null ? {} : { containers: apply(containers, 'container') }),
    ...(initContainers === undefined ? {} : { initContainers: apply(initContainers, 'init container') }),
  };
  if (notes.length === 0) return pod;
  const note = `LimitRanger plugin set: ${notes.join('; ')}`;
  const metadata = { ...pod.metadata, annotations: { ...pod.metadata.annotations, [ANNOTATION]: note } };
  return withSpec({ ...pod, metadata }, changes);
}

function below(type: string, name: string, least: Quantity, { requests, limits }: Usage): string | undefined {
  const rule = `minimum ${name} usage per ${type} is ${formatQuantity(least)}`;
  const request = requests.get(name);
  const limit = limits.get(name);
  if (request === undefined) return `${rule}.  No request is specified`;
  if (request.nanos < least.nanos) return `${rule}, but request is ${formatQuantity(request)}`;
  if (limit !== undefined && limit.nanos < least.nanos) return `${rule}, but limit is ${formatQuantity(limit)}`;
  return undefined;
}

function above(type: string, name: string, most: Quantity, { requests, limits }: Usage): string | undefined {
  const rule = `maximum ${name} usage per ${type} is ${formatQuantity(most)}`;
  const request = requests.get(name);
  const limit = limits.get(name);
  if (limit === undefined) return `${rule}.  No limit is specified`;
  if (limit.nanos > most.nanos) return `${rule}, but limit is ${formatQuantity(limit)}`;
  if (request !== undefined && request.nanos > most.nanos) return `${rule}, but request is ${formatQuantity(request)}`;
  return undefined;
}

function aboveRequest(type: string, name: string, most: Quantity, { requests }: Usage): string | undefined {
  const rule = `maximum ${name} usage per ${type} is ${formatQuantity(most)}`;
  const request = requests.get(name);
  if (request === undefined) return `${rule}.  No request is specified`;
  return request.nanos > most.nanos ? `${rule}, but request is ${formatQuantity(request)}` : undefined;
}

function aboveRatio(type: string, name: string, most: Quantity, { requests, limits }: Usage): string | undefined {
  const rule = `${name} max limit to request ratio per ${type} is ${formatQuantity(most)}`;
  const request = requests.get(name);
  const limit = limits.get(name);
  if (request === undefined || request.nanos === 0n) return `${rule}, but no request is specified or request is 0`;
  if (limit === undefined || limit.nanos === 0n) return `${rule}, but no limit is specified or limit is 0`;
  const ratio = Number(limit.nanos) / Number(request.nanos);
  if (ratio <= Number(most.nanos) / 1e9) return undefined;
  return `${rule}, but provided ratio is ${ratio.toFixed(RATIO_DIGITS)}`;
}

interface Rule {
  readonly name: string;
  readonly problem: (usage: Usage) => string | undefined;
}

function rulesOf({ type = '', min, max, maxLimitRequestRatio }: Limit): readonly Rule[] {
  const rules = (amounts: Amounts | undefined, check: typeof below): readonly Rule[] =>
    sorted(amounts).map(([name, amount]) => ({ name, problem: (usage) => check(type, name, amount, usage) }));
  return [...rules(min, below), ...rules(max, above), ...rules(maxLimitRequestRatio, aboveRatio)];
}

/**
 * What is wrong with several usages, one after the other, each problem once. A rule for what a usage does not name has the same
 * problem with all such usages: it is looked at once, and the others only where they are named.
 */
function problemsOf(limit: Limit, usages: readonly Usage[]): readonly string[] {
  const rules = rulesOf(limit);
  const byName = new Map<string, number[]>();
  rules.forEach(({ name }, index) => {
    const indexes = byName.get(name);
    if (indexes === undefined) byName.set(name, [index]);
    else indexes.push(index);
  });
  const unseen = new Set(rules.keys());
  const problems = new Set<string>();
  for (const usage of usages) {
    const names = new Set([...usage.requests.keys(), ...usage.limits.keys()]);
    const indexes = [...names].flatMap((name) => byName.get(name) ?? []);
    for (const index of unseen) {
      if (names.has(rules[index]?.name ?? '')) continue;
      unseen.delete(index);
      indexes.push(index);
    }
    for (const index of indexes.sort((left, right) => left - right)) {
      const problem = rules[index]?.problem(usage);
      if (problem !== undefined) problems.add(problem);
    }
  }
  return [...problems];
}

interface PodUsages {
  readonly pod: readonly Usage[];
  /** Each that differs from the others. */
  readonly containers: readonly Usage[];
}

function usagesOf(pod: KubeObject): PodUsages {
  const spec = podSpec(pod);
  const different = new Map<string, Container['resources']>();
  for (const { resources } of [...(spec.containers ?? []), ...(spec.initContainers ?? [])]) {
    different.set(JSON.stringify([resources?.requests, resources?.limits]), resources);
  }
  return {
    pod: [{ requests: podTotal(spec, 'requests'), limits: podTotal(spec, 'limits') }],
    containers: [...different.values()].map((resources) => ({
      requests: new Map(sorted(resources?.requests)),
      limits: new Map(sorted(resources?.limits)),
    })),
  };
}

function podProblems(usages: PodUsages, range: KubeObject): readonly string[] {
  return limitsOf(range).flatMap((limit) => {
    if (limit.type === 'Pod') return problemsOf(limit, usages.pod);
    return limit.type === 'Container' ? problemsOf(limit, usages.containers) : [];
  });
}

function claimProblems(claim: KubeObject, range: KubeObject): readonly string[] {
  const { resources } = (claim.spec ?? {}) as { readonly resources?: { readonly requests?: Amounts } };
  const usage = { requests: new Map(sorted(resources?.requests)), limits: new Map<string, Quantity>() };
  return limitsOf(range)
    .filter(({ type }) => type === 'PersistentVolumeClaim')
    .flatMap(({ type = '', min, max }) => [
      ...sorted(min).map(([name, amount]) => below(type, name, amount, usage)),
      ...sorted(max).map(([name, amount]) => aboveRequest(type, name, amount, usage)),
    ])
    .filter((problem) => problem !== undefined);
}

/**
 * LimitRanger: containers, pods and claims keep within the bounds of their namespace's LimitRanges, and containers get
 * their defaults. Pods are looked at when they are created: later their resources are fixed.
 */
export function limitRanger(listLimitRanges: (namespace: string) => Iterable<KubeObject>): AdmissionPlugin {
  const isExempt = ({ resource, operation, oldObject }: AdmissionAttributes): boolean =>
    (resource === 'pods' && operation === 'UPDATE') || Boolean(oldObject?.metadata.deletionTimestamp);
  return {
    name: 'LimitRanger',
    operations: ['CREATE', 'UPDATE'],
    resources: ['pods', 'persistentvolumeclaims'],
    mutate: async (attributes) => {
      let { object } = attributes;
      if (attributes.resource !== 'pods' || isExempt(attributes)) return object;
      const seen = new Set<string>();
      const budget = new WorkBudget(MAX_DEFAULTS, 'it has too many containers for the defaults of its namespace');
      for (const range of listLimitRanges(attributes.namespace)) {
        const defaults = freshDefaults(range, seen);
        const added = namesOf(defaults);
        if (added.length === 0) continue;
        const { containers, initContainers } = podSpec(object);
        budget.spend(added.length * ((containers?.length ?? 0) + (initContainers?.length ?? 0)));
        for (const name of added) seen.add(name);
        object = defaulted(object, defaults);
      }
      return object;
    },
    validate: async (attributes) => {
      const { object, resource } = attributes;
      if (object === undefined || isExempt(attributes)) return;
      let usages: PodUsages | undefined;
      for (const range of listLimitRanges(attributes.namespace)) {
        const found =
          resource === 'pods' ? podProblems((usages ??= usagesOf(object)), range) : claimProblems(object, range);
        const problems = [...new Set(found)];
        if (problems.length === 0) continue;
        throw refuse(attributes, problems.length === 1 ? problems[0]! : `[${problems.join(', ')}]`);
      }
    },
  };
}
