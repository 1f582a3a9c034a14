import type { ResourceActivity } from './resource-activity';
import type { Completion } from '../../api/completion';
import type { Steps } from '../../api/parts';
import type { KubeObject } from '../../api/object';
import type { Labels } from '../../api/selectors/label-selector';
import type { Revision, StoredValue } from '../store';

/**
 * What the registry sees of the cache (docs/architecture.md, "The cache"). The cache holds the whole registry at one
 * revision: one loader, one stream, one revision for all resources.
 */

/** One object as it stood after one write. Shared by everyone. */
export interface CacheEntry {
  readonly key: string;
  readonly revision: Revision;
  readonly namespace: string;
  readonly name: string;
  /** Storage version, with metadata.resourceVersion. Parsed when first asked for. */
  readonly object: KubeObject;
  /** That of the object, known without parsing it. */
  readonly apiVersion: string;
  /** The same, not kept for the next who asks: for one of so many that keeping them would not help. */
  parse(): KubeObject;
  /** Undefined: so many that only those are read that are asked for, by {@link pickLabels}. */
  readonly labels: Labels | undefined;
  /** Those of the labels that have these keys. */
  pickLabels(keys: Iterable<string>): Labels;
  /**
   * The value of a field selector's label (API concepts, "Field selectors"). `read` is asked once for each label, so that a
   * list by a field does not parse every object each time.
   */
  field(label: string, read: (object: KubeObject) => string): string;
  /**
   * The object's JSON text after its kind and apiVersion: begins with `"metadata":`, ends with `}`. So
   * `{"kind":"Pod","apiVersion":"v1",` + body is the object, and `{` + body a list's item.
   */
  readonly body: Buffer;
  /** Bytes of the object as it is kept, which may be less than the body when its schema has changed. */
  readonly size: number;
  /** Makes object and body of a large entry a part at a time, so that to ask for them takes nothing; undefined: nothing is to be made. */
  prepare(): Steps<void> | undefined;
  /** The same for the body alone. */
  prepareBody(): Steps<void> | undefined;
  /** It is not asked for its object any more, or hardly: nothing parsed of it is kept. */
  forget(): void;
}

export interface CacheEvent {
  readonly type: 'put' | 'delete';
  readonly revision: Revision;
  /** After the write; for a delete the last state, with the deletion's revision as its resourceVersion. */
  readonly entry: CacheEntry;
  /** Before the write; undefined when it created the object. */
  readonly previous: CacheEntry | undefined;
}

/** An immutable view of one resource at one revision. */
export interface ResourceSnapshot {
  readonly revision: Revision;
  get(key: string): CacheEntry | undefined;
  /** Entries whose key begins with `prefix`, in key order, from `start` on. */
  entries(prefix: string, start?: string): Iterable<CacheEntry>;
  /**
   * Those of the entries with this prefix of which the field has this value, in key order; undefined where no index tells, and
   * the caller has to look through them.
   */
  withField(field: FieldInterest, prefix: string, start?: string): readonly CacheEntry[] | undefined;
  /** How many entries `entries(prefix, start)` would give. */
  count(prefix: string, start?: string): number;
}

/** How a resource's stored values become entries. */
export interface ResourceDecoder {
  /**
   * From stored bytes (JSON, or kube-apiserver's Protobuf when they begin with `k8s\0`, in any served version) to the
   * storage version's object without resourceVersion, with the defaults of the version it is in. Where only a webhook converts, the
   * object stays in the version that it is stored in. Throws when the bytes cannot be understood.
   */
  readonly decode: (value: Buffer) => KubeObject;
  /**
   * What `decode` puts in kind and apiVersion. Values of the current form (stored-form.ts) that begin with exactly these are
   * taken as they are, undecoded. Learnt from the first decoded value when absent.
   */
  readonly storedAs?: { readonly kind: string; readonly apiVersion: string };
  /** `decode` leaves objects in the version that they are stored in. */
  readonly keepsVersion?: boolean;
  /**
   * Brings an object of the storage version up to what its kind's schema says now (custom resources). Asked once for each
   * entry, when it is first read; gives the object itself when there is nothing to do.
   */
  readonly complete?: Completion;
  /**
   * Of values of the current form in another version than {@link storedAs}: what makes objects of the storage version of them. Large ones
   * are taken as they are, and completed when they are first read. Undefined for a version of which nothing is known.
   */
  readonly completeFrom?: (apiVersion: string) => Completion | undefined;
  /**
   * Where an object differs between storage versions only in kind and apiVersion: what takes the place of `complete` for those
   * that were decoded as `before`, when this decoder comes after another. Absent: such objects are decoded anew, one and all.
   */
  readonly adopt?: (before: { readonly kind: string; readonly apiVersion: string }) => Completion | undefined;
}

