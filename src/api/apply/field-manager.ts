import { badRequest, StatusError } from '../errors/status-error';
import { apiVersionOf, type GroupVersionKind, type JsonObject, type JsonValue, type KubeObject } from '../object';
import { jsonEqual } from '../patch/json-equal';
import type { StructType } from '../schema/model';
import { EMPTY_SET, isEmpty, type FieldSet } from './field-set';
import { fieldsOfLastApplied, syncLastApplied, upgradesClientSideApply } from './last-applied';
import {
  capUpdateManagers,
  findManager,
  isReset,
  managerOf,
  readManagers,
  withManager,
  withTime,
  writeManagers,
  type Managers,
  type Writer,
} from './managed-fields';
import { mergeTypeOf, TypedError } from './merge-type';
import {
  applyConfiguration,
  ownershipAfterUpdate,
  takenByCreate,
  type ApplyOutcome,
  type OwnershipContext,
  type Typed,
} from './ownership';
import { refuseConflicts } from './conflicts';
import { equals, union } from './set-algebra';
import { validateTyped } from './validate-typed';
import { zeroObject } from './zero-object';

/** Owns what an object without managed fields has when it is applied to for the first time. */
const BEFORE_FIRST_APPLY = 'before-first-apply';

/** What both ways of writing need to know. */
export interface FieldManagerOptions {
  /** Of the version in which the request is made, as are the objects. */
  readonly type: StructType;
  readonly gvk: GroupVersionKind;
  /** The writer's name; an empty one is recorded as `unknown`. */
  readonly manager: string;
  /** Recorded beside the name where the write goes through a subresource. */
  readonly subresource?: string;
  /** RFC 3339, UTC, whole seconds. */
  readonly now: string;
  /**
   * The object, which may be incomplete, in another version of its kind, with that version's type; undefined when the
   * version is no longer served, whose managers are then forgotten. Absent: all versions have the same shape.
   */
  readonly convert?: (object: KubeObject, apiVersion: string) => ConvertedObject | undefined;
  /** The schema may have changed since the object was written (see SchemaChange), and maps are written sorted. */
  readonly custom?: boolean;
  /** Versions are shapes of their own, between which a webhook converts. */
  readonly convertedByWebhook?: boolean;
  /** Fields that this endpoint resets: they are not recorded. */
  readonly ignored?: FieldSet;
}

export interface ConvertedObject {
  readonly type: StructType;
  readonly object: KubeObject;
}

export interface UpdateOptions extends FieldManagerOptions {
  /** The stored object; undefined on create. */
  readonly live: KubeObject | undefined;
  /** What will be stored, defaults applied. May carry managedFields that the client sent. */
  readonly object: KubeObject;
}

export interface ApplyOptions extends FieldManagerOptions {
  readonly live: KubeObject | undefined;
  /** The body as the client sent it: no defaults, nothing pruned. */
  readonly applied: JsonObject;
  /** Take fields from other managers instead of refusing. */
  readonly force: boolean;
}

export interface AppliedObject {
  /**
   * The merged object with its managed fields, in the request's version. It may hold nulls and needs type check and
   * defaults like any body. The live object itself when applying changes neither the object nor any ownership.
   */
  readonly object: KubeObject;
  /** False: only managed fields may differ from the live object. */
  readonly changed: boolean;
}

function contextOf({ type, convert, custom, convertedByWebhook, ignored }: FieldManagerOptions): OwnershipContext {
  return {
    // A webhook's versions are shapes of their own: that a set names a struct as a leaf says nothing of a change of schema.
    inferOwnership: custom !== true || convertedByWebhook === true,
    ignored: ignored ?? EMPTY_SET,
    convert: (from, apiVersion) => {
      const converted = convert === undefined ? { type, object: from.object } : convert(from.object, apiVersion);
      return converted && { type: mergeTypeOf(converted.type), object: converted.object, apiVersion };
    },
  };
}

