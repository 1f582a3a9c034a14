/**
 * What the clients of one run saw, and what the store says happened, as plain data. Objects are reduced to fields (data
 * and labels); times are milliseconds of one clock that never goes back; revisions are resourceVersions as numbers.
 *
 * Every write carries a token that no other write has, in the field {@link TOKEN_FIELD}: so every version of an object
 * names the write that made it, also when that write's answer was lost.
 */

export const TOKEN_FIELD = 'token';

/**
 * The field that only server-side apply by one client sets, in some of its requests: a request without it gives it up, and
 * nobody else owns it.
 */
export function appliedField(client: string): string {
  return `applied-${client}`;
}

export type Fields = Readonly<Record<string, string>>;

/** An object as it stood after one write. */
export interface Version {
  readonly revision: number;
  readonly uid: string;
  readonly fields: Fields;
}

/** One entry of the store's own log: the truth that everything else is compared with. */
export interface TruthEvent {
  readonly type: 'put' | 'delete';
  readonly key: string;
  readonly revision: number;
  readonly uid: string;
  /** After a put; before a delete. */
  readonly fields: Fields;
}

interface Call {
  readonly client: string;
  readonly key: string;
  readonly calledAt: number;
  /** Infinity when no answer came. */
  readonly returnedAt: number;
}

export interface WriteCall extends Call {
  readonly kind: 'write';
  readonly verb: 'create' | 'update' | 'patch' | 'apply' | 'delete';
  /** The version that the write insisted on. */
  readonly base?: number;
  /** create and update: all fields of the new version; patch and apply: those it sets; delete: none. */
  readonly fields: Fields;
  readonly outcome:
    /** The answers to deletes tell only the uid. */
    | { readonly type: 'done'; readonly revision?: number; readonly uid: string; readonly fields?: Fields }
    | { readonly type: 'refused'; readonly reason: 'exists' | 'missing' | 'conflict' }
    /** A timeout, a 5xx, a broken connection: it may have happened or may still happen. */
    | { readonly type: 'unknown' };
}

/** What a reader asked for: the resourceVersion parameter. */
export type Freshness =
  | { readonly type: 'newest' }
  | { readonly type: 'any' }
  | { readonly type: 'not older than'; readonly revision: number }
  | { readonly type: 'exact'; readonly revision: number };

export interface GetCall extends Call {
  readonly kind: 'get';
  readonly freshness: Freshness;
  /** Undefined: 404. */
  readonly found: Version | undefined;
}

/** A whole list, its pages put together; the times are those of the first page. `key` names the collection. */
export interface ListCall extends Call {
  readonly kind: 'list';
  readonly freshness: Freshness;
  readonly filter?: Filter;
  readonly revision: number;
  readonly items: ReadonlyMap<string, Version>;
}

/** A label selector with one term. */
export interface Filter {
  readonly field: string;
  readonly value: string;
}

export type WatchItem =
  | {
      readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
      readonly key: string;
      readonly revision: number;
      readonly uid: string;
      readonly fields: Fields;
      readonly at: number;
    }
  | { readonly type: 'BOOKMARK'; readonly revision: number; readonly endsInitial: boolean; readonly at: number };

/** One answer to one watch request. */
export interface WatchStream {
  /** The revision it resumed from; `state`: it began with ADDED for what was there, up to a bookmark (sendInitialEvents). */
  readonly after: number | 'state';
  readonly items: readonly WatchItem[];
}

/** A client that watches a collection over several streams, each from where the last one ended. */
export interface WatchSession {
  readonly client: string;
  readonly filter?: Filter;
  readonly streams: readonly WatchStream[];
  /** The revision up to which the client waited until it had heard of everything; absent: it left early. */
  readonly through?: number;
}

export interface History {
  /** In order of revision, from before the first call on. The collection was empty at the beginning. */
  readonly truth: readonly TruthEvent[];
  readonly calls: readonly (WriteCall | GetCall | ListCall)[];
  readonly sessions: readonly WatchSession[];
}
