import { StatusError } from '../api/errors/status-error';
import type { CacheEntry } from '../storage/cache/cache';
import { deleteObject } from './delete';
import { listEntries } from './list';
import type { Resource } from './resource';
import type { DeleteHooks, DeleteOptions, ListOptions, ListResult, OperationContext, Scope } from './types';

/** Deletes at the same time; they are begun in the list's order. */
const CONCURRENT_DELETES = 10;

/**
 * Deletes what a list with these options gives, and answers that list. What has been deleted meanwhile counts
 * as deleted; the first other error ends it.
 */
export async function deleteEntries(
  resource: Resource,
  scope: Scope,
  list: ListOptions,
  options: DeleteOptions,
  hooks: DeleteHooks,
  context: OperationContext,
): Promise<ListResult> {
  const result = await listEntries(resource, scope, list, context.signal);
  const entries = [...result.entries];
  for (let start = 0; start < entries.length; start += CONCURRENT_DELETES) {
    const batch = entries.slice(start, start + CONCURRENT_DELETES);
    const outcomes = await Promise.allSettled(batch.map((entry) => deleteEntry(entry)));
    const failed = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }
  return { ...result, entries };

  async function deleteEntry({ namespace, name }: CacheEntry): Promise<void> {
    try {
      await deleteObject(resource, { namespace }, name, options, hooks, context);
    } catch (error) {
      if (!(error instanceof StatusError && error.status.reason === 'NotFound')) throw error;
    }
  }
}
