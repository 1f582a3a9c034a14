import { loadPages } from '../cache/load-state';
import type { StoredValue } from '../store';
import type { EncryptedStore } from './encrypted-store';

const PAGE_KEYS = 500;

export interface RewriteOptions {
  readonly keyRoot: string;
  /** Whether the values of a key are looked at. */
  readonly concerns: (key: string) => boolean;
  /** How long what stands under a path (a key without its root) has still to live; undefined: for ever. */
  readonly ttlSecondsOf: (path: string, value: Buffer) => number | undefined;
  readonly onProgress?: (done: number, total: number) => void;
  readonly signal: AbortSignal;
}

export interface RewriteResult {
  /** Values that were looked at. */
  readonly looked: number;
  readonly rewritten: number;
  /** Keys of values that cannot be read, with the reason. */
  readonly unreadable: readonly { readonly key: string; readonly problem: string }[];
}

/**
 * Writes every value again that would be written otherwise today. Servers may go on serving: each write compares what it was made from,
 * and what is written meanwhile is as it should be.
 */
export async function rewriteRegistry(store: EncryptedStore, options: RewriteOptions): Promise<RewriteResult> {
  const { keyRoot, concerns, onProgress, signal } = options;
  const unreadable: { key: string; problem: string }[] = [];
  let [looked, rewritten, done] = [0, 0, 0];
  const first = await store.list({ prefix: keyRoot, limit: 1 }, signal);
  const total = first.ok ? first.items.length + first.remaining : 0;
  for await (const { items } of loadPages(store, keyRoot, PAGE_KEYS, signal)) {
    for (const item of items) {
      signal.throwIfAborted();
      if (!concerns(item.key)) continue;
      looked += 1;
      if (item.problem !== undefined) unreadable.push({ key: item.key, problem: item.problem });
      else if (await rewrite(store, item, options)) rewritten += 1;
    }
    done += items.length;
    onProgress?.(done, total);
  }
  return { looked, rewritten, unreadable };
}

async function rewrite(store: EncryptedStore, item: StoredValue, options: RewriteOptions): Promise<boolean> {
  const { keyRoot, ttlSecondsOf, signal } = options;
  for (let current: StoredValue | undefined = item; current !== undefined;) {
    const { key, value, revision }: StoredValue = current;
    if (!store.needsRewrite(key, revision)) return false;
    const ttlSeconds = ttlSecondsOf(key.slice(keyRoot.length), value);
    const lasting = ttlSeconds === undefined ? {} : { ttlSeconds };
    const outcome = await store.update(key, value, revision, lasting, signal);
    if (outcome.ok) return true;
    current = outcome.current;
  }
  return false;
}
