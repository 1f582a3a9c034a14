import type { JsonValue, KubeObject } from '../object';
import { compare, isSame, type Comparison } from './compare';
import { isEmpty, EMPTY_SET, type FieldSet } from './field-set';
import { shared } from './fields-v1';
import type { Duplicates } from './list-items';
import {
  dropEmpty,
  findManager,
  isSameWriter,
  managerOf,
  withManager,
  withoutUnowned,
  withSet,
  type Manager,
  type Managers,
  type Writer,
} from './managed-fields';
import type { MergeType } from './merge-type';
import { reconcileWithSchema, withNamedFields } from './schema-change';
import { merge, removeItems } from './merge-values';
import { difference, equals, intersection, recursiveDifference, union, unionOf } from './set-algebra';
import { rememberSet, shapeOf } from './shape';
import { everything, toFieldSet } from './value-sets';
import { WorkBudget } from '../work-budget';

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
  /** Fields that this endpoint resets and that cannot be owned through it (status on the main resource). */
  readonly ignored: FieldSet;
}

/** What a write takes from others, by manager. */
export interface OwnershipConflict {
  readonly manager: Manager;
  readonly fields: FieldSet;
}

function json(object: KubeObject): JsonValue {
  return object as unknown as JsonValue;
}

function inVersion(context: OwnershipContext, typed: Typed, apiVersion: string): Typed | undefined {
  return typed.apiVersion === apiVersion ? typed : context.convert(typed, apiVersion);
}

/** Paths that the managers of one object may come to own because of leaves: twice what the largest object has. */
const MAX_INFERRED_PATHS = 1_000_000;

/** One object in the versions of its managers, of which many may have one: each is made once. */
export class VersionsOf {
  private others: Map<string, Typed | undefined> | undefined;

  constructor(
    private readonly context: OwnershipContext,
    private readonly typed: Typed,
  ) {}

  get(apiVersion: string): Typed | undefined {
    if (this.typed.apiVersion === apiVersion) return this.typed;
    this.others ??= new Map();
    if (!this.others.has(apiVersion)) this.others.set(apiVersion, this.context.convert(this.typed, apiVersion));
    return this.others.get(apiVersion);
  }
}

/** Field sets as today's schemas read them. A manager whose version is gone keeps its set until the next change. */
function reconcile(context: OwnershipContext, live: Typed, managers: Managers): Managers {
  const inVersions = new VersionsOf(context, live);
  const budget = new WorkBudget(MAX_INFERRED_PATHS, 'its managed fields stand for too many fields');
  const { inferOwnership } = context;
  const reconciled: Manager[] = [];
  for (const manager of managers) {
    const versioned = inVersions.get(manager.apiVersion);
    const change = versioned && { live: json(versioned.object), inferOwnership, budget };
    const set = change && reconcileWithSchema(versioned.type, manager.set, change);
    reconciled.push(set === undefined ? manager : withSet(manager, set));
  }
  return reconciled;
}

interface Transfer {
  readonly comparison: Comparison;
  readonly conflicts: readonly OwnershipConflict[];
  /** The managers without what the change takes from them. */
  readonly managers: Managers;
}

