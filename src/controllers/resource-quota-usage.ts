import type { GroupResource } from '../api/errors/status-error';
import type { KubeObject } from '../api/object';
import { compareQuantities } from '../api/quantity/quantity';
import { quotaEvaluator, type QuotaEvaluator } from '../api/quota/evaluator';
import { addResources, pickResources, type ResourceList } from '../api/quota/resource-list';
import { scopesOf } from '../api/quota/scopes';

/** Resources whose objects must be looked at one by one; of all others only the number counts. */
const MEASURED: readonly GroupResource[] = [
  { group: '', resource: 'pods' },
  { group: '', resource: 'services' },
  { group: '', resource: 'persistentvolumeclaims' },
];
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
export function measuresOf(hardNames: readonly string[], now: () => number): readonly Measure[] {
  const candidates = new Map<string, GroupResource>(MEASURED.map((of) => [of.resource, of]));
  for (const name of hardNames) {
    const text = name.startsWith(COUNT_PREFIX) ? name.slice(COUNT_PREFIX.length) : name;
    const [resource = '', ...group] = text.split('.');
    // A plain name such as `configmaps`; others (`requests.cpu`) measure nothing and fall out below.
    if (!candidates.has(text)) candidates.set(text, { group: group.join('.'), resource });
  }
  return [...candidates.values()].flatMap((of) => {
    const evaluator = quotaEvaluator(of, now);
    if (evaluator === undefined) return [];
    const names = hardNames.filter(evaluator.measures);
    return names.length === 0 ? [] : [{ of, names, evaluator, onlyNumber: !MEASURED.includes(of) }];
  });
}

/** What the objects use of a quota: those within its scopes, by the measure's names. */
export function usageOf(quota: KubeObject, { names, evaluator }: Measure, objects: Iterable<KubeObject>): ResourceList {
  const scopes = scopesOf(quota);
  let total: ResourceList = new Map(names.map((name) => [name, ZERO]));
  for (const object of objects) {
    if (!scopes.every((scope) => evaluator.matchesScope(object, scope))) continue;
    total = addResources(total, pickResources(evaluator.usage(object), names));
  }
  return total;
}

/** What has been added since: the charges between two states of a quota. */
export function increaseOf(before: ResourceList, after: ResourceList): ResourceList {
  const increase = new Map(after);
  for (const [name, quantity] of after) {
    const old = before.get(name);
    if (old === undefined || compareQuantities(quantity, old) <= 0) increase.delete(name);
    else increase.set(name, { ...quantity, nanos: quantity.nanos - old.nanos });
  }
  return increase;
}

/**
 * The figure that a recount may set. A charge made a moment ago belongs to an object that may not be stored yet, and so
 * may be missing from the count: it stays charged until it is old enough to have been stored or given back.
 */
export function recountedUsage(counted: ResourceList, current: ResourceList, recent: ResourceList): ResourceList {
  const used = new Map(counted);
  for (const [name, quantity] of counted) {
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
