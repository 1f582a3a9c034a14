import { badRequest, expired, tooLargeResourceVersion } from '../api/errors/status-error';
import type { ResourceSnapshot } from '../storage/cache/cache';
import type { Revision } from '../storage/store';
import { decodeContinueToken, encodeContinueToken, expiredToken, type ContinueToken } from './continue-token';
import { newestSnapshot, snapshotNotOlderThan, throwIfUnreadable } from './freshness';
import { pageOfSnapshot, pageOfStore, type Page, type PageRequest } from './list-page';
import { keyOf, prefixOf, type Resource } from './resource';
import { parseResourceVersion } from './resource-version';
import { signalOf, workOf, type Caller, type ListOptions, type ListResult, type Scope } from './types';

/**
 * Lists a scope as of the revision that the options ask for (spec, "Resource version semantics", List). Selectors fill a
 * page from what matches. Throws 400 for a bad token or version, 410 when a state is no longer known, 504 when it is not
 * known yet.
 */
export async function listEntries(
  resource: Resource,
  scope: Scope,
  options: ListOptions,
  caller: Caller,
): Promise<ListResult> {
  const request = pageRequest(resource, scope, options, caller);
  throwIfUnreadable(resource, request);
  const result =
    options.continue === undefined || options.continue === ''
      ? toResult(await firstPage(resource, request, options, caller), request)
      : await nextPage(resource, request, options, options.continue, caller);
  // Once more: memory may have gone on meanwhile.
  throwIfUnreadable(resource, request);
  return result;
}

function pageRequest(
  resource: Resource,
  scope: Scope,
  { limit = 0, selection }: ListOptions,
  caller: Caller,
): PageRequest {
  const named = selection?.name !== undefined && (scope.namespace !== '' || !resource.definition.namespaced);
  return {
    prefix: prefixOf(resource, scope),
    start: undefined,
    limit: limit > 0 ? limit : undefined,
    matches: selection?.matches,
    field: selection?.field,
    onlyKey: named ? keyOf(resource, scope, selection.name ?? '') : undefined,
    work: workOf(caller) ?? 'listing objects',
  };
}

async function firstPage(
  resource: Resource,
  request: PageRequest,
  { resourceVersion, resourceVersionMatch }: ListOptions,
  caller: Caller,
): Promise<Page> {
  const wanted = parseResourceVersion(resourceVersion);
  const text = String(resourceVersion);
  if (wanted === 'unset') return newestPage(resource, request, caller);
  if (wanted === 'any') {
    if (!resource.definition.watchCache) return newestPage(resource, request, caller);
    // What comes from the watch cache comes whole, as kube-apiserver gives it.
    return pageOfSnapshot(resource.cached.snapshot(), { ...request, limit: undefined }, caller);
  }
  const exact = resourceVersionMatch === 'Exact' || (resourceVersionMatch === undefined && request.limit !== undefined);
  if (exact) return exactPage(resource, request, wanted, text, caller);
  if (resource.definition.watchCache && request.limit === undefined) {
    return pageOfSnapshot(await snapshotNotOlderThan(resource, request.prefix, wanted, text, caller), request, caller);
  }
  const page = await newestPage(resource, request, caller);
  if (page.revision < wanted) throw tooLargeResourceVersion(text, String(page.revision), false);
  return page;
}

async function newestPage(resource: Resource, request: PageRequest, caller: Caller): Promise<Page> {
  const snapshot = await newestSnapshot(resource, caller);
  if (snapshot !== undefined) return pageOfSnapshot(snapshot, request, caller);
  const outcome = await pageOfStore(resource, request, undefined, caller);
  // The newest state is neither compacted nor to come.
  if (!outcome.ok) throw expired('The resourceVersion for the provided list is too old.');
  return outcome.page;
}

async function exactPage(
  resource: Resource,
  request: PageRequest,
  revision: Revision,
  text: string,
  caller: Caller,
): Promise<Page> {
  const outcome = await pageAt(resource, request, revision, caller);
  if (outcome.ok) return outcome.page;
  if (outcome.reason === 'future') throw tooLargeResourceVersion(text, String(outcome.current), false);
  throw expired('The resourceVersion for the provided list is too old.');
}

/**
 * From memory if it still has this state, else from the store. A state that the store has compacted is gone, as it is for
 * other servers: else a list whose pages are asked for again and again would never end.
 */
async function pageAt(
  resource: Resource,
  request: PageRequest,
  revision: Revision,
  caller: Caller,
): ReturnType<typeof pageOfStore> {
  const snapshot: ResourceSnapshot | undefined = resource.cached.snapshotAt(revision);
  return snapshot === undefined || !(await resource.cache.storeHas(revision, signalOf(caller)))
    ? pageOfStore(resource, request, revision, caller)
    : { ok: true, page: await pageOfSnapshot(snapshot, request, caller) };
}

async function nextPage(
  resource: Resource,
  request: PageRequest,
  { resourceVersion }: ListOptions,
  text: string,
  caller: Caller,
): Promise<ListResult> {
  const token = decodeContinueToken(text, request.prefix);
  if (resourceVersion !== undefined && resourceVersion !== '' && resourceVersion !== '0') {
    throw badRequest('specifying resource version is not allowed when using continue');
  }
  const rest = { ...request, start: token.start };
  return toResult(await continuedPage(resource, rest, token, caller), rest);
}

async function continuedPage(
  resource: Resource,
  request: PageRequest,
  token: ContinueToken,
  caller: Caller,
): Promise<Page> {
  if (token.revision === undefined) return newestPage(resource, request, caller);
  const outcome = await pageAt(resource, request, token.revision, caller);
  if (outcome.ok) return outcome.page;
  if (outcome.reason === 'compacted') throw expiredToken(token, request.prefix);
  throw tooLargeResourceVersion(String(token.revision), String(outcome.current), false);
}

function toResult({ revision, entries, next, remaining }: Page, { prefix }: PageRequest): ListResult {
  return {
    revision,
    entries,
    ...(next === undefined ? {} : { continue: encodeContinueToken({ revision, start: next }, prefix) }),
    ...(remaining === undefined ? {} : { remainingItemCount: remaining }),
  };
}
