import { alreadyExists, badRequest, invalidObject, StatusError } from '../api/errors/status-error';
import { invalid } from '../api/errors/field-error';
import { withMetadata } from '../api/extend';
import type { Strategy } from '../api/kinds/kind-definition';
import type { MaybePromise } from '../api/maybe-promise';
import type { KubeObject, ObjectMeta } from '../api/object';
import type { Steps } from '../api/parts';
import { formatDate } from '../api/time/rfc3339';
import { pathSegmentName } from '../api/validation/names';
import type { CacheEntry } from '../storage/cache/cache';
import type { Revision, StoredValue } from '../storage/store';
import { newestEntry } from './freshness';
import { placedInScope } from './identity';
import { localEntry } from './local-entry';
import { errorsOfNew } from './metadata-errors';
import { prepareInParts, problemsOf, takeFewOrAll, withRules } from './pace';
import { keyOf, writeRequest, type Resource } from './resource';
import { withSideEffects } from './side-effects';
import { encodeStored, writeOptions, writtenEntry } from './stored-object';
import type { CreateHooks, OperationContext, Scope, WriteResult } from './types';

/** Names of at most 63 characters: 58 of the prefix, five of the suffix. */
const MAX_GENERATED_BASE = 58;
/** How many generated names are tried before the client hears that they exist. */
const NAME_ATTEMPTS = 8;

/**
 * Creates an object: mutating admission, what the server sets, validation, validating admission, one transaction. Throws
 * 400 for another namespace or a resourceVersion, 422 for an invalid object, 409 for a name that is taken.
 */
export async function createObject(
  resource: Resource,
  scope: Scope,
  object: KubeObject,
  hooks: CreateHooks,
  context: OperationContext,
): Promise<WriteResult> {
  const mutated = hooks.mutate === undefined ? object : await hooks.mutate(object);
  const wanted = placedInScope(resource.definition, scope, mutated);
  const generated = !wanted.metadata.name && Boolean(wanted.metadata.generateName);
  for (let attempt = 1; ; attempt++) {
    const preparing = prepareNew(resource, wanted, resource.definition.strategy, context);
    const prepared = preparing instanceof Promise ? await preparing : preparing;
    const outcome = await admitAndStore(resource, scope, prepared, hooks, context);
    if (outcome.ok) return { entry: outcome.entry, created: true };
    if (!generated || attempt === NAME_ATTEMPTS) throw nameTaken(resource, prepared, outcome.current);
  }
}

/** The last steps of a create: side effects, validating admission, the store. */
export function admitAndStore(
  resource: Resource,
  scope: Scope,
  prepared: KubeObject,
  { validate }: Pick<CreateHooks, 'validate'>,
  context: OperationContext,
): Promise<StoreOutcome> {
  const store = async (object: KubeObject): Promise<StoreOutcome> => {
    await validate?.(object);
    return storeNew(resource, scope, object, context);
  };
  return withSideEffects(resource.sideEffects, prepared, undefined, context, store, ({ ok }) => ok);
}

/** The object as it would be stored, validated. Throws 422. */
export function prepareNew(
  resource: Resource,
  object: KubeObject,
  strategy: Strategy,
  context: OperationContext,
): MaybePromise<KubeObject> {
  const steps = newSteps(resource, object, strategy, context);
  return takeFewOrAll(steps, context);
}

function* newSteps(
  resource: Resource,
  object: KubeObject,
  strategy: Strategy,
  context: OperationContext,
): Steps<KubeObject> {
  const withMeta = withMetadata(object, newMetadata(resource, object.metadata));
  const prepared = yield* prepareInParts(
    context,
    () => strategy.prepareForCreate?.(withMeta, writeRequest(resource, context)) ?? withMeta,
  );
  yield;
  const { metadata } = prepared;
  const plain = yield* problemsOf(context, strategy, () => {
    const own = strategy.validateCreate?.(prepared, context.requested) ?? [];
    return resource.definition.metadataCheckedLast === true && own.length > 0
      ? own
      : [...errorsOfNew(resource, metadata), ...own];
  });
  const { checkRules } = strategy;
  const errors =
    checkRules === undefined
      ? plain
      : yield* withRules(plain, checkRules(prepared, undefined, context.requested), strategy);
  const name = metadata.name ?? '';
  const problems =
    errors.length > 0 ? errors : pathSegmentName(name, false).map((problem) => invalid('metadata.name', name, problem));
  if (problems.length > 0) throw invalidObject(resource.groupKind, name, problems);
  yield;
  return strategy.canonicalize?.(prepared) ?? prepared;
}

/** Whatever was sent for them, the server decides over these fields (API conventions, "Metadata"). */
function newMetadata(resource: Resource, sent: ObjectMeta): ObjectMeta {
  const { selfLink: _link, clusterName: _cluster, deletionTimestamp: _time, ...rest } = sent;
  const { deletionGracePeriodSeconds: _grace, ...kept } = rest;
  return {
    ...kept,
    ...nameOf(resource, sent),
    uid: resource.newUid(),
    creationTimestamp: formatDate(resource.clock()),
    ...(resource.definition.tracksGeneration ? { generation: 1 } : {}),
  };
}

function nameOf(resource: Resource, { name = '', generateName = '' }: ObjectMeta): { readonly name?: string } {
  const { randomSuffix, newUid, definition } = resource;
  if (name !== '') return {};
  if (definition.namedWhenNameless === true) return { name: newUid() };
  if (generateName === '') return {};
  return { name: generateName.slice(0, MAX_GENERATED_BASE) + randomSuffix() };
}

type StoreOutcome =
  | { readonly ok: true; readonly entry: CacheEntry }
  | { readonly ok: false; readonly current: StoredValue | CacheEntry | undefined };

/** Writes a prepared object, throwing 400 when it carries a resourceVersion; or, on a dry run, finds out whether its name is free. */
async function storeNew(
  resource: Resource,
  scope: Scope,
  prepared: KubeObject,
  context: OperationContext,
): Promise<StoreOutcome> {
  const { dryRun, signal } = context;
  const { resourceVersion = '', ...metadata } = prepared.metadata;
  const key = keyOf(resource, scope, metadata.name ?? '');
  if (dryRun) {
    const current = await newestEntry(resource, key, signal);
    if (current !== undefined) return { ok: false, current };
    // A resourceVersion, whatever it says, is shown as it was sent: only storing minds it.
    const shown = resourceVersion === '' ? withMetadata(prepared, metadata) : prepared;
    return { ok: true, entry: localEntry(key, 0 as Revision, shown) };
  }
  if (/^0*[1-9][0-9]*$/.test(resourceVersion)) {
    throw badRequest('resourceVersion should not be set on objects to be created');
  }
  const object = withMetadata(prepared, metadata);
  const encoded = encodeStored(resource, object, context);
  const stored = encoded instanceof Promise ? await encoded : encoded;
  const outcome = await resource.store.create(key, stored.value, writeOptions(resource), signal);
  if (!outcome.ok) return outcome;
  return { ok: true, entry: writtenEntry(resource, key, outcome.revision, stored) };
}

function nameTaken(
  resource: Resource,
  { metadata }: KubeObject,
  current: StoredValue | CacheEntry | undefined,
): StatusError {
  const { status } = alreadyExists(resource.groupResource, metadata.name ?? '');
  const there =
    current !== undefined && 'value' in current
      ? resource.cache.toEntry(resource.definition.storagePrefix, current)
      : current;
  const prefix = there?.object.metadata.deletionTimestamp ? 'object is being deleted: ' : '';
  return new StatusError(status.code, status.reason, prefix + String(status.message), status.details);
}
