import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KubeObject } from '../../src/api/object';
import type { CacheBatch, CacheEvent, ResourceDecoder } from '../../src/storage/cache/cache';
import { openEmbeddedStore } from '../../src/storage/embedded/embedded-store';
import type { Revision, Store } from '../../src/storage/store';

export interface TemporaryStore extends AsyncDisposable {
  readonly store: Store;
}

export async function openTemporaryStore(): Promise<TemporaryStore> {
  const folder = await mkdtemp(join(tmpdir(), 'sternpost-cache-'));
  const store = await openEmbeddedStore({ path: join(folder, 'registry.db') });
  return {
    store,
    [Symbol.asyncDispose]: async () => {
      await store.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export function decoderOf(kind: string, apiVersion = 'v1'): ResourceDecoder {
  return {
    storedAs: { kind, apiVersion },
    decode: (value) => ({ ...(JSON.parse(value.toString()) as KubeObject), kind, apiVersion }),
  };
}

export function valueOf(kind: string, metadata: object, rest: object = {}, apiVersion = 'v1'): Buffer {
  return Buffer.from(JSON.stringify({ kind, apiVersion, metadata, ...rest }));
}

/** Creates, overwrites or deletes, whatever stands there; returns the revision of the write. */
export async function write(store: Store, key: string, value: Buffer | undefined): Promise<Revision> {
  const current = await store.get(key);
  const outcome =
    value === undefined
      ? await store.delete(key, current?.revision as Revision)
      : current === undefined
        ? await store.create(key, value)
        : await store.update(key, value, current.revision);
  if (!outcome.ok) throw new Error(`somebody else wrote ${key}`);
  return outcome.revision;
}

/** Reads `count` events, or until the watch ends. */
export async function take(batches: AsyncIterable<CacheBatch>, count: number): Promise<CacheEvent[]> {
  const events: CacheEvent[] = [];
  for await (const batch of batches) {
    events.push(...batch.events);
    if (events.length >= count) break;
  }
  return events;
}
