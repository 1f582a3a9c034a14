import type { JsonValue } from '../object';
import { EMPTY_SET, FieldSetBuilder, isEmpty, makeSet, type FieldSet } from './field-set';
import { isList, isObject, memberOf } from './members';
import { itemElement } from './item-element';
import { ANY_MAP, type MergeType } from './merge-type';
import { fieldNameOf, isKeyElement, type PathElement } from './path-element';
import { recursiveDifference, sizeOf, union } from './set-algebra';
import { toFieldSet } from './value-sets';
import type { WorkBudget } from '../work-budget';

/**
 * Field sets that were written under another schema than today's.
 *
 * A set that names pieces of what is now atomic owns the whole value instead. A set that names a map, list or struct as a
 * leaf although it is merged piece by piece owns what stands below it now: kube-apiserver 1.20 reads an owned empty map
 * and a formerly atomic one alike. Where a schema can really change (custom resources), no such ownership is inferred,
 * since the specification wants none after a change from atomic ("no conflict arises on later updates").
 */
export interface SchemaChange {
  readonly live: JsonValue;
  readonly inferOwnership: boolean;
  /** For the paths that leaves come to stand for: many managers may each own the whole object by one. */
  readonly budget: WorkBudget;
}

interface Plan {
  /** Now atomic, owned in pieces. */
  readonly joined: FieldSet;
  /** Now granular, owned as a leaf. */
  readonly split: FieldSet;
  /** Split, and of a part that no schema describes. */
  readonly splitAny: FieldSet;
}

export const NOTHING: Plan = { joined: EMPTY_SET, split: EMPTY_SET, splitAny: EMPTY_SET };
/** Sets and types live as long as their object versions and schemas, so each pair is examined once. */
export const plans = new WeakMap<FieldSet, WeakMap<MergeType, Plan>>();

/** The set as today's schema reads it; the same set when nothing changes. */
export function reconcileWithSchema(
  type: MergeType,
  set: FieldSet,
  { live, inferOwnership, budget }: SchemaChange,
): FieldSet {
  const plan = planFor(type, set);
  if (plan === NOTHING) return set;
  const joined = isEmpty(plan.joined) ? set : union(recursiveDifference(set, plan.joined), plan.joined);
  const split = inferOwnership ? plan.split : plan.splitAny;
  if (isEmpty(split)) return joined;
  const expanded = expand(type, live, split);
  budget.spend(sizeOf(expanded));
  return union(joined, expanded);
}

function planFor(type: MergeType, set: FieldSet): Plan {
  let perType = plans.get(set);
  if (perType === undefined) plans.set(set, (perType = new WeakMap()));
  let plan = perType.get(type);
  if (plan === undefined) {
    const drafts = { joined: new FieldSetBuilder(), split: new FieldSetBuilder(), splitAny: new FieldSetBuilder() };
    examine(type, set, [], drafts);
    plan = { joined: drafts.joined.build(), split: drafts.split.build(), splitAny: drafts.splitAny.build() };
    if (isEmpty(plan.joined) && isEmpty(plan.split)) plan = NOTHING;
    perType.set(type, plan);
  }
  return plan;
}

type Drafts = { readonly [part in keyof Plan]: FieldSetBuilder };

/** Parts of sets in which nothing was found, per type: the next version of a set shares most of them. */
export const unchanged = new WeakMap<MergeType, WeakSet<FieldSet>>();

/** Collects what to reconcile, and answers whether there is anything. */
function examine(type: MergeType, set: FieldSet, path: PathElement[], drafts: Drafts): boolean {
  if (type.kind === 'scalar') return false;
  const leaf = set.children.size === 0;
  if (isAtomic(type)) {
    if (!leaf) drafts.joined.add(path);
    return !leaf;
  }
  if (leaf && path.length > 0) {
    drafts.split.add(path);
    if (type.kind === 'any') drafts.splitAny.add(path);
    return true;
  }
  let known = unchanged.get(type);
  if (known?.has(set) === true) return false;
  let found = false;
  for (const [element, child] of set.children) {
    const childType = typeBelow(type, element);
    if (childType === undefined) continue;
    path.push(element);
    if (examine(childType, child, path, drafts)) found = true;
    path.pop();
    drafts.joined.back(path.length);
    drafts.split.back(path.length);
    drafts.splitAny.back(path.length);
  }
  if (!found) {
    if (known === undefined) unchanged.set(type, (known = new WeakSet()));
    known.add(set);
  }
  return found;
}

function isAtomic(type: MergeType): boolean {
  return (
    ((type.kind === 'map' || type.kind === 'any') && type.atomic) ||
    (type.kind === 'list' && type.relation === 'atomic')
  );
}

/** The type of what stands at an element; undefined where the type has no such place. */
export function typeBelow(type: MergeType, element: PathElement): MergeType | undefined {
  const name = fieldNameOf(element);
  if (name !== undefined) {
    if (type.kind === 'any') return ANY_MAP.typeOf(name);
    return type.kind === 'map' ? type.typeOf(name) : undefined;
  }
  return type.kind === 'list' && (isKeyElement(element) || type.relation !== 'map') ? type.items : undefined;
}

/** What a manager owns who owns the values at these paths with all that they hold. */
function expand(type: MergeType, value: JsonValue | undefined, roots: FieldSet): FieldSet {
  if (value === undefined) return EMPTY_SET;
  if (roots.member) return makeSet(true, toFieldSet(type, value).children);
  const children = new Map<PathElement, FieldSet>();
  const items = itemsOf(type, value);
  for (const [element, root] of roots.children) {
    const childType = typeBelow(type, element);
    if (childType === undefined) continue;
    const name = fieldNameOf(element);
    const member = name === undefined ? items?.get(element) : isObject(value) ? memberOf(value, name) : undefined;
    const part = expand(childType, member, root);
    if (!isEmpty(part)) children.set(element, part);
  }
  return makeSet(false, children);
}

/** The items of a list by their elements, the first of each; those that cannot have one are left out. */
function itemsOf(type: MergeType, value: JsonValue): ReadonlyMap<PathElement, JsonValue> | undefined {
  if (type.kind !== 'list' || !isList(value)) return undefined;
  const items = new Map<PathElement, JsonValue>();
  for (const item of value) {
    const element = itemElement(type, item);
    if (!(element instanceof Error) && !items.has(element)) items.set(element, item);
  }
  return items;
}

/**
 * The set with every struct that has owned fields below it as a member: when all that is owned in a struct goes, the struct
 * itself goes too, with what only defaults put there. Map keys and list items are members already where they are owned.
 */
export function withNamedFields(type: MergeType, set: FieldSet): FieldSet {
  if (set.children.size === 0) return set;
  const children = new Map<PathElement, FieldSet>();
  for (const [element, child] of set.children) {
    const childType = typeBelow(type, element);
    const inner = childType === undefined ? child : withNamedFields(childType, child);
    const name = fieldNameOf(element);
    const named = name !== undefined && type.kind === 'map' && type.isField(name);
    children.set(element, named && !isMapOfValues(childType, child) ? makeSet(true, inner.children) : inner);
  }
  return makeSet(set.member, children);
}

/** Whether the set is about keys that no schema names (labels, a secret's data): others beside them do not matter. */
function isMapOfValues(type: MergeType | undefined, { children }: FieldSet): boolean {
  if (type?.kind !== 'map' || children.size === 0) return false;
  for (const element of children.keys()) {
    const name = fieldNameOf(element);
    if (name === undefined || type.isField(name)) return false;
  }
  return true;
}