/** Compares the object before and after, in the version of each manager other than the writer. */
function transfer(
  context: OwnershipContext,
  before: Typed,
  after: Typed,
  managers: Managers,
  writer: Writer,
  duplicates: Duplicates,
): Transfer {
  const comparison = compare(before.type, json(before.object), json(after.object), duplicates);
  let inOthers: Map<string, Comparison | undefined> | undefined;
  const conflicts: OwnershipConflict[] = [];
  const rest: Manager[] = [];
  for (const manager of managers) {
    if (isSameWriter(manager, writer)) {
      rest.push(manager);
      continue;
    }
    const { apiVersion } = manager;
    let changes: Comparison | undefined = comparison;
    if (apiVersion !== before.apiVersion) {
      inOthers ??= new Map();
      if (!inOthers.has(apiVersion)) inOthers.set(apiVersion, compareInVersion(context, before, after, apiVersion));
      changes = inOthers.get(apiVersion);
    }
    if (changes === undefined) continue;
    const fields = union(intersection(manager.set, changes.modified), intersection(manager.set, changes.added));
    if (!isEmpty(fields)) conflicts.push({ manager, fields });
    rest.push(withSet(manager, difference(difference(manager.set, fields), changes.removed)));
  }
  return { comparison, conflicts, managers: rest };
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

/** What a write takes: all that it changed or added, without what cannot be owned. */
function changedBy({ modified, added }: Comparison): FieldSet {
  return withoutUnowned(union(modified, added));
}

/**
 * What the writer of a new object takes: all in which it differs from `zero`, an object of its type in which nothing is
 * set. Throws a TypedError like {@link ownershipAfterUpdate}, duplicates refused.
 */
export function takenByCreate(context: OwnershipContext, zero: KubeObject, { type, object }: Typed): FieldSet {
  const found = shapeOf(type, json(zero), json(object));
  let changed = found?.shape.set;
  if (changed === undefined) {
    changed = changedBy(compare(type, json(zero), json(object), 'refused'));
    if (found !== undefined) rememberSet(found, (changed = shared(changed)));
  }
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
  writer: Writer,
  duplicates: Duplicates,
): UpdateOutcome {
  const reconciled = reconcile(context, before, managers);
  const { comparison, managers: rest } = transfer(context, before, after, reconciled, writer, duplicates);
  const changed = changedBy(comparison);
  // A write that changes only what cannot be owned leaves ownership as it is, however today's schema reads it.
  if (isEmpty(changed) && isEmpty(withoutUnowned(comparison.removed))) {
    return { managers: onlyThoseOf(managers, rest), taken: EMPTY_SET };
  }
  const kept: Manager[] = [];
  for (const manager of rest) {
    const isOwn = isSameWriter(manager, writer);
    kept.push(isOwn ? withSet(manager, difference(manager.set, comparison.removed)) : manager);
  }
  return { managers: dropEmpty(kept), taken: recursiveDifference(changed, context.ignored) };
}

/** The managers as they were, without those whose version is gone. */
function onlyThoseOf(managers: Managers, rest: Managers): Managers {
  if (rest.length === managers.length) return managers;
  return managers.filter((manager) => rest.some((one) => isSameWriter(one, manager)));
}

export interface ApplyOutcome {
  /** The merged object; the live object itself when applying changes nothing. */
  readonly object: KubeObject;
  readonly conflicts: readonly OwnershipConflict[];
  readonly managers: Managers;
}

/**
 * Merges the applied configuration into the live object, removes what the applier gave up and no other manager owns, and
 * computes who owns what. With conflicts, the outcome is what a forced apply would do.
 */
export function applyConfiguration(
  context: OwnershipContext,
  live: Typed,
  applied: KubeObject,
  managers: Managers,
  applier: Writer,
): ApplyOutcome {
  const reconciled = reconcile(context, live, managers);
  const merged: Typed = {
    ...live,
    object: merge(live.type, json(live.object), json(applied)) as unknown as KubeObject,
  };
  const previous = findManager(reconciled, applier);
  const ownSet = recursiveDifference(ownableFields(live.type, json(applied)), context.ignored);
  // Mostly an applier owns what it owned before: then nothing can have been given up.
  const repeated = previous?.apiVersion === applier.apiVersion && equals(previous.set, ownSet);
  let withApplier = reconciled;
  if (!repeated) {
    const configured = recursiveDifference(toFieldSet(live.type, json(applied)), context.ignored);
    withApplier = withManager(reconciled, takeOver(previous, applier, configured));
  }
  const pruned = repeated ? merged : prune(context, merged, withApplier, previous, applier);
  const { comparison, conflicts, managers: rest } = transfer(context, live, pruned, withApplier, applier, 'joined');
  if (repeated && isSame(comparison)) return { object: live.object, conflicts: [], managers };
  const owners = repeated ? rest : withManager(rest, takeOver(previous, applier, ownSet));
  return {
    object: isSame(comparison) ? live.object : pruned.object,
    conflicts,
    managers: dropEmpty(owners),
  };
}

/** What an applier of this configuration owns. */
function ownableFields(type: MergeType, applied: JsonValue): FieldSet {
  const found = shapeOf(type, undefined, applied);
  if (found?.shape.set !== undefined) return found.shape.set;
  const set = withoutUnowned(toFieldSet(type, applied));
  if (found === undefined) return set;
  const kept = shared(set);
  rememberSet(found, kept);
  return kept;
}

function takeOver(previous: Manager | undefined, applier: Writer, set: FieldSet): Manager {
  return previous?.apiVersion === applier.apiVersion ? withSet(previous, set) : managerOf(applier, set, previous?.time);
}

/**
 * Removes what the applier's previous configuration had and this one has not, unless a manager owns it. What was never
 * owned by the applier stays, except inside of a list item or map entry that goes.
 */
function prune(
  context: OwnershipContext,
  merged: Typed,
  managers: Managers,
  previous: Manager | undefined,
  applier: Writer,
): Typed {
  const current = findManager(managers, applier);
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
  // Empty structs, which cannot be owned, are kept with what they stand in.
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
function restoreOwned(context: OwnershipContext, merged: Typed, stripped: Typed, managers: Managers): Typed {
  const owned = new Map<string, FieldSet[]>([[merged.apiVersion, []]]);
  for (const { apiVersion, set } of managers) {
    const sets = owned.get(apiVersion);
    if (sets === undefined) owned.set(apiVersion, [set]);
    else sets.push(set);
  }
  let rest = stripped;
  for (const [apiVersion, sets] of owned) {
    const versioned = inVersion(context, merged, apiVersion);
    const versionedRest = inVersion(context, rest, apiVersion);
    if (versioned === undefined || versionedRest === undefined) continue;
    const { type } = versioned;
    const all = withNamedFields(type, toFieldSet(type, json(versioned.object)));
    const kept = withNamedFields(type, toFieldSet(type, json(versionedRest.object)));
    rest = without(versioned, difference(all, union(kept, withNamedFields(type, unionOf(sets)))));
  }
  return rest;
}
