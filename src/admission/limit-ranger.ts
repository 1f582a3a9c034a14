import type { MaybePromise } from '../api/maybe-promise';
import type { KubeObject } from '../api/object';
import { keysOf, PART_VALUES, type Steps } from '../api/parts';
import { podTotal } from '../api/quota/pod-resources';
import { inOrder } from '../api/quota/resource-list';
import { copyMap } from '../api/steps/copy-map';
import { isPauseDue } from '../api/steps/pace';
import { WorkBudget } from '../api/work-budget';
import { formatQuantity, parseQuantity, type Quantity } from '../api/quantity/quantity';
import { takeTurns } from './webhooks/large-work';
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

function* quantitiesOf(amounts: Amounts = {}): Steps<ReadonlyMap<string, Quantity>> {
  const quantities = new Map<string, Quantity>();
  for (const name of inOrder(keysOf(amounts))) {
    if (isPauseDue()) yield;
    quantities.set(name, parseQuantity(amounts[name] ?? '0'));
  }
  return quantities;
}

/** What the containers of a namespace's pods get where they say nothing. */
interface Defaults {
  readonly requests: ReadonlyMap<string, string>;
  readonly limits: ReadonlyMap<string, string>;
}

/** The container with the defaults, and a note of what was set. */
function* withDefaults(
  container: Container,
  kind: string,
  defaults: Defaults,
): Steps<{ readonly container: Container; readonly notes: readonly string[] }> {
  const notes: string[] = [];
  let resources = container.resources ?? {};
  for (const [list, word] of [
    ['requests', 'request'],
    ['limits', 'limit'],
  ] as const) {
    const given = resources[list] ?? {};
    const missing: string[] = [];
    for (const name of defaults[list].keys()) {
      if (isPauseDue()) yield;
      if (!Object.hasOwn(given, name)) missing.push(name);
    }
    if (missing.length === 0) continue;
    const all = (yield* copyMap(given)) as Record<string, string>;
    for (const name of missing) {
      if (isPauseDue()) yield;
      all[name] = defaults[list].get(name)!;
    }
    resources = { ...resources, [list]: all };
    notes.push(`${inOrder(missing).join(', ')} ${word} for ${kind} ${container.name}`);
  }
  return { container: notes.length === 0 ? container : { ...container, resources }, notes };
}

/** `seen`: those of the ranges before, which all containers have by now; these come to them. */
function* freshDefaults(range: KubeObject, seen: Record<keyof Defaults, Set<string>>): Steps<Defaults> {
  const fresh = { requests: new Map<string, string>(), limits: new Map<string, string>() };
  for (const { type, defaultRequest, default: defaultLimit } of limitsOf(range)) {
    if (type !== 'Container') continue;
    for (const [list, amounts = {}] of [
      ['requests', defaultRequest],
      ['limits', defaultLimit],
    ] as const) {
      for (const name of inOrder(keysOf(amounts))) {
        if (isPauseDue()) yield;
        if (!seen[list].has(name)) fresh[list].set(name, amounts[name]!);
      }
    }
  }
  for (const list of ['requests', 'limits'] as const) {
    for (const name of fresh[list].keys()) {
      if (isPauseDue()) yield;
      seen[list].add(name);
    }
  }
  return fresh;
}

