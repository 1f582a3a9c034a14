import type { JsonValue, KubeObject } from '../object';
import {
  difference,
  equals,
  intersection,
  isEmpty,
  recursiveDifference,
  union,
  EMPTY_SET,
  type FieldSet,
} from './field-set';
import {
  dropEmpty,
  managerOf,
  withoutUnowned,
  withSet,
  type Manager,
  type Managers,
  type Writer,
} from './managed-fields';
import type { MergeType } from './merge-type';
import { reconcileWithSchema, withNamedFields } from './schema-change';
import { setByShape } from './shape';
import { compare, everything, isSame, merge, removeItems, toFieldSet, type Comparison, type Duplicates } from './typed';

/** An object, and its type, in one version. */
export interface Typed {
  readonly type: MergeType;
  readonly object: KubeObject;
  readonly apiVersion: string;
}

export interface OwnershipContext {
  /** The object in another version of its kind; undefined: that version is not served any more. */
  readonly convert: (from: Typed, apiVersion: string) => Typed | undefined;
  /** See SchemaChange. */
  readonly inferOwnership: boolean;
  /** Fields that this endpoint resets and that nobody can own through it (status on the main resource). */
  readonly ignored: FieldSet;
}

/** What a write takes from others, by manager. */
export interface OwnershipConflict {
  readonly managerId: string;
  readonly manager: Manager;
  readonly fields: FieldSet;
}

function json(object: KubeObject): JsonValue {
  return object as unknown as JsonValue;
}

function inVersion(context: OwnershipContext, typed: Typed, apiVersion: string): Typed | undefined {
  return typed.apiVersion === apiVersion ? typed : context.convert(typed, apiVersion);
}

/** Field sets as today's schemas read them. A manager whose version is gone keeps its set until the next change. */
function reconcile(context: OwnershipContext, live: Typed, managers: Managers): Managers {
  let result: Map<string, Manager> | undefined;
  for (const [id, manager] of managers) {
    const versioned = inVersion(context, live, manager.apiVersion);
    if (versioned === undefined) continue;
    const set = reconcileWithSchema(versioned.type, manager.set, {
      live: json(versioned.object),
      inferOwnership: context.inferOwnership,
    });
    if (set !== manager.set) (result ??= new Map(managers)).set(id, withSet(manager, set));
  }
  return result ?? managers;
}

interface Transfer {
  readonly comparison: Comparison;
  readonly conflicts: readonly OwnershipConflict[];
  /** The managers without what the change takes from them. */
  readonly managers: Map<string, Manager>;
}

/** Compares the object before and after, in the version of each manager other than `writerId`. */
function transfer(
  context: OwnershipContext,
  before: Typed,
  after: Typed,
  managers: Managers,
  writerId: string,
  duplicates: Duplicates,
): Transfer {
  const comparison = compare(before.type, json(before.object), json(after.object), duplicates);
  const comparisons = new Map<string, Comparison | undefined>([[before.apiVersion, comparison]]);
  const conflicts: OwnershipConflict[] = [];
  const result = new Map(managers);
  for (const [id, manager] of managers) {
    if (id === writerId) continue;
    const { apiVersion } = manager;
    if (!comparisons.has(apiVersion)) comparisons.set(apiVersion, compareInVersion(context, before, after, apiVersion));
    const changes = comparisons.get(apiVersion);
    if (changes === undefined) {
      result.delete(id);
      continue;
    }
    const fields = union(intersection(manager.set, changes.modified), intersection(manager.set, changes.added));
    if (!isEmpty(fields)) conflicts.push({ managerId: id, manager, fields });
    result.set(id, withSet(manager, difference(difference(manager.set, fields), changes.removed)));
  }
  return { comparison, conflicts, managers: result };
}

function compareInVersion(
  context: OwnershipContext,
  before: Typed,
  after: Typed,
  apiVersion: string,
): Comparison | undefined {
  const versionedBefore = context.convert(before, apiVersion);
  const versionedAfter = context.convert(after, apiVersion);
  if (versionedBefore === undefined || versionedAfter === undefined) return undefined;
  return compare(versionedBefore.type, json(versionedBefore.object), json(versionedAfter.object));
}

/** What a write takes: all that it changed or added, without what nobody can own. */
function changedBy({ modified, added }: Comparison): FieldSet {
  return withoutUnowned(union(modified, added));
}

/**
 * What the writer of a new object takes: all in which it differs from `zero`, an object of its type in which nothing is
 * set. Throws a TypedError like {@link ownershipAfterUpdate}, duplicates refused.
 */
export function takenByCreate(context: OwnershipContext, zero: KubeObject, { type, object }: Typed): FieldSet {
  const changed = setByShape(type, json(zero), json(object), () =>
    changedBy(compare(type, json(zero), json(object), 'refused')),
  );
  return recursiveDifference(changed, context.ignored);
}

export interface UpdateOutcome {
  readonly managers: Managers;
  /** What the write took; empty when it changed nothing or only removed. */
  readonly taken: FieldSet;
}

/**
 * Ownership after a write other than apply: what it changed or added belongs to the writer alone, who keeps what it had as
 * long as it is there. Throws a TypedError for an object that its type cannot describe, and for duplicates in keyed lists
 * where these are refused.
 */
