import { setTimeout as delay } from 'node:timers/promises';
import type { Filter, WatchItem, WatchSession, WatchStream } from '../../history/history';
import type { HttpClient, Json } from './http-client';
import { fieldsOf } from './recorder';

export interface WatcherOptions {
  readonly name: string;
  /** Asked in turn, one stream each. */
  readonly https: readonly HttpClient[];
  readonly path: string;
  readonly after: number | 'state';
  readonly filter?: Filter;
  /** How long each stream lasts at most. */
  readonly streamSeconds?: number;
}

/** Refusals that end a watch for good: its version is too old. */
const GONE = 410;
const PAUSE_MS = 50;

/** Watches a collection until it is stopped; when a stream ends it resumes from the last revision it has heard of. */
export class Watcher {
  /** What the server refused a watch with; 410 stops the watcher. */
  readonly refusals: Pick<Json, 'code' | 'reason' | 'message'>[] = [];
  readonly #streams: { readonly after: number | 'state'; readonly items: WatchItem[] }[] = [];
  readonly #stop = new AbortController();
  readonly #done: Promise<void>;
  #reached: number | undefined;
  #isGone = false;

  constructor(private readonly options: WatcherOptions) {
    this.#reached = options.after === 'state' ? undefined : options.after;
    this.#done = this.run();
  }

  get reached(): number {
    return this.#reached ?? 0;
  }

  get streams(): readonly WatchStream[] {
    return this.#streams;
  }

  /** Waits until it has heard of everything up to `through`; false when that takes too long. */
  async until(through: number, timeoutMs = 15_000): Promise<boolean> {
    const deadline = performance.now() + timeoutMs;
    while (this.reached < through) {
      if (performance.now() > deadline || this.#isGone) return false;
      await delay(20);
    }
    return true;
  }

  async stop(through?: number): Promise<WatchSession> {
    this.#stop.abort();
    await this.#done;
    const { name, filter } = this.options;
    return {
      client: name,
      streams: this.#streams,
      ...(filter === undefined ? {} : { filter }),
      ...(through === undefined ? {} : { through }),
    };
  }

  private async run(): Promise<void> {
    const { https } = this.options;
    for (let turn = 0; !this.#stop.signal.aborted && !this.#isGone; turn++) {
      try {
        await this.follow(https[turn % https.length]!);
      } catch {
        // The connection broke, or there was none: the next stream resumes.
        await delay(PAUSE_MS);
      }
    }
  }

  private async follow(http: HttpClient): Promise<void> {
    const { path, filter, streamSeconds = 60 } = this.options;
    const after = this.#reached ?? 'state';
    const query = [
      'watch=1',
      'allowWatchBookmarks=true',
      `timeoutSeconds=${streamSeconds}`,
      ...(after === 'state'
        ? ['sendInitialEvents=true', 'resourceVersionMatch=NotOlderThan']
        : [`resourceVersion=${after}`]),
      ...(filter === undefined ? [] : [`labelSelector=${filter.field}%3D${filter.value}`]),
    ];
    const items: WatchItem[] = [];
    this.#streams.push({ after, items });
    let isInitial = after === 'state';
    for await (const line of http.lines(`${path}?${query.join('&')}`, this.#stop.signal)) {
      const { type, object } = line;
      if (type === undefined || type === 'ERROR') {
        const status = type === 'ERROR' ? object : line;
        this.refusals.push(status);
        if (status.code === GONE) this.#isGone = true;
        await delay(PAUSE_MS);
        return;
      }
      const revision = Number(object.metadata.resourceVersion);
      const at = performance.now();
      if (type === 'BOOKMARK') {
        const endsInitial = object.metadata.annotations?.['k8s.io/initial-events-end'] === 'true';
        if (endsInitial) isInitial = false;
        items.push({ type, revision, endsInitial, at });
      } else {
        const { name: key, uid } = object.metadata;
        items.push({ type, key, revision, uid, fields: fieldsOf(object), at });
      }
      if (!isInitial) this.#reached = revision;
    }
  }
}