/** Sets what the pod's containers leave open to the defaults. */
function* defaulted(pod: KubeObject, defaults: Defaults): Steps<KubeObject> {
  const notes: string[] = [];
  const spec = podSpec(pod);
  const changes: Partial<Record<'containers' | 'initContainers', readonly Container[]>> = {};
  for (const [list, kind] of [
    ['containers', 'container'],
    ['initContainers', 'init container'],
  ] as const) {
    const given = spec[list];
    if (given == null) continue;
    const changed: Container[] = [];
    for (const one of given) {
      if (isPauseDue()) yield;
      const result = yield* withDefaults(one, kind, defaults);
      notes.push(...result.notes);
      changed.push(result.container);
    }
    changes[list] = changed;
  }
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

function* rulesOf({ type = '', min, max, maxLimitRequestRatio }: Limit): Steps<readonly Rule[]> {
  const rules: Rule[] = [];
  for (const [amounts, check] of [
    [min, below],
    [max, above],
    [maxLimitRequestRatio, aboveRatio],
  ] as const) {
    for (const [name, amount] of yield* quantitiesOf(amounts)) {
      if (isPauseDue()) yield;
      rules.push({ name, problem: (usage) => check(type, name, amount, usage) });
    }
  }
  return rules;
}

/**
 * What is wrong with several usages, one after the other, each problem once. A rule for what a usage does not name has the same
 * problem with all such usages: it is looked at once, and the others only where they are named.
 */
function* problemsOf(limit: Limit, usages: readonly Usage[]): Steps<readonly string[]> {
  const rules = yield* rulesOf(limit);
  const byName = new Map<string, number[]>();
  const unseen = new Set<number>();
  for (const [index, { name }] of rules.entries()) {
    if (isPauseDue()) yield;
    const indexes = byName.get(name);
    if (indexes === undefined) byName.set(name, [index]);
    else indexes.push(index);
    unseen.add(index);
  }
  const problems = new Set<string>();
  for (const usage of usages) {
    const indexes: number[] = [];
    for (const names of [usage.requests, usage.limits]) {
      for (const name of names.keys()) {
        if (isPauseDue()) yield;
        if (names === usage.limits && usage.requests.has(name)) continue;
        for (const index of byName.get(name) ?? []) indexes.push(index);
      }
    }
    for (const index of unseen) {
      if (isPauseDue()) yield;
      const { name } = rules[index]!;
      if (usage.requests.has(name) || usage.limits.has(name)) continue;
      unseen.delete(index);
      indexes.push(index);
    }
    if (indexes.length <= PART_VALUES) indexes.sort((left, right) => left - right);
    for (const index of indexes) {
      if (isPauseDue()) yield;
      const problem = rules[index]!.problem(usage);
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

function* usagesOf(pod: KubeObject): Steps<PodUsages> {
  const spec = podSpec(pod);
  const different = new Map<string, Container['resources']>();
  for (const { resources } of [...(spec.containers ?? []), ...(spec.initContainers ?? [])]) {
    if (isPauseDue()) yield;
    different.set(JSON.stringify([resources?.requests, resources?.limits]), resources);
  }
  const containers: Usage[] = [];
  for (const resources of different.values()) {
    containers.push({
      requests: yield* quantitiesOf(resources?.requests),
      limits: yield* quantitiesOf(resources?.limits),
    });
  }
  return {
    pod: [{ requests: yield* podTotal(spec, 'requests'), limits: yield* podTotal(spec, 'limits') }],
    containers,
  };
}

function* podProblems(usages: PodUsages, range: KubeObject): Steps<ReadonlySet<string>> {
  const problems = new Set<string>();
  for (const limit of limitsOf(range)) {
    const among = limit.type === 'Pod' ? usages.pod : limit.type === 'Container' ? usages.containers : [];
    for (const problem of among.length === 0 ? [] : yield* problemsOf(limit, among)) problems.add(problem);
  }
  return problems;
}

function* claimProblems(claim: KubeObject, range: KubeObject): Steps<ReadonlySet<string>> {
  const { resources } = (claim.spec ?? {}) as { readonly resources?: { readonly requests?: Amounts } };
  const usage = { requests: yield* quantitiesOf(resources?.requests), limits: new Map<string, Quantity>() };
  const problems = new Set<string>();
  for (const { type = '', min, max } of limitsOf(range)) {
    if (type !== 'PersistentVolumeClaim') continue;
    for (const [amounts, check] of [
      [min, below],
      [max, aboveRequest],
    ] as const) {
      for (const [name, amount] of yield* quantitiesOf(amounts)) {
        if (isPauseDue()) yield;
        const problem = check(type, name, amount, usage);
        if (problem !== undefined) problems.add(problem);
      }
    }
  }
  return problems;
}

/** The pod with the defaults of all ranges. */
function* withAllDefaults(pod: KubeObject, ranges: readonly KubeObject[]): Steps<KubeObject> {
  const seen = { requests: new Set<string>(), limits: new Set<string>() };
  const budget = new WorkBudget(MAX_DEFAULTS, 'it has too many containers for the defaults of its namespace');
  let changed = pod;
  for (const range of ranges) {
    yield;
    const defaults = yield* freshDefaults(range, seen);
    const added = defaults.requests.size + defaults.limits.size;
    if (added === 0) continue;
    const { containers, initContainers } = podSpec(changed);
    budget.spend(added * ((containers?.length ?? 0) + (initContainers?.length ?? 0)));
    changed = yield* defaulted(changed, defaults);
  }
  return changed;
}

/** What the first range that finds something finds wrong with a pod, or with a claim. */
function* firstProblems(object: KubeObject, isPod: boolean, ranges: readonly KubeObject[]): Steps<ReadonlySet<string>> {
  const usages = isPod && ranges.length > 0 ? yield* usagesOf(object) : undefined;
  for (const range of ranges) {
    yield;
    const problems = yield* usages === undefined ? claimProblems(object, range) : podProblems(usages, range);
    if (problems.size > 0) return problems;
  }
  return new Set();
}

/**
 * LimitRanger: containers, pods and claims keep within the bounds of their namespace's LimitRanges, and containers get
 * their defaults. Pods are looked at when they are created: later their resources are fixed.
 */
export function limitRanger(
  listLimitRanges: (namespace: string) => MaybePromise<readonly KubeObject[]>,
): AdmissionPlugin {
  const isExempt = ({ resource, operation, oldObject }: AdmissionAttributes): boolean =>
    (resource === 'pods' && operation === 'UPDATE') || Boolean(oldObject?.metadata.deletionTimestamp);
  return {
    name: 'LimitRanger',
    operations: ['CREATE', 'UPDATE'],
    resources: ['pods', 'persistentvolumeclaims'],
    mutate: async (attributes) => {
      const { object } = attributes;
      if (attributes.resource !== 'pods' || isExempt(attributes)) return object;
      const ranges = await listLimitRanges(attributes.namespace);
      return takeTurns(attributes, withAllDefaults(object, ranges), ranges, object);
    },
    validate: async (attributes) => {
      const { object, resource } = attributes;
      if (object === undefined || isExempt(attributes)) return;
      const ranges = await listLimitRanges(attributes.namespace);
      const found = await takeTurns(attributes, firstProblems(object, resource === 'pods', ranges), ranges, object);
      const problems = [...found];
      if (problems.length > 0)
        throw refuse(attributes, problems.length === 1 ? problems[0]! : `[${problems.join(', ')}]`);
    },
  };
}
