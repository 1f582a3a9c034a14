import { setTimeout as delay } from 'node:timers/promises';
import { StatusError } from '../api/errors/status-error';
import type { KubeObject } from '../api/object';
import type { ApiClient } from './api-client';

/** What an informer tells its owner. `known` is every object now in its view, by `namespace/name`. */
export interface InformerHandlers {
  readonly changed: (object: KubeObject) => void;
  readonly deleted: (object: KubeObject) => void;
  readonly failed: (error: unknown) => void;
}

const FIRST_DELAY_MS = 200;
const MAX_DELAY_MS = 10_000;

export function objectKey(object: KubeObject): string {
  const { namespace, name = '' } = object.metadata;
  return namespace === undefined ? name : `${namespace}/${name}`;
}

/**
 * Follows one collection: lists it page by page, then watches from the list's version, resumes after a lost connection from the last
 * version it saw, and lists again only when the server no longer has that history (API concepts, "Efficient detection
 * of changes"). What vanished between two lists is reported as deleted. `path` may end with selectors in a query. Returns
 * when the signal aborts.
 */
export async function runInformer(
  client: ApiClient,
  path: string,
  handlers: InformerHandlers,
  signal: AbortSignal,
): Promise<void> {
  const known = new Map<string, KubeObject>();
  let resourceVersion: string | undefined;
  let wait = FIRST_DELAY_MS;

  const relist = async (): Promise<string> => {
    const gone = new Map(known);
    let listed = '';
    for await (const { items, metadata } of client.pages(path, signal)) {
      for (const object of items) {
        const key = objectKey(object);
        const before = known.get(key);
        known.set(key, object);
        gone.delete(key);
        if (before?.metadata.resourceVersion !== object.metadata.resourceVersion) handlers.changed(object);
      }
      listed = metadata.resourceVersion ?? '';
    }
    for (const [key, object] of gone) {
      known.delete(key);
      handlers.deleted(object);
    }
    return listed;
  };

  const follow = async (from: string): Promise<void> => {
    const query = `watch=true&allowWatchBookmarks=true&resourceVersion=${encodeURIComponent(from)}`;
    const separator = path.includes('?') ? '&' : '?';
    for await (const event of client.watch(`${path}${separator}${query}`, signal)) {
      if (event.type === 'ERROR') {
        throw new StatusError(event.object.code ?? 500, event.object.reason, event.object.message ?? 'watch failed');
      }
      resourceVersion = event.object.metadata.resourceVersion ?? resourceVersion;
      wait = FIRST_DELAY_MS;
      if (event.type === 'BOOKMARK') continue;
      if (event.type === 'DELETED') {
        known.delete(objectKey(event.object));
        handlers.deleted(event.object);
      } else {
        known.set(objectKey(event.object), event.object);
        handlers.changed(event.object);
      }
    }
  };

  while (!signal.aborted) {
    try {
      resourceVersion ??= await relist();
      await follow(resourceVersion);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof StatusError && error.status.code === 410) {
        resourceVersion = undefined;
        continue;
      }
      handlers.failed(error);
      await delay(wait, undefined, { signal }).catch(() => undefined);
      wait = Math.min(wait * 2, MAX_DELAY_MS);
    }
  }
}
