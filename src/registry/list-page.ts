import type { MaybePromise } from '../api/maybe-promise';
import type { CacheEntry, FieldInterest, ResourceSnapshot } from '../storage/cache/cache';
import type { Revision, StoredValue } from '../storage/store';
import { Turn, turnToBegin } from '../async/turn';
import type { Work } from '../async/loop-work';
import type { Resource } from './resource';
import { selectNext, type Matches } from './select';
import { signalOf, type Caller } from './types';

export interface PageRequest {
  readonly prefix: string;
  /** The first key that counts. */
  readonly start: string | undefined;
  readonly limit: number | undefined;
  readonly matches: Matches | undefined;
  /** What matches has this value. */
  readonly field: FieldInterest | undefined;
  /** The one key that a selector leaves. */
  readonly onlyKey: string | undefined;
  /** For whom it is read. */
  readonly work: Work | string;
}

export interface Page {
  readonly revision: Revision;
  readonly entries: Iterable<CacheEntry>;
  /** Where the next page starts; undefined on the last. */
  readonly next: string | undefined;
  /** Objects beyond this page; known without a selector only. */
  readonly remaining: number | undefined;
}

export type StorePageOutcome =
  | { readonly ok: true; readonly page: Page }
  | { readonly ok: false; readonly reason: 'compacted' | 'future'; readonly current: Revision };

/** Values per read when a list comes from the store: bounds the size of a message. */
const STORE_READ_LIMIT = 500;

/** The key right after this one. */
function after(key: string): string {
  return `${key}\0`;
}

/** Without limit and selector entries are read from the (immutable) snapshot only while they are iterated. */
export function pageOfSnapshot(snapshot: ResourceSnapshot, request: PageRequest, caller: Caller): MaybePromise<Page> {
  // Lists wait together for the store to tell its revision, and then each would be selected and written.
  const waiting = turnToBegin(request.work);
  if (waiting === undefined) return takePage(snapshot, request, caller);
  return waiting.then(() => {
    caller.throwIfAborted();
    return takePage(snapshot, request, caller);
  });
}

function takePage(
  snapshot: ResourceSnapshot,
  { prefix, start, limit, matches, field, onlyKey, work }: PageRequest,
  caller: Caller,
): MaybePromise<Page> {
  const { revision } = snapshot;
  if (onlyKey !== undefined) {
    const entry = start === undefined || start <= onlyKey ? snapshot.get(onlyKey) : undefined;
    return lastPage(revision, entry !== undefined && (matches?.(entry) ?? true) ? [entry] : []);
  }
  const all = (field && snapshot.withField(field, prefix, start)) ?? snapshot.entries(prefix, start);
  if (matches !== undefined) return selectedPage(revision, all, matches, limit, caller, new Turn(work));
  if (limit === undefined) return lastPage(revision, all);
  const entries: CacheEntry[] = [];
  for (const entry of all) {
    if (entries.length === limit) return fullPage(revision, entries, (next) => snapshot.count(prefix, next));
    entries.push(entry);
  }
  return lastPage(revision, entries);
}

async function selectedPage(
  revision: Revision,
  all: Iterable<CacheEntry>,
  matches: Matches,
  limit: number | undefined,
  caller: Caller,
  turn: Turn,
): Promise<Page> {
  const iterator = all[Symbol.iterator]();
  const entries = await selectNext(iterator, matches, { entries: limit }, caller, turn);
  const isLast = entries.length !== limit || iterator.next().done === true;
  return isLast ? lastPage(revision, entries) : fullPage(revision, entries, undefined);
}

function lastPage(revision: Revision, entries: Iterable<CacheEntry>): Page {
  return { revision, entries, next: undefined, remaining: undefined };
}

/** More keys follow; whether any of them matches a selector is not looked at, as in kube-apiserver. */
function fullPage(
  revision: Revision,
  entries: readonly CacheEntry[],
  countRest: ((next: string) => number) | undefined,
): Page {
  const next = after(entries.at(-1)?.key ?? '');
  return { revision, entries, next, remaining: countRest?.(next) };
}

/** The same from the store itself, at a revision or at the newest one: for states that memory does not hold. */
export async function pageOfStore(
  resource: Resource,
  request: PageRequest,
  revision: Revision | undefined,
  caller: Caller,
): Promise<StorePageOutcome> {
  const { prefix, start, limit = Infinity, matches, onlyKey, work } = request;
  if (onlyKey !== undefined) return singleOfStore(resource, request, onlyKey, revision, caller);
  const entries: CacheEntry[] = [];
  let from = start;
  let at = revision;
  const turn = new Turn(work);
  const { activity } = resource.cached;
  activity.storeLists++;
  for (;;) {
    const range = { prefix, limit: Math.min(STORE_READ_LIMIT, limit), ...atStart(from), ...atRevision(at) };
    const outcome = await resource.store.list(range, signalOf(caller));
    if (!outcome.ok) return outcome;
    const { items } = outcome;
    at = outcome.revision;
    activity.storeFetched += items.length;
    const before = entries.length;
    let read = 0;
    for (; read < items.length && entries.length < limit; read++) {
      const entry = resource.cache.toEntry(resource.definition.storagePrefix, items[read] as StoredValue);
      if (matches === undefined || matches(entry)) entries.push(entry);
    }
    activity.storeEvaluated += read;
    activity.storeReturned += entries.length - before;
    const remaining = items.length - read + outcome.remaining;
    if (remaining === 0) return { ok: true, page: lastPage(at, entries) };
    if (entries.length === limit) {
      return { ok: true, page: fullPage(at, entries, matches === undefined ? () => remaining : undefined) };
    }
    from = after(items.at(-1)?.key ?? prefix);
    // A store in this process may answer within the same turn.
    if (turn.isOver) await turn.next();
    caller.throwIfAborted();
  }
}

async function singleOfStore(
  { store, cache, cached: { activity }, definition }: Resource,
  { start, matches }: PageRequest,
  key: string,
  revision: Revision | undefined,
  caller: Caller,
): Promise<StorePageOutcome> {
  // Of all keys that begin with this one, it is the first.
  const outcome = await store.list({ prefix: key, limit: 1, ...atRevision(revision) }, signalOf(caller));
  if (!outcome.ok) return outcome;
  const entries = outcome.items
    .filter((value) => value.key === key && (start === undefined || start <= key))
    .map((value) => cache.toEntry(definition.storagePrefix, value))
    .filter((entry) => matches?.(entry) ?? true);
  activity.storeLists++;
  activity.storeFetched += outcome.items.length;
  activity.storeEvaluated += outcome.items.length;
  activity.storeReturned += entries.length;
  return { ok: true, page: lastPage(outcome.revision, entries) };
}

function atStart(start: string | undefined): { readonly start?: string } {
  return start === undefined ? {} : { start };
}

function atRevision(revision: Revision | undefined): { readonly revision?: Revision } {
  return revision === undefined ? {} : { revision };
}
