import type { GroupResource } from '../api/errors/status-error';
import type { KubeObject } from '../api/object';
import type { Steps } from '../api/parts';
import { addQuantities, compareQuantities, type Quantity } from '../api/quantity/quantity';
import { quotaEvaluator, type QuotaEvaluator } from '../api/quota/evaluator';
import type { ResourceList } from '../api/quota/resource-list';
import { scopesOf, type ScopeRequirement } from '../api/quota/scopes';
import { isPauseDue } from '../api/steps/pace';

/** Resources whose objects must be looked at one by one; of all others only the number counts. */
const MEASURED: readonly GroupResource[] = [
  { group: '', resource: 'pods' },
  { group: '', resource: 'services' },
  { group: '', resource: 'persistentvolumeclaims' },
];
const MEASURED_NAMES = new Set(MEASURED.map(({ resource }) => resource));
const COUNT_PREFIX = 'count/';
const ZERO = { nanos: 0n, format: 'decimalSI' } as const;

/** A resource that a quota limits, and by which names. */
export interface Measure {
  readonly of: GroupResource;
  readonly names: readonly string[];
  readonly evaluator: QuotaEvaluator;
  /** Only the number of objects counts. */
  readonly onlyNumber: boolean;
}

/** What has to be counted for these names of a quota's `hard`. `now`: milliseconds since the epoch. */
export function* measuresOf(hardNames: readonly string[], now: () => number): Steps<readonly Measure[]> {
  const measures: Measure[] = [];
  for (const of of MEASURED) {
    const evaluator = quotaEvaluator(of, now)!;
    const names: string[] = [];
    for (const name of hardNames) {
      if (isPauseDue()) yield;
      if (evaluator.measures(name)) names.push(name);
    }
    if (names.length > 0) measures.push({ of, names, evaluator, onlyNumber: false });
  }
  for (const [of, names] of yield* counted(hardNames)) {
    if (isPauseDue()) yield;
    const evaluator = quotaEvaluator(of, now);
    // A plain name such as `configmaps`; others (`requests.cpu`) measure nothing.
    const measured = names.filter((name) => evaluator?.measures(name));
    if (evaluator && measured.length > 0) measures.push({ of, names: measured, evaluator, onlyNumber: true });
  }
  return measures;
}

/** The resources whose number the names may speak of, each with its own: `secrets` and `count/secrets`. */
function* counted(hardNames: readonly string[]): Steps<ReadonlyMap<GroupResource, readonly string[]>> {
  const resources = new Map<string, { readonly of: GroupResource; readonly names: string[] }>();
  for (const name of hardNames) {
    if (isPauseDue()) yield;
    const text = name.startsWith(COUNT_PREFIX) ? name.slice(COUNT_PREFIX.length) : name;
    const known = resources.get(text);
    if (known !== undefined) known.names.push(name);
    else {
      const [resource = '', ...group] = text.split('.');
      if (!MEASURED_NAMES.has(text)) resources.set(text, { of: { group: group.join('.'), resource }, names: [name] });
    }
  }
  return new Map([...resources.values()].map(({ of, names }) => [of, names]));
}

/** What the objects use of a quota: those within its scopes, by the measure's names. */
export function* usageOf(
  quota: KubeObject,
  { names, evaluator }: Measure,
  objects: Iterable<KubeObject>,
): Steps<ResourceList> {
  const scopes = scopesOf(quota);
  const total = new Map<string, Quantity>();
  for (const name of names) {
    if (isPauseDue()) yield;
    total.set(name, ZERO);
  }
  for (const object of objects) {
    if (!(yield* isWithin(evaluator, object, scopes))) continue;
    // What an object names is looked for among a quota's names, which may be many more.
    for (const [name, quantity] of yield* evaluator.usage(object)) {
      if (isPauseDue()) yield;
      const before = total.get(name);
      if (before !== undefined) total.set(name, addQuantities(before, quantity));
    }
  }
  return total;
}

function* isWithin(evaluator: QuotaEvaluator, object: KubeObject, scopes: readonly ScopeRequirement[]): Steps<boolean> {
  for (const scope of scopes) if (!(yield* evaluator.matchesScope(object, scope))) return false;
  return true;
}

/** What has been added since: the charges between two states of a quota. */
export function* increaseOf(before: ResourceList, after: ResourceList): Steps<ResourceList> {
  const increase = new Map<string, Quantity>();
  for (const [name, quantity] of after) {
    if (isPauseDue()) yield;
    const old = before.get(name);
    if (old === undefined || compareQuantities(quantity, old) <= 0) continue;
    increase.set(name, { ...quantity, nanos: quantity.nanos - old.nanos });
  }
  return increase;
}

/**
 * The figure that a recount may set. A charge made a moment ago belongs to an object that may not be stored yet, and so
 * may be missing from the count: it stays charged until it is old enough to have been stored or given back.
 */
export function* recountedUsage(
  counted: ResourceList,
  current: ResourceList,
  recent: ResourceList,
): Steps<ResourceList> {
  const used = new Map<string, Quantity>();
  for (const [name, quantity] of counted) {
    if (isPauseDue()) yield;
    used.set(name, quantity);
    const before = current.get(name);
    const charged = recent.get(name);
    if (before === undefined || charged === undefined) continue;
    const most = quantity.nanos + charged.nanos;
    const nanos = before.nanos < most ? before.nanos : most;
    if (nanos > quantity.nanos)
      used.set(name, { nanos, format: quantity.nanos === 0n ? charged.format : quantity.format });
  }
  return used;
}