function writerFor(options: FieldManagerOptions, operation: Writer['operation']): Writer {
  const { manager, subresource, gvk } = options;
  const name = manager === '' ? 'unknown' : manager;
  return { name, operation, apiVersion: apiVersionOf(gvk.group, gvk.version), subresource };
}

/** Most clients send back the managed fields that they read: then the stored ones serve, which are parsed already. */
function repeatsManagedFields(live: KubeObject | undefined, object: KubeObject): boolean {
  return live !== undefined && jsonEqual(live.metadata.managedFields, object.metadata.managedFields);
}

/** Undefined when the entries cannot be read. */
function tryReadManagers(object: KubeObject | undefined): Managers | undefined {
  try {
    return readManagers(object?.metadata.managedFields);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/**
 * The object with managed fields as they are after a write other than apply. What the write changed or added belongs to
 * its manager alone, as an Update entry; an entry's time changes only when its manager takes fields.
 *
 * Managed fields that the client sent replace the stored ones when they can be read and are not empty; `[{}]` drops them.
 * An object that has none stays without until it is applied to. Never throws for what clients sent: an object that its type
 * cannot describe, because a keyed list has an item without key or one key twice, loses the managed fields that it had.
 */
export function trackUpdate(options: UpdateOptions): KubeObject {
  const { live, object, type, now } = options;
  const sorted = options.custom === true;
  const reset = isReset(object.metadata.managedFields);
  const sent = reset || repeatsManagedFields(live, object) ? undefined : tryReadManagers(object);
  const source = sent !== undefined && sent.length > 0 ? object : live;
  const before = source?.metadata.managedFields ?? [];
  const managers = (reset ? undefined : source === live ? tryReadManagers(live) : sent) ?? [];
  if (managers.length === 0 && live !== undefined && !reset) return writeManagers(object, managers, [], sorted);

  const writer = writerFor(options, 'Update');
  const mergeType = mergeTypeOf(type);
  const side = (shown: KubeObject): Typed => ({ type: mergeType, object: shown, apiVersion: writer.apiVersion });
  const context = contextOf(options);
  try {
    const outcome =
      live === undefined && managers.length === 0
        ? { managers, taken: takenByCreate(context, zeroObject(type), side(object)) }
        : ownershipAfterUpdate(context, side(live ?? zeroObject(type)), side(object), managers, writer, 'refused');
    const updated = recordUpdate(outcome.managers, managers, writer, outcome.taken, now);
    return writeManagers(object, capUpdateManagers(updated), before, sorted);
  } catch (error) {
    if (error instanceof TypedError) return writeManagers(object, [], [], sorted);
    throw error;
  }
}

/** Adds what an update took to the entry of its manager. */
function recordUpdate(managers: Managers, before: Managers, writer: Writer, taken: FieldSet, now: string): Managers {
  if (isEmpty(taken)) return managers;
  const own = findManager(managers, writer);
  const set = own === undefined ? taken : union(own.set, taken);
  const previous = findManager(before, writer);
  const repeated = previous !== undefined && equals(previous.set, set);
  return withManager(managers, repeated ? withTime(previous, now) : managerOf(own ?? writer, set, now));
}

/**
 * Server-side apply. Throws a StatusError: 400 for a body of another version, with managed fields or that does not fit the
 * type; 409 with a cause per manager and field when others own what would change and `force` is not given.
 */
export function apply(options: ApplyOptions): AppliedObject {
  const { live, applied, type, gvk, manager, now, force } = options;
  checkBody(applied, gvk);
  const mergeType = mergeTypeOf(type);
  try {
    validateTyped(mergeType, applied);
  } catch (error) {
    if (error instanceof TypedError) throw typedFailure('patch', applied as unknown as KubeObject, gvk, error);
    throw error;
  }

  const context = contextOf(options);
  const apiVersion = apiVersionOf(gvk.group, gvk.version);
  const target: Typed = { type: mergeType, object: live ?? zeroObject(type), apiVersion };
  const before = live?.metadata.managedFields ?? [];
  let outcome: ApplyOutcome;
  let managers: Managers;
  const applier = writerFor(options, 'Apply');
  try {
    managers = readManagers(before);
    if (managers.length === 0 && live !== undefined) managers = managersBeforeFirstApply(options, context, target);
    outcome = applyConfiguration(context, target, applied as unknown as KubeObject, managers, applier);
  } catch (error) {
    if (error instanceof TypedError) throw typedFailure('live', target.object, gvk, error);
    if (error instanceof SyntaxError)
      throw new StatusError(500, undefined, `failed to decode managed fields: ${error.message}`);
    throw error;
  }
  if (!force)
    refuseConflicts(
      outcome.conflicts,
      upgradesClientSideApply(manager) ? fieldsOfLastApplied(mergeType, target.object, apiVersion) : undefined,
    );

  const changed = outcome.object !== target.object;
  const owned = writeManagers(
    outcome.object,
    stamp(outcome.managers, managers, applier, changed, now),
    before,
    options.custom === true,
  );
  const object = upgradesClientSideApply(manager) ? syncLastApplied(owned, applied) : owned;
  return { object, changed: changed || live === undefined || object !== owned };
}

/** The applier's time is the last apply that changed the object or its own set. */
function stamp(managers: Managers, before: Managers, applier: Writer, changed: boolean, now: string): Managers {
  const own = findManager(managers, applier);
  if (own === undefined) return managers;
  const previous = findManager(before, applier);
  if (previous !== undefined && previous.apiVersion === own.apiVersion && equals(previous.set, own.set)) {
    return withManager(managers, changed ? withTime(previous, now) : previous);
  }
  return withManager(managers, withTime(own, now));
}

function managersBeforeFirstApply(options: ApplyOptions, context: OwnershipContext, live: Typed): Managers {
  const writer = writerFor({ ...options, manager: BEFORE_FIRST_APPLY }, 'Update');
  const { taken } = ownershipAfterUpdate(
    context,
    { ...live, object: zeroObject(options.type) },
    live,
    [],
    writer,
    'joined',
  );
  return recordUpdate([], [], writer, taken, options.now);
}

function checkBody(applied: JsonObject, gvk: GroupVersionKind): void {
  const apiVersion = typeof applied['apiVersion'] === 'string' ? applied['apiVersion'] : '';
  const expected = apiVersionOf(gvk.group, gvk.version);
  if (apiVersion !== expected) {
    throw badRequest(
      `Incorrect version specified in apply patch. Specified patch version: ${apiVersion}, expected: ${expected}`,
    );
  }
  const metadata = applied['metadata'] as JsonObject | null | undefined;
  if (metadata?.['managedFields'] !== undefined && metadata['managedFields'] !== null) {
    throw badRequest('metadata.managedFields must be nil');
  }
  const kind = typeof applied['kind'] === 'string' ? applied['kind'] : '';
  if (kind !== gvk.kind) {
    throw badRequest(
      `failed to create typed patch object (${printIdentity(applied, { ...gvk, kind })}): ` +
        `no corresponding type for ${printKind({ ...gvk, kind })}`,
    );
  }
}

function printKind({ group, version, kind }: GroupVersionKind): string {
  return `${group}/${version}, Kind=${kind}`;
}

function printIdentity(
  { metadata }: { readonly metadata?: JsonValue | KubeObject['metadata'] },
  gvk: GroupVersionKind,
): string {
  const { namespace = '', name = '' } = (metadata ?? {}) as KubeObject['metadata'];
  return `${namespace}/${name}; ${printKind(gvk)}`;
}

/** kube-apiserver answers 500 for these bodies; the fault is the client's. */
function typedFailure(
  which: 'patch' | 'live',
  object: KubeObject,
  gvk: GroupVersionKind,
  error: TypedError,
): StatusError {
  return badRequest(`failed to create typed ${which} object (${printIdentity(object, gvk)}): ${error.message}`);
}
