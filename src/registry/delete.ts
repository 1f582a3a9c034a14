import { forbidden } from '../api/errors/status-error';
import { atRevision, localEntry } from './local-entry';
import { checkDeletePreconditions, validateDeleteOptions } from './delete-options';
import { planDeletion, type DeletionPlan } from './deletion-plan';
import { objectNotFound, type Resource } from './resource';
import { encodeStored, writeOptions, writtenEntry } from './stored-object';
import type { CacheEntry } from '../storage/cache/cache';
import type { Caller, DeleteHooks, DeleteOptions, DeleteResult, OperationContext, Scope } from './types';
import { writeAgainstNewest, type Attempt } from './write-attempt';

/**
 * Deletes an object, or begins to: finalizers, a grace period or a controller may hold it (spec, "Resource deletion").
 * Throws 404, 409 for failed preconditions, 422 for bad options.
 */
export async function deleteObject(
  resource: Resource,
  scope: Scope,
  name: string,
  options: DeleteOptions,
  hooks: DeleteHooks,
  context: OperationContext,
): Promise<DeleteResult> {
  validateDeleteOptions(options);
  return writeAgainstNewest(resource, scope, name, context, async (current) => {
    if (current === undefined) throw objectNotFound(resource, name);
    const refusal = resource.definition.refuseDelete?.(name);
    if (refusal !== undefined) throw forbidden(resource.groupResource, name, refusal);
    checkDeletePreconditions(resource, current.object, options);
    const { definition } = resource;
    const plan = planDeletion(current.object, {
      definition,
      options,
      requested: context.requested,
      now: resource.clock(),
    });
    await hooks.admit?.(current.object);
    return carryOut(resource, plan, current, context);
  });
}

async function carryOut(
  resource: Resource,
  { write, remove }: DeletionPlan,
  current: CacheEntry,
  context: OperationContext,
): Promise<Attempt<DeleteResult>> {
  const { dryRun, signal } = context;
  const { key, revision } = current;
  if (dryRun) {
    const entry = write === undefined ? current : localEntry(key, revision, write);
    return { kind: 'unchanged', value: { gone: remove, entry } };
  }
  let standing = current;
  if (write !== undefined) {
    const encoded = encodeStored(resource, write, context);
    const stored = encoded instanceof Promise ? await encoded : encoded;
    const outcome = await resource.store.update(key, stored.value, revision, writeOptions(resource), signal);
    if (!outcome.ok) return { kind: 'lost', current: outcome.current };
    standing = writtenEntry(resource, key, outcome.revision, stored);
  }
  if (!remove) return { kind: write === undefined ? 'unchanged' : 'written', value: { gone: false, entry: standing } };
  return removeEntry(resource, standing, write !== undefined, signal);
}

async function removeEntry(
  resource: Resource,
  standing: CacheEntry,
  announced: boolean,
  signal: Caller,
): Promise<Attempt<DeleteResult>> {
  const outcome = await resource.store.delete(standing.key, standing.revision, signal);
  if (outcome.ok) await resource.sideEffects?.removed(standing.object);
  if (outcome.ok) return { kind: 'written', value: { gone: true, entry: atRevision(standing, outcome.revision) } };
  // Others saw that it was to go and were faster (a kubelet, the garbage collector): the client's wish is fulfilled.
  if (announced && outcome.current === undefined) return { kind: 'written', value: { gone: true, entry: standing } };
  return { kind: 'lost', current: outcome.current };
}
