import { StatusError } from '../api/errors/status-error';
import type { KubeObject } from '../api/object';
import type { ApiClient } from '../client/api-client';
import { runInformer, type InformerOptions } from '../client/informer';
import type { Logger } from '../observability/logger';
import { WorkQueue, type QueueMetrics } from '../async/work-queue';

/** A running controller. `close` resolves when it has stopped. */
export interface Controller {
  readonly name: string;
  close(): Promise<void>;
}

/** What every controller needs. */
export interface ControllerParts {
  readonly client: ApiClient;
  readonly logger: Logger;
  /** The instruments of a controller's queue. */
  readonly queueMetrics?: (name: string, queue: WorkQueue) => QueueMetrics;
}

/** What a controller is told of a collection that it follows. */
export interface Following extends InformerOptions {
  /** `/api/v1/pods`; may end with selectors in a query. */
  readonly path: string;
  readonly changed?: (object: KubeObject) => void;
  readonly deleted?: (object: KubeObject) => void;
  readonly synced?: () => void;
  /** Ends it before the controller; what it knew may be given to the next one. */
  readonly until?: AbortSignal;
}

/** The running controller as its own rules see it. */
export interface ControllerRun {
  readonly client: ApiClient;
  readonly logger: Logger;
  /** Aborts when the controller is stopped. */
  readonly signal: AbortSignal;
  /** Keys wait here for `reconcile`. */
  readonly queue: Pick<WorkQueue, 'add' | 'addAfter' | 'pause' | 'resume'>;
  readonly follow: (what: Following) => void;
  /** Beside the queue; its failures are logged, and the controller's end waits for it. */
  readonly background: (work: () => void | Promise<void>) => void;
  readonly after: (milliseconds: number, work: () => void | Promise<void>) => void;
  /** Now and after each such time. */
  readonly every: (milliseconds: number, work: () => void | Promise<void>) => void;
}

export interface ControllerOptions {
  /** How many keys are worked on at once. */
  readonly workers?: number;
  /** Failures that say nothing new: they are tried again in silence. */
  readonly isExpected?: (error: unknown) => boolean;
}

/** Makes the state of the cluster what it should be, as far as the key is concerned; what it throws is tried again. */
export type Reconcile = (key: string) => Promise<void>;

/**
 * The one form of all controllers: `begin` says what is followed and gives `reconcile`; what is followed adds keys to the
 * queue, and `reconcile` works on one at a time, from when everything has been told that there was in the beginning.
 */
export function startController(
  name: string,
  { client, logger, queueMetrics }: ControllerParts,
  begin: (run: ControllerRun) => Reconcile,
  { workers = WorkQueue.MAX_ACTIVE, isExpected = isConflict }: ControllerOptions = {},
): Controller {
  const stop = new AbortController();
  const { signal } = stop;
  const running = new Set<Promise<void>>();
  const timers = new Set<NodeJS.Timeout>();
  const failed = (key: string, error: unknown): void => {
    if (!signal.aborted && !isExpected(error)) logger.warn({ controller: name, key, err: error }, 'reconciling failed');
  };
  const keep = (work: Promise<void>): void => {
    const kept = work.finally(() => running.delete(kept));
    running.add(kept);
  };
  const background: ControllerRun['background'] = (work) => {
    const run = async (): Promise<void> => work();
    if (!signal.aborted) keep(run().catch((error: unknown) => failed('', error)));
  };
  let reconcile: Reconcile = async () => undefined;
  const queue = new WorkQueue((key) => reconcile(key), failed, {
    maxActive: workers,
    paused: true,
    metrics: (itself) => queueMetrics?.(name, itself),
  });
  /** What `begin` follows and has not been listed yet: who knows half would do what has been done. */
  let awaited = 0;
  let hasBegun = false;
  const awaitList = (synced: () => void): (() => void) => {
    if (hasBegun) return synced;
    awaited += 1;
    return () => {
      synced();
      awaited -= 1;
      if (awaited === 0) queue.resume();
    };
  };
  reconcile = begin({
    client,
    logger,
    signal,
    queue,
    follow: ({ path, changed = ignore, deleted = ignore, synced = ignore, until, ...options }) => {
      const warn = (error: unknown): void => {
        if (!signal.aborted) logger.warn({ controller: name, path, err: error }, 'watching failed');
      };
      const end = until === undefined ? signal : AbortSignal.any([signal, until]);
      keep(runInformer(client, path, { changed, deleted, synced: awaitList(synced), failed: warn }, end, options));
    },
    background,
    after: (milliseconds, work) => {
      const timer = setTimeout(() => {
        timers.delete(timer);
        background(work);
      }, milliseconds);
      timers.add(timer);
    },
    every: (milliseconds, work) => {
      background(work);
      timers.add(setInterval(() => background(work), milliseconds));
    },
  });
  hasBegun = true;
  if (awaited === 0) queue.resume();
  return {
    name,
    close: async () => {
      stop.abort();
      for (const timer of timers) clearInterval(timer);
      await Promise.all(running);
      await queue.close();
    },
  };
}

function ignore(): void {}

function isConflict(error: unknown): boolean {
  return isStatus(error, 409);
}

/** The server has answered with one of these codes. */
export function isStatus(error: unknown, ...codes: readonly number[]): error is StatusError {
  return error instanceof StatusError && codes.includes(error.status.code);
}
