import type { RequestedVersion } from '../api/kinds/kind-definition';
import type { MaybePromise } from '../api/maybe-promise';
import type { KubeObject } from '../api/object';
import type { Steps } from '../api/parts';
import type { UserInfo } from '../api/user';
import type { CacheEntry, FieldInterest } from '../storage/cache/cache';
import type { Work } from '../async/loop-work';
import type { Cancellation, Revision } from '../storage/store';

export type { UserInfo };

/** Who waits for an answer: a signal, or what makes one when it is asked for, and knows without one whether the call is waited for. */
export type Caller = AbortSignal | (Cancellation & { readonly signal: AbortSignal } & Partial<Work>);

export function signalOf(caller: Caller): AbortSignal {
  return 'signal' in caller ? caller.signal : caller;
}

/** Whose turns it takes; undefined for what the server does by itself. */
export function workOf(caller: Caller): Work | undefined {
  return 'workOwner' in caller && 'describeWork' in caller ? (caller as Work) : undefined;
}

/** What every operation needs besides its own arguments. */
export interface OperationContext {
  /** A signal only where a call has to wait: to make one costs more than many a step of a write. */
  readonly signal: Caller;
  /** `dryRun=All`: every step but the store's transaction. */
  readonly dryRun: boolean;
  /** The version that the client sent, for rules that differ between versions of a kind. */
  readonly requested?: RequestedVersion;
  /** Who asks; absent for what the server does by itself. */
  readonly user?: UserInfo;
  /** Whose request it is; absent for what the server does by itself. */
  readonly pace?: Pace;
  /** Who is told what does not stand in the way of the request. */
  readonly heard?: { warn(text: string): void };
}

/** How the work of one request goes on. */
export interface Pace {
  /** It is large, and lets others have their turn between its steps. */
  readonly givesWay: boolean;
  /** Takes steps in turns with others. Rejects when the client is gone or the time is over. */
  takeSteps<Result>(steps: Steps<Result>): Promise<Result>;
  /**
   * The object in hand has so many bytes: waits for a place among large requests, unless it has one, and gives way from then on.
   * Throws a 429.
   */
  beginLarge(objectBytes: number): Promise<void>;
}

/** Where an object lives. `namespace` is empty for cluster-scoped kinds and for lists over all namespaces. */
export interface Scope {
  readonly namespace: string;
}

/** A predicate over entries, compiled from label and field selectors; undefined matches everything. */
export interface Selection {
  readonly matches: (entry: CacheEntry) => boolean;
  /** It takes tenths of a millisecond for each entry: watches look through their events in turns with others. */
  readonly isLong?: boolean;
  /** `metadata.name=x` narrows the list to one key. */
  readonly name?: string;
  /** `spec.nodeName=x`: what matches has this value. */
  readonly field?: FieldInterest;
}

export interface GetOptions {
  readonly resourceVersion?: string;
}

export type ResourceVersionMatch = 'Exact' | 'NotOlderThan';

/** As parsed from the query, in a combination that the API allows (spec, "Resource version semantics"). */
export interface ListOptions {
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: ResourceVersionMatch;
  readonly limit?: number;
  readonly continue?: string;
  readonly selection?: Selection;
}

export interface ListResult {
  readonly revision: Revision;
  readonly entries: Iterable<CacheEntry>;
  /** Token for the next page; undefined on the last. */
  readonly continue?: string;
  /** Known only without selectors. */
  readonly remainingItemCount?: number;
}

export interface WatchOptions {
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: ResourceVersionMatch;
  readonly allowWatchBookmarks: boolean;
  readonly sendInitialEvents?: boolean;
  readonly selection?: Selection;
  /** When the caller will end the watch through its signal; the last bookmark comes shortly before. */
  readonly timeoutMs?: number;
}

/** After selectors: an object that begins to match is ADDED, one that ceases to match is DELETED. */
export type WatchItem =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly entry: CacheEntry }
  | { readonly type: 'BOOKMARK'; readonly revision: Revision; readonly initialEventsEnd: boolean };

export interface Preconditions {
  readonly uid?: string;
  readonly resourceVersion?: string;
}

export interface DeleteOptions {
  readonly gracePeriodSeconds?: number | bigint;
  readonly preconditions?: Preconditions;
  readonly propagationPolicy?: 'Orphan' | 'Background' | 'Foreground';
  readonly orphanDependents?: boolean;
}

/** Admission, handed in by the endpoint. Both may throw a StatusError. */
export interface CreateHooks {
  /** Mutating admission, already decoded and defaulted, before reset and validation. */
  readonly mutate?: (object: KubeObject) => MaybePromise<KubeObject>;
  /** Validating admission, last before the transaction. */
  readonly validate?: (object: KubeObject) => MaybePromise<void>;
}

export interface UpdateHooks {
  /**
   * From the object that stands there to the wanted one: an update's body, a patch applied, an apply merged, then
   * field ownership and mutating admission. Called again with the fresh object when the compare fails. `undefined` for
   * current: the object does not exist and the kind allows creating on update. `bytes`: how large it is, as JSON.
   */
  readonly change: (current: KubeObject | undefined) => MaybePromise<KubeObject>;
  readonly validate?: (object: KubeObject, old: KubeObject | undefined) => MaybePromise<void>;
  /** What was sent carried these; an update compares them, a patch without them retries. */
  readonly preconditions?: Preconditions;
  /** A PUT whose body has no resourceVersion overwrites; a patch recomputes. */
  readonly retryOnConflict: boolean;
  /** An apply creates what does not exist and a patch never does, whatever the kind says about PUT. */
  readonly createIfMissing?: boolean;
}

export interface DeleteHooks {
  /** All of admission, with the object as it stands; again when it changed meanwhile. May throw a StatusError. */
  readonly admit?: (current: KubeObject) => Promise<void>;
}

export interface WriteResult {
  readonly entry: CacheEntry;
  readonly created: boolean;
}

export type DeleteResult =
  /** It is gone; `entry` is its last state. */
  | { readonly gone: true; readonly entry: CacheEntry }
  /** It stays, with a deletionTimestamp, until finalizers or grace are over. */
  | { readonly gone: false; readonly entry: CacheEntry };