export function ownershipAfterUpdate(
  context: OwnershipContext,
  before: Typed,
  after: Typed,
  managers: Managers,
  writerId: string,
  duplicates: Duplicates,
): UpdateOutcome {
  const reconciled = reconcile(context, before, managers);
  const { comparison, managers: rest } = transfer(context, before, after, reconciled, writerId, duplicates);
  const changed = changedBy(comparison);
  // A write that changes only what nobody can own leaves ownership as it is, however today's schema reads it.
  if (isEmpty(changed) && isEmpty(withoutUnowned(comparison.removed))) return { managers, taken: EMPTY_SET };
  const own = rest.get(writerId);
  if (own !== undefined) rest.set(writerId, withSet(own, difference(own.set, comparison.removed)));
  return { managers: dropEmpty(rest), taken: recursiveDifference(changed, context.ignored) };
}

export interface ApplyOutcome {
  /** The merged object; the live object itself when applying changes nothing. */
  readonly object: KubeObject;
  readonly conflicts: readonly OwnershipConflict[];
  readonly managers: Managers;
}

/**
 * Merges the applied configuration into the live object, removes what the applier gave up and nobody else owns, and
 * computes who owns what. With conflicts, the outcome is what a forced apply would do.
 */
export function applyConfiguration(
  context: OwnershipContext,
  live: Typed,
  applied: KubeObject,
  managers: Managers,
  applier: Writer,
): ApplyOutcome {
  const applierId = applier.id;
  const reconciled = reconcile(context, live, managers);
  const merged: Typed = {
    ...live,
    object: merge(live.type, json(live.object), json(applied)) as unknown as KubeObject,
  };
  const previous = reconciled.get(applierId);
  const ownSet = recursiveDifference(ownableFields(live.type, json(applied)), context.ignored);
  // Mostly an applier owns what it owned before: then nothing can have been given up.
  const repeated = previous?.apiVersion === applier.apiVersion && equals(previous.set, ownSet);
  const withApplier = repeated
    ? reconciled
    : new Map(reconciled).set(
        applierId,
        takeOver(previous, applier, recursiveDifference(toFieldSet(live.type, json(applied)), context.ignored)),
      );
  const pruned = repeated ? merged : prune(context, merged, withApplier, previous, applierId);
  const { comparison, conflicts, managers: rest } = transfer(context, live, pruned, withApplier, applierId, 'joined');
  if (repeated && isSame(comparison)) return { object: live.object, conflicts: [], managers };
  if (!repeated) rest.set(applierId, withSet(rest.get(applierId) as Manager, ownSet));
  return {
    object: isSame(comparison) ? live.object : pruned.object,
    conflicts,
    managers: dropEmpty(rest),
  };
}

/** What an applier of this configuration owns. */
function ownableFields(type: MergeType, applied: JsonValue): FieldSet {
  return setByShape(type, undefined, applied, () => withoutUnowned(toFieldSet(type, applied)));
}

function takeOver(previous: Manager | undefined, applier: Writer, set: FieldSet): Manager {
  return previous?.apiVersion === applier.apiVersion ? withSet(previous, set) : managerOf(applier, set, previous?.time);
}

/**
 * Removes what the applier's previous configuration had and this one has not, unless somebody owns it. What was never
 * owned by the applier stays, except inside of a list item or map entry that goes.
 */
function prune(
  context: OwnershipContext,
  merged: Typed,
  managers: ReadonlyMap<string, Manager>,
  previous: Manager | undefined,
  applierId: string,
): Typed {
  const current = managers.get(applierId);
  if (previous === undefined || isEmpty(previous.set)) return merged;
  // Nothing was given up: all that would be taken out is owned again and would come back.
  const sameVersion = previous.apiVersion === current?.apiVersion;
  if (sameVersion && isEmpty(difference(withoutUnowned(previous.set), current.set))) return merged;
  const start = inVersion(context, merged, previous.apiVersion);
  if (start === undefined) return merged;
  const last = withNamedFields(start.type, previous.set);
  const stripped = without(start, last);
  const restored = restoreOwned(context, start, stripped, managers);
  const inLast = inVersion(context, restored, previous.apiVersion);
  if (inLast === undefined) return merged;
  const all = withNamedFields(start.type, toFieldSet(start.type, json(start.object)));
  // Empty structs, which nobody can own, are kept with what they stand in.
  const kept = everything(start.type, json(inLast.object), 'joined');
  const dropped = intersection(difference(all, kept), last);
  const result = isEmpty(dropped) ? start : without(start, dropped);
  return inVersion(context, result, merged.apiVersion) ?? merged;
}

/** Metadata stays, if only as an empty map: conversions may look into it. */
function without(typed: Typed, set: FieldSet): Typed {
  const rest = removeItems(typed.type, json(typed.object), set) as unknown as KubeObject | undefined;
  return { ...typed, object: rest?.metadata === undefined ? { ...rest, metadata: {} } : rest };
}

/** Puts back, version by version, what was stripped although some manager owns it. */
function restoreOwned(
  context: OwnershipContext,
  merged: Typed,
  stripped: Typed,
  managers: ReadonlyMap<string, Manager>,
): Typed {
  const owned = new Map<string, FieldSet>([[merged.apiVersion, EMPTY_SET]]);
  for (const manager of managers.values()) {
    owned.set(manager.apiVersion, union(owned.get(manager.apiVersion) ?? EMPTY_SET, manager.set));
  }
  let rest = stripped;
  for (const [apiVersion, set] of owned) {
    const versioned = inVersion(context, merged, apiVersion);
    const versionedRest = inVersion(context, rest, apiVersion);
    if (versioned === undefined || versionedRest === undefined) continue;
    const { type } = versioned;
    const all = withNamedFields(type, toFieldSet(type, json(versioned.object)));
    const kept = withNamedFields(type, toFieldSet(type, json(versionedRest.object)));
    rest = without(versioned, difference(all, union(kept, withNamedFields(type, set))));
  }
  return rest;
}
