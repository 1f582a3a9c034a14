import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { StatusError } from '../api/errors/status-error';
import type { KubeObject } from '../api/object';
import { BackOff } from '../async/back-off';
import type { ApiClient, Representation } from './api-client';

/** What an informer tells its owner. */
export interface InformerHandlers {
  readonly changed: (object: KubeObject) => void;
  readonly deleted: (object: KubeObject) => void;
  /** Everything that the first list of this run held has been told, and what had vanished before. */
  readonly synced?: () => void;
  readonly failed: (error: unknown) => void;
}

export interface InformerOptions {
  readonly representation?: Representation;
  /** What is kept of an object, to be told when it vanishes between two lists; all of it when absent. */
  readonly keep?: (object: KubeObject) => KubeObject;
  /** What an earlier run knew: objects that are not listed any more are told as deleted. */
  readonly known?: Map<string, KubeObject>;
}

const RETRIES = { first: 200, factor: 2, longest: 10_000 };
/** A watch lasts for a random time between this and twice this, so that many do not begin anew at once. */
const WATCH_SECONDS = 300;
/** How much later than the server's end the client's own comes: for connections that died without a word. */
const END_AFTER_MS = 30_000;

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
  client: Pick<ApiClient, 'pages' | 'watch'>,
  path: string,
  handlers: InformerHandlers,
  signal: AbortSignal,
  options: InformerOptions = {},
): Promise<void> {
  const { representation, keep = (object) => object, known = new Map<string, KubeObject>() } = options;
  let resourceVersion: string | undefined;
  const backOff = new BackOff(RETRIES);
  let synced = false;

  const relist = async (): Promise<string> => {
    const gone = new Map(known);
    let listed = '';
    for await (const { items, metadata } of client.pages(path, signal, representation)) {
      for (const object of items) {
        const key = objectKey(object);
        const before = known.get(key);
        gone.delete(key);
        if (before?.metadata.resourceVersion === object.metadata.resourceVersion) continue;
        // Deleted and created anew between two lists: two objects.
        if (before !== undefined && before.metadata.uid !== object.metadata.uid) handlers.deleted(before);
        known.set(key, keep(object));
        handlers.changed(object);
      }
      listed = metadata.resourceVersion ?? '';
    }
    for (const [key, object] of gone) {
      known.delete(key);
      handlers.deleted(object);
    }
    if (!synced) handlers.synced?.();
    synced = true;
    return listed;
  };

  const follow = async (from: string): Promise<void> => {
    const seconds = WATCH_SECONDS + randomInt(WATCH_SECONDS);
    const query =
      `watch=true&allowWatchBookmarks=true&timeoutSeconds=${seconds}` + `&resourceVersion=${encodeURIComponent(from)}`;
    const separator = path.includes('?') ? '&' : '?';
    const end = new AbortController();
    const overdue = setTimeout(() => end.abort(), seconds * 1000 + END_AFTER_MS);
    const until = AbortSignal.any([signal, end.signal]);
    try {
      for await (const event of client.watch(`${path}${separator}${query}`, until, representation)) {
        if (event.type === 'ERROR') {
          throw new StatusError(event.object.code ?? 500, event.object.reason, event.object.message ?? 'watch failed');
        }
        resourceVersion = event.object.metadata.resourceVersion ?? resourceVersion;
        backOff.reset();
        if (event.type === 'BOOKMARK') continue;
        if (event.type === 'DELETED') {
          known.delete(objectKey(event.object));
          handlers.deleted(event.object);
        } else {
          known.set(objectKey(event.object), keep(event.object));
          handlers.changed(event.object);
        }
      }
    } catch (error) {
      if (!end.signal.aborted) throw error;
    } finally {
      clearTimeout(overdue);
    }
  };

  const pause = async (): Promise<void> => {
    await delay(backOff.next(), undefined, { signal }).catch(() => undefined);
  };

  while (!signal.aborted) {
    const from = resourceVersion;
    try {
      resourceVersion ??= await relist();
      await follow(resourceVersion);
      // A server that ends every watch at once is not asked again at once.
      if (resourceVersion === from) await pause();
    } catch (error) {
      if (signal.aborted) return;
      const expired = error instanceof StatusError && error.status.code === 410;
      const listedBefore = from !== undefined;
      if (expired) resourceVersion = undefined;
      else handlers.failed(error);
      if (!expired || !listedBefore) await pause();
    }
  }
}
