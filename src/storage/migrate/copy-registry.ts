import type { Revision, Store, StoredValue, WriteOptions, WriteOutcome } from '../store';
import { compareRegistries, type Difference, type RegistryEnd } from './compare-registries';

export interface CopyOptions {
  readonly from: RegistryEnd;
  readonly to: RegistryEnd;
  /** How long a copied value shall live, for those that do not live for ever. */
  readonly ttlSecondsOf: (path: string, value: Buffer) => number | undefined;
  /** Told what only the destination has, if anything, before the first write. Throws to leave both stores as they are. */
  readonly mayPrune: (plan: PrunePlan) => void;
  /** Told of each step: keys that are known to be the same on both sides, of all keys of the source. */
  readonly onProgress: (done: number, total: number) => void;
  readonly signal: AbortSignal;
}

/** What would be deleted in the destination, because the source does not have it. */
export interface PrunePlan {
  /** Keys of the destination, those that will be deleted among them. */
  readonly keys: number;
  readonly deletions: number;
  /** Deletions by what stands before the first slash: `pods`, `configmaps`. */
  readonly byResource: ReadonlyMap<string, number>;
  /** Some of the keys, without the root. */
  readonly examples: readonly string[];
}

/** The source holds nothing: most likely it is not the one that was meant. */
export class EmptySourceError extends Error {
  constructor(root: string) {
    super(`the source holds no key below ${root}: it is no registry, or an empty one, and nothing is copied`);
    this.name = 'EmptySourceError';
  }
}

export interface CopyOutcome {
  readonly keys: number;
  /** How many of them this copy had to write. */
  readonly written: number;
  readonly deleted: number;
}

/** Writes under way at once: stores join them into few commits. */
const PARALLEL_WRITES = 64;
/** A source that is written to is copied again, this often. */
const MAX_ROUNDS = 3;

/**
 * Makes the destination equal to the source, and proves it: both are read from beginning to end, what differs is written,
 * and that is repeated until a comparison of the newest states finds no difference. So a copy that was broken off goes on
 * where it was. Throws when the source is empty, when the destination holds keys that the source does not have (unless they
 * may be deleted), and when the source does not stop changing.
 */
export async function copyRegistry(options: CopyOptions): Promise<CopyOutcome> {
  const { from, to, signal } = options;
  let written = 0;
  let deleted = 0;
  const planned = await checkEnds(options);
  const { revision: begun } = await sizeOf(to, signal);
  for (let round = 0; round <= MAX_ROUNDS; round++) {
    const { total } = await sizeOf(from, signal);
    const running = new Set<Promise<void>>();
    let done = 0;
    let differences = 0;
    for await (const { path, source, target } of compareRegistries(from, to, signal)) {
      if (isSame({ path, source, target })) {
        options.onProgress(++done, total);
        continue;
      }
      differences++;
      // The last round only compares.
      if (round === MAX_ROUNDS) throw new Error(`the source keeps changing, last at ${path}: stop its servers first`);
      if (source === undefined && !planned.has(path) && target!.revision <= begun) {
        throw new Error(`the source loses keys while it is copied, last ${path}: stop its servers first`);
      }
      if (running.size >= PARALLEL_WRITES) await Promise.race(running);
      const write = writeTarget(to, path, source, target, options).then(() => {
        running.delete(write);
        if (source !== undefined) options.onProgress(++done, total);
      });
      // One that fails stays there, until they are next awaited.
      write.catch(() => undefined);
      running.add(write);
      if (source === undefined) deleted++;
      else written++;
    }
    await Promise.all(running);
    if (differences === 0) return { keys: done, written, deleted };
  }
  throw new Error('the source keeps changing');
}

function isSame({ source, target }: Difference): boolean {
  return source !== undefined && target !== undefined && source.value.equals(target.value);
}

/**
 * Before anything is written: a source without keys, or a destination with other keys, is most likely not the one that was
 * meant. Returns what may be deleted.
 */
async function checkEnds({ from, to, mayPrune, signal }: CopyOptions): Promise<ReadonlySet<string>> {
  const strangers = new Set<string>();
  const byResource = new Map<string, number>();
  let sources = 0;
  let targets = 0;
  for await (const { path, source, target } of compareRegistries(from, to, signal)) {
    if (source !== undefined) sources++;
    if (target !== undefined) targets++;
    if (source !== undefined) continue;
    strangers.add(path);
    const resource = path.split('/', 1)[0] ?? '';
    byResource.set(resource, (byResource.get(resource) ?? 0) + 1);
  }
  if (sources === 0) throw new EmptySourceError(from.root);
  const examples = [...strangers].slice(0, 3);
  if (strangers.size > 0) mayPrune({ keys: targets, deletions: strangers.size, byResource, examples });
  return strangers;
}

interface RegistrySize {
  readonly total: number;
  readonly revision: Revision;
}

async function sizeOf({ store, root }: RegistryEnd, signal: AbortSignal): Promise<RegistrySize> {
  const outcome = await store.list({ prefix: root, limit: 1 }, signal);
  if (!outcome.ok) throw new Error('the history was compacted while it was read: try again');
  return { total: outcome.items.length + outcome.remaining, revision: outcome.revision };
}

async function writeTarget(
  { store, root }: RegistryEnd,
  path: string,
  source: StoredValue | undefined,
  target: StoredValue | undefined,
  { ttlSecondsOf, signal }: CopyOptions,
): Promise<void> {
  const key = root + path;
  const outcome = await (source === undefined
    ? remove(store, key, target, signal)
    : put(store, key, source.value, target, ttlOf(ttlSecondsOf(path, source.value)), signal));
  if (!outcome.ok) throw new Error(`somebody else writes ${key} in the destination`);
}

function ttlOf(ttlSeconds: number | undefined): WriteOptions {
  return ttlSeconds === undefined ? {} : { ttlSeconds };
}

function remove(
  store: Store,
  key: string,
  target: StoredValue | undefined,
  signal: AbortSignal,
): Promise<WriteOutcome> | WriteOutcome {
  return target === undefined ? { ok: false, current: undefined } : store.delete(key, target.revision, signal);
}

function put(
  store: Store,
  key: string,
  value: Buffer,
  target: StoredValue | undefined,
  options: WriteOptions,
  signal: AbortSignal,
): Promise<WriteOutcome> {
  return target === undefined
    ? store.create(key, value, options, signal)
    : store.update(key, value, target.revision, options, signal);
}
