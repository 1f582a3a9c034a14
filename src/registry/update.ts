import { nextGeneration } from '../api/next-generation';
import { equalApartFromTimes } from '../api/apply/managed-fields';
import { conflict, invalidObject, modified, type StatusError } from '../api/errors/status-error';
import { extend, withMetadata } from '../api/extend';
import type { Strategy } from '../api/kinds/kind-definition';
import type { KubeObject, ObjectMeta } from '../api/object';
import type { Steps } from '../api/parts';
import { equalApartFrom } from '../api/patch/json-equal';
import * as ownersInSteps from '../api/steps/generated/apply/managed-fields';
import * as inSteps from '../api/steps/generated/patch/finished-equal';
import { formatDate } from '../api/time/rfc3339';
import type { CacheEntry } from '../storage/cache/cache';
import { admitAndStore, prepareNew } from './create';
import { checkIdentity, placedInScope } from './identity';
import { localEntry } from './local-entry';
import { errorsOfChange } from './metadata-errors';
import { prepareInParts, problemsOf, takeAll, takeFewOrAll, withRules } from './pace';
import { objectNotFound, writeRequest, type Resource } from './resource';
import { parseResourceVersion } from './resource-version';
import { withSideEffects } from './side-effects';
import { encodeStored, writeOptions, writtenEntry } from './stored-object';
import type { OperationContext, Scope, UpdateHooks, WriteResult } from './types';
import { writeAgainstNewest, type Attempt } from './write-attempt';

/**
 * The one road for update, patch and apply, of the object itself or, with another strategy, of one of its subresources.
 * Throws 404, 409 for failed preconditions or an old resourceVersion, 422 for an invalid result, 400 for another
 * identity. A result that changes nothing is not written; one that takes the last finalizer of a terminating object
 * removes it.
 */
export function updateObject(
  resource: Resource,
  scope: Scope,
  name: string,
  hooks: UpdateHooks,
  context: OperationContext,
  strategy: Strategy,
): Promise<WriteResult> {
  return writeAgainstNewest(resource, scope, name, context, async (current, key) => {
    // Who insists on a version looks at version and uid among the other fields.
    const versionIsField = strategy.requiresResourceVersion === true;
    if (!versionIsField) checkPreconditions(resource, key, name, current, hooks);
    if (current === undefined) return createMissing(resource, scope, name, hooks, context, strategy);
    const changed = await hooks.change(current.object);
    const sent = placedInScope(resource.definition, scope, changed);
    if (!versionIsField) checkResourceVersion(resource, name, sent, current);
    const steps = changeSteps(resource, sent, current.object, strategy, context);
    const preparing = takeFewOrAll(steps, context);
    const prepared = preparing instanceof Promise ? await preparing : preparing;
    if (versionIsField) checkResourceVersion(resource, name, sent, current);
    const admitAndUpdate = async (object: KubeObject): Promise<Attempt<WriteResult>> => {
      await hooks.validate?.(object, current.object);
      return store(resource, object, current, context);
    };
    const isWritten = ({ kind }: Attempt<WriteResult>): boolean => kind === 'written';
    const attempt = await withSideEffects(
      resource.sideEffects,
      prepared,
      current.object,
      context,
      admitAndUpdate,
      isWritten,
    );
    if (attempt.kind === 'lost' && attempt.current !== undefined && !hooks.retryOnConflict) {
      throw modified(resource.groupResource, name);
    }
    return attempt;
  });
}

function checkPreconditions(
  { groupResource }: Resource,
  key: string,
  name: string,
  current: CacheEntry | undefined,
  { preconditions }: UpdateHooks,
): void {
  if (preconditions === undefined) return;
  const { uid, resourceVersion } = preconditions;
  const found = current?.object.metadata;
  const fail = (what: string, wanted: string, actual: string | undefined): StatusError =>
    conflict(
      groupResource,
      name,
      `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ` +
        `Precondition failed: ${what} in precondition: ${wanted}, ${what} in object meta: ${actual ?? ''}`,
    );
  if (uid !== undefined && uid !== (found?.uid ?? '')) throw fail('UID', uid, found?.uid);
  if (resourceVersion !== undefined && resourceVersion !== (found?.resourceVersion ?? '')) {
    throw fail('ResourceVersion', resourceVersion, found?.resourceVersion);
  }
}