export interface ResourceCache {
  readonly storagePrefix: string;
  /** Counted by its readers. */
  readonly activity: ResourceActivity;
  /** The revision of the last change that memory knows: while it stays, so does everything that {@link get} gives. */
  readonly changed: Revision;
  /** The newest state of one key that the cache knows: what {@link snapshot} has of it, without making one. */
  get(key: string): CacheEntry | undefined;
  /** Why what stands under the key cannot be read; undefined: it can, or nothing does. */
  problemOf(key: string): Error | undefined;
  /** The same of the first key that begins with the prefix. */
  problemIn(prefix: string): Error | undefined;
  /** The newest state that the cache knows. O(1), but the next change copies a path of the tree. */
  snapshot(): ResourceSnapshot;
  /** The state at exactly this revision, if it is still held (for as long as its events are, about 5 minutes). */
  snapshotAt(revision: Revision): ResourceSnapshot | undefined;
  /**
   * Events after `after`, in order, in batches, as they arrive. Starts from the event log; from the store when the log
   * is too short. Throws CompactedError when the store has no history that old. Ends when the signal aborts. A consumer
   * that falls too far behind ends with a {@link SlowWatcherError}. With an interest, events outside of it may be left out.
   */
  watch(after: Revision, signal: AbortSignal, interest?: WatchInterest): ResourceWatch;
  /** About how many watches will be told of a write of the object with this key. */
  watchers(key: string): number;
  /**
   * The entry of a value that the store has just taken, for which memory takes it too when the event comes. `object`, where
   * it is given, is exactly what parsing the entry would give, and is not changed any more.
   */
  written(value: StoredValue, object: KubeObject | undefined): CacheEntry;
}

/**
 * What a watch is about, as far as it saves others the work of waking it: the objects with one key or of one namespace (the
 * beginning of its keys, up to and with the slash), or those of which a field has one value, before or after a write.
 */
export type WatchInterest = { readonly by: 'key'; readonly key: string } | FieldInterest;

export interface FieldInterest {
  readonly by: 'field';
  readonly label: string;
  /** See {@link CacheEntry.field}. */
  readonly read: (object: KubeObject) => string;
  readonly value: string;
  /** One value of this field is asked for so often that an index is worth its memory. */
  readonly isIndexed: boolean;
}

/** To be consumed by one reader that asks for the next batch when it is done with the last. */
export interface ResourceWatch extends AsyncIterable<CacheBatch> {
  /**
   * Every event up to here has been given out: what a bookmark may promise once the reader has sent on all it got. Runs
   * ahead of the last batch while there is nothing to give.
   */
  readonly progress: Revision;
  /** What the reader has not taken yet cannot be given any more: asking for it will end the watch. */
  readonly isTooFarBehind: boolean;
}

export interface CacheBatch {
  readonly events: readonly CacheEvent[];
  /** Everything up to here has been given out. */
  readonly revision: Revision;
}

export class SlowWatcherError extends Error {
  constructor() {
    super('the watcher did not keep up with the events');
    this.name = 'SlowWatcherError';
  }
}

export interface RegistryCache {
  /**
   * Declares a resource; what the store already has under it becomes visible at once. Again with the same prefix gives
   * the same resource; when the decoder's `storedAs` or `complete` is another (a definition's storage version or
   * schema changed) all entries are decoded anew, or adopted, and watches of the resource end. `storagePrefix`: `pods`, `services/specs`.
   */
  register(storagePrefix: string, decoder: ResourceDecoder): ResourceCache;
  /**
   * Does in turns what {@link register} would do at once for a resource with many objects; `register` has nothing left to do
   * then. Undefined: it is done. Not again for the same resource before it is done.
   */
  prepare(storagePrefix: string, decoder: ResourceDecoder): Promise<void> | undefined;
  /** Forgets a resource whose definition is gone; its watches end. What is left in the store stays there. */
  unregister(storagePrefix: string): void;
  /** The revision that memory has reached. */
  readonly revision: Revision;
  /** How many objects there are, by storage prefix. */
  sizes(): Iterable<readonly [storagePrefix: string, objects: number]>;
  /** What has been done with each resource, by storage prefix. */
  activities(): Iterable<readonly [storagePrefix: string, activity: ResourceActivity]>;
  /** The recent events of all resources that are kept, and roughly the bytes that they hold. */
  readonly historySize: { readonly events: number; readonly bytes: number };
  /** The parsed objects that are kept, and the bytes of their JSON. */
  readonly parsedSize: { readonly objects: number; readonly bytes: number };
  /** The store's newest revision, linearizable; callers that ask at the same time share the next ask. */
  currentRevision(signal?: AbortSignal): Promise<Revision>;
  /** False: the store has compacted the state of this revision, which memory may still hold. An answer may be a second old. */
  storeHas(revision: Revision, signal?: AbortSignal): Promise<boolean>;
  /** True when memory has reached `revision` within `timeoutMs`. */
  waitFor(revision: Revision, timeoutMs: number, signal?: AbortSignal): Promise<boolean>;
  /** Turns a value read from the store itself (a failed compare's answer, an old revision's list) into an entry. */
  toEntry(storagePrefix: string, value: StoredValue): CacheEntry;
  close(): Promise<void>;
}
