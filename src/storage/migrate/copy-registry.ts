import type { Store, StoredValue, WriteOptions, WriteOutcome } from '../store';
import { compareRegistries, type Difference, type RegistryEnd } from './compare-registries';

export interface CopyOptions {
  readonly from: RegistryEnd;
  readonly to: RegistryEnd;
  /** How long a copied value shall live, for those that do not live for ever. */
  readonly ttlSecondsOf: (path: string, value: Buffer) => number | undefined;
  /** Deletes what only the destination has; else that is an error. */
  readonly prune: boolean;
  /** Told of each step: keys that are known to be the same on both sides, of all keys of the source. */
  readonly onProgress: (done: number, total: number) => void;
  readonly signal: AbortSignal;
}

export interface CopyOutcome {
  readonly keys: number;
  /** How many of them this copy had to write. */
  readonly written: number;
  readonly deleted: number;
}

/** Writes under way at once: stores join them into few commits. */
const PARALLEL_WRITES = 64;
/** A source that somebody writes to is copied again, this often. */
const MAX_ROUNDS = 3;

/**
 * Makes the destination equal to the source, and proves it: both are read from beginning to end, what differs is written,
 * and that is repeated until a comparison of the newest states finds no difference. So a copy that was broken off goes on
 * where it was. Throws when the destination holds keys that the source does not have (unless they are to be deleted), and
 * when the source does not stop changing.
 */
export async function copyRegistry(options: CopyOptions): Promise<CopyOutcome> {
  const { from, to, prune, signal } = options;
  let written = 0;
  let deleted = 0;
  if (!prune) await refuseStrangers(options);
  for (let round = 0; round <= MAX_ROUNDS; round++) {
    const { total } = await countKeys(from, signal);
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
      if (running.size >= PARALLEL_WRITES) await Promise.race(running);
      const write = writeTarget(to, path, source, target, options).then(() => {
        running.delete(write);
        if (source !== undefined) options.onProgress(++done, total);
      });
      // One that fails stays there, for whoever awaits them next.
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

/** Before anything is written: a destination with other keys is most likely not the one that was meant. */
async function refuseStrangers({ from, to, signal }: CopyOptions): Promise<void> {
  const strangers: string[] = [];
  for await (const { path, source } of compareRegistries(from, to, signal))
    if (source === undefined) strangers.push(path);
  if (strangers.length === 0) return;
  const some = strangers.slice(0, 3).join(', ');
  throw new Error(
    `the destination holds ${strangers.length} keys that the source does not have (${some}): is it the right one?`,
  );
}

async function countKeys({ store, root }: RegistryEnd, signal: AbortSignal): Promise<{ readonly total: number }> {
  const outcome = await store.list({ prefix: root, limit: 1 }, signal);
  return { total: outcome.ok ? outcome.items.length + outcome.remaining : 0 };
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