async function createMissing(
  resource: Resource,
  scope: Scope,
  name: string,
  hooks: UpdateHooks,
  context: OperationContext,
  strategy: Strategy,
): Promise<Attempt<WriteResult>> {
  if (!(hooks.createIfMissing ?? resource.definition.allowCreateOnUpdate)) throw objectNotFound(resource, name);
  const wanted = await hooks.change(undefined);
  checkIdentity(scope, name, wanted);
  const { resourceVersion: _ignored, ...metadata } = wanted.metadata;
  const placed = placedInScope(resource.definition, scope, withMetadata(wanted, metadata));
  const prepared = await prepareNew(resource, placed, strategy, context);
  const validate = async (object: KubeObject): Promise<void> => hooks.validate?.(object, undefined);
  const outcome = await admitAndStore(resource, scope, prepared, { validate }, context);
  if (outcome.ok) return { kind: 'written', value: { entry: outcome.entry, created: true } };
  const { current } = outcome;
  // A dry run that finds the object there has read it with the newest state; the next round updates it.
  return { kind: 'lost', current: current && ('value' in current ? current : toStored(resource, current)) };
}

function toStored(resource: Resource, { key, revision, object }: CacheEntry) {
  return { key, revision, value: resource.toStored(object).value };
}

/** Throws 409 unless the change was made from the current state, or from none where the kind allows that. */
function checkResourceVersion(resource: Resource, name: string, sent: KubeObject, current: CacheEntry): void {
  const wanted = parseResourceVersion(sent.metadata.resourceVersion);
  if (typeof wanted !== 'string') {
    if (wanted !== current.revision) throw modified(resource.groupResource, name);
    return;
  }
  if (resource.definition.allowUnconditionalUpdate) return;
  const { group, resource: plural } = resource.groupResource;
  throw invalidObject({ group, kind: plural }, name, [
    {
      reason: 'FieldValueInvalid',
      field: 'metadata.resourceVersion',
      message: 'Invalid value: 0x0: must be specified for an update',
    },
  ]);
}

/** The changed object as it would be stored, with the current resourceVersion, validated. Throws 422. */
function* changeSteps(
  resource: Resource,
  sent: KubeObject,
  old: KubeObject,
  strategy: Strategy,
  context: OperationContext,
): Steps<KubeObject> {
  const changed = changedMetadata(resource, sent.metadata, old.metadata);
  const isUnversioned = strategy.requiresResourceVersion === true && !sent.metadata.resourceVersion;
  const withMeta = withMetadata(sent, isUnversioned ? withoutVersion(changed) : changed);
  const wanted = yield* prepareInParts(
    context,
    () => strategy.prepareForUpdate?.(withMeta, old, writeRequest(resource, context)) ?? withMeta,
  );
  yield;
  const prepared = yield* countGeneration(resource, wanted, old, context);
  yield;
  const { metadata } = prepared;
  const plain = yield* problemsOf(context, strategy, () => [
    ...errorsOfChange(resource, metadata, old.metadata, strategy),
    ...(strategy.validateUpdate?.(prepared, old, context.requested) ?? []),
  ]);
  const { checkRules } = strategy;
  const errors =
    checkRules === undefined
      ? plain
      : yield* withRules(plain, checkRules(prepared, old, context.requested, context.heard), strategy);
  if (errors.length > 0) throw invalidObject(resource.groupKind, metadata.name ?? '', errors);
  yield;
  return strategy.canonicalize?.(prepared) ?? prepared;
}

function withoutVersion({ resourceVersion: _current, ...rest }: ObjectMeta): ObjectMeta {
  return rest;
}

type Writable<T> = { -readonly [Name in keyof T]: T[Name] };

function withoutServerFields({ selfLink: _l, generation: _g, clusterName: _c, ...kept }: ObjectMeta): ObjectMeta {
  return kept;
}

/** What a client leaves out stays; what it may not set is put back, or left for validation to refuse. */
function changedMetadata({ clock }: Resource, sent: ObjectMeta, old: ObjectMeta): ObjectMeta {
  const changed: Writable<ObjectMeta> = extend(
    sent.selfLink === undefined && sent.generation === undefined && sent.clusterName === undefined
      ? sent
      : withoutServerFields(sent),
    { creationTimestamp: old.creationTimestamp ?? formatDate(clock()) },
  );
  const uid = sent.uid || old.uid;
  const deletionTimestamp = old.deletionTimestamp || sent.deletionTimestamp;
  const grace = sent.deletionGracePeriodSeconds ?? old.deletionGracePeriodSeconds;
  if (uid !== undefined) changed.uid = uid;
  if (old.generation !== undefined) changed.generation = old.generation;
  if (deletionTimestamp) changed.deletionTimestamp = deletionTimestamp;
  if (grace !== undefined) changed.deletionGracePeriodSeconds = grace;
  if (old.resourceVersion !== undefined) changed.resourceVersion = old.resourceVersion;
  return changed;
}

/** metadata.generation counts changes of what a client wants: all but metadata, and status where it is apart. */
function* countGeneration(
  { definition }: Resource,
  object: KubeObject,
  old: KubeObject,
  context: OperationContext,
): Steps<KubeObject> {
  const before = old.metadata.generation ?? 0;
  if (!definition.tracksGeneration || (object.metadata.generation ?? 0) !== before) return object;
  const statusApart = definition.subresources.some(({ name }) => name === 'status');
  if (yield* areEqual(statusApart ? AND_STATUS : TYPE_AND_METADATA, object, old, context)) return object;
  return withMetadata(object, extend(object.metadata, { generation: nextGeneration(before) }));
}

async function store(
  resource: Resource,
  object: KubeObject,
  current: CacheEntry,
  context: OperationContext,
): Promise<Attempt<WriteResult>> {
  const { dryRun, signal } = context;
  const { key, revision } = current;
  const response = (entry: CacheEntry): WriteResult => ({ entry, created: false });
  if (endsDeletion(resource, object, current.object)) {
    const last = response(localEntry(key, revision, object));
    if (dryRun) return { kind: 'unchanged', value: last };
    const outcome = await resource.store.delete(key, revision, signal);
    if (outcome.ok) await resource.sideEffects?.removed(object);
    return outcome.ok || outcome.current === undefined
      ? { kind: 'written', value: last }
      : { kind: 'lost', current: outcome.current };
  }
  const comparing = takeAll(storesTheSame(resource, object, current.object, context), context);
  const isSame = comparing instanceof Promise ? await comparing : comparing;
  if (isSame && resource.store.needsRewrite?.(key, revision) !== true)
    return { kind: 'unchanged', value: response(current) };
  if (dryRun) return { kind: 'unchanged', value: response(localEntry(key, revision, object)) };
  const encoded = encodeStored(resource, object, context);
  const stored = encoded instanceof Promise ? await encoded : encoded;
  const outcome = await resource.store.update(key, stored.value, revision, writeOptions(resource), signal);
  return outcome.ok
    ? { kind: 'written', value: response(writtenEntry(resource, key, outcome.revision, stored)) }
    : { kind: 'lost', current: outcome.current };
}

/** A version that is written may say less of an order than that of memory. */
function* storesTheSame(
  { definition: { written } }: Resource,
  object: KubeObject,
  old: KubeObject,
  context: OperationContext,
): Steps<boolean> {
  const [owners, before] = [object.metadata.managedFields, old.metadata.managedFields];
  const sameOwners =
    context.pace?.givesWay === true
      ? yield* ownersInSteps.equalApartFromTimes(owners, before)
      : equalApartFromTimes(owners, before);
  if (!sameOwners) return false;
  if (yield* saysTheSame(object, old, context)) return true;
  return written !== undefined && (yield* saysTheSame(written.fromMemory(object), written.fromMemory(old), context));
}

const TYPE_AND_METADATA: ReadonlySet<string> = new Set(['kind', 'apiVersion', 'metadata']);
const AND_STATUS: ReadonlySet<string> = new Set([...TYPE_AND_METADATA, 'status']);
const OWNERS: ReadonlySet<string> = new Set(['managedFields']);

/** Kind and apiVersion are the storage version's, whatever the object says. Owners are compared apart. */
function* saysTheSame(object: KubeObject, old: KubeObject, context: OperationContext): Steps<boolean> {
  return (
    (yield* areEqual(TYPE_AND_METADATA, object, old, context)) &&
    (yield* areEqual(OWNERS, object.metadata, old.metadata, context))
  );
}

function* areEqual(
  apartFrom: ReadonlySet<string>,
  object: object,
  old: object,
  { pace }: OperationContext,
): Steps<boolean> {
  if (pace?.givesWay !== true) return equalApartFrom(apartFrom, object, old);
  return yield* inSteps.equalApartFrom(apartFrom, object, old);
}

/** A terminating object goes when nothing holds it any more and no grace period is running. */
function endsDeletion({ definition }: Resource, object: KubeObject, old: KubeObject): boolean {
  return (
    Boolean(old.metadata.deletionTimestamp) &&
    (object.metadata.finalizers ?? []).length === 0 &&
    (old.metadata.deletionGracePeriodSeconds ?? 0) === 0 &&
    (definition.canRemove?.(object) ?? true)
  );
}
