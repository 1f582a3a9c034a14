import fc from 'fast-check';
import {
  decoderOf,
  openTemporaryStore,
  valueOf,
  write,
  type TemporaryStore,
} from '../../../test/support/cache-fixture';
import { FaultyStore } from '../../../test/support/faulty-store';
import type { KubeObject } from '../../api/object';
import { CompactedError, type Revision } from '../store';
import {
  SlowWatcherError,
  type CacheEvent,
  type FieldInterest,
  type RegistryCache,
  type ResourceCache,
  type ResourceSnapshot,
  type WatchInterest,
} from './cache';
import { findInconsistencies } from './consistency';
import { startRegistryCache } from './registry-cache';

/**
 * Random writes, watches of all and of some from every revision, snapshots of every revision, breaks, compaction and restarts, compared with
 * the history that was written (field notes: replay as ground truth, the watch checks of etcd's robustness suite).
 */

const RESOURCES = ['pods', 'services/specs'] as const;
type ResourceName = (typeof RESOURCES)[number];

/** What a client watches: everything, one object, one namespace, or what a field of the objects says. */
const ABOUT = ['all', 'a', 'ns/b', 'ns/', 'even', 'odd'] as const;
type About = (typeof ABOUT)[number];

type Step =
  | { readonly do: 'write'; readonly resource: ResourceName; readonly name: string; readonly delete: boolean }
  | { readonly do: 'writes'; readonly names: readonly string[] }
  | { readonly do: 'write elsewhere' | 'break' | 'restart' | 'wait' | 'hold' | 'release' }
  | { readonly do: 'compact'; readonly back: number }
  | { readonly do: 'watch'; readonly resource: ResourceName; readonly back: number; readonly about: About }
  | { readonly do: 'read'; readonly resource: ResourceName; readonly back: number };

interface Written {
  readonly resource: ResourceName;
  readonly key: string;
  readonly revision: Revision;
  readonly type: 'put' | 'delete';
  readonly previous: Revision | undefined;
  /** The number that the object had after the write, or at last, and before. */
  readonly numbers: readonly number[];
}

const numberOf = ({ metadata }: KubeObject): number => Number(metadata.labels?.['n']);
const parityOf = (number: number): string => (number % 2 === 0 ? 'even' : 'odd');
const isField = (about: About): boolean => about === 'even' || about === 'odd';

const PARITY: FieldInterest = {
  by: 'field',
  label: 'parity',
  read: (object) => parityOf(numberOf(object)),
  value: 'even',
  isIndexed: true,
};

function isAbout(about: About, key: string, numbers: readonly number[]): boolean {
  if (about === 'all') return true;
  if (isField(about)) return numbers.some((number) => parityOf(number) === about);
  return about.endsWith('/') ? key.includes(`/${about}`) : key.endsWith(`/${about}`);
}

const name = fc.constantFrom('a', 'ns/b', 'ns/c', 'z');
const resource = fc.constantFrom(...RESOURCES);
const back = fc.nat({ max: 12 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 10, arbitrary: fc.record({ do: fc.constant('write' as const), resource, name, delete: fc.boolean() }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('writes' as const), names: fc.uniqueArray(name, { minLength: 2 }) }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('watch' as const), resource, back, about: fc.constantFrom(...ABOUT) }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('read' as const), resource, back }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('compact' as const), back }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom(
        'write elsewhere' as const,
        'break' as const,
        'restart' as const,
        'wait' as const,
        'hold' as const,
        'release' as const,
      ),
    }),
  },
);

/** A client that watches, resumes where it was when its watch ends, and stops when history is gone. */
class Client {
  readonly events: CacheEvent[] = [];
  compacted = false;
  private readonly stopped = new AbortController();
  private readonly running: Promise<void>;

  constructor(
    readonly resource: ResourceName,
    readonly from: Revision,
    readonly about: About,
    private readonly interest: WatchInterest | undefined,
    private readonly current: () => ResourceCache | undefined,
  ) {
    this.running = this.run();
  }

  get seen(): Revision {
    return this.events[this.events.length - 1]?.revision ?? this.from;
  }

  private wants({ entry, previous }: CacheEvent): boolean {
    const numbers = [entry, ...(previous === undefined ? [] : [previous])].map(({ object }) => numberOf(object));
    return isAbout(this.about, entry.key, numbers);
  }

  async stop(): Promise<void> {
    this.stopped.abort();
    await this.running;
  }

  private async run(): Promise<void> {
    const { signal } = this.stopped;
    while (!signal.aborted && !this.compacted) {
      try {
        const watch = this.current()?.watch(this.seen, signal, this.interest) ?? [];
        for await (const { events } of watch) this.events.push(...events.filter((event) => this.wants(event)));
      } catch (error) {
        if (error instanceof CompactedError) this.compacted = true;
        else if (!(error instanceof SlowWatcherError) && !/connection was lost/.test(String(error))) throw error;
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

function interestOf(about: About, keyPrefix: string): WatchInterest | undefined {
  if (about === 'all') return undefined;
  if (!isField(about)) return { by: 'key', key: keyPrefix + about };
  return { ...PARITY, value: about };
}

class Run {
  private readonly history: Written[] = [];
  private readonly clients: Client[] = [];
  private cache: RegistryCache | undefined;
  private resources = new Map<ResourceName, ResourceCache>();
  private release: () => void = () => undefined;
  private revision = 0 as Revision;
  constructor(
    private readonly store: FaultyStore,
    /** Each run has its own part of the store. */
    private readonly prefix: string,
    private readonly historyEvents: number,
    /** Before `revision`, nothing is promised, in this run and the next ones. */
    private readonly compaction: { revision: number },
  ) {}

  async start(): Promise<void> {
    this.cache = await startRegistryCache(this.store, {
      prefix: this.prefix,
      historyEvents: this.historyEvents,
      pageSize: 2,
    });
    for (const declared of RESOURCES) this.resources.set(declared, this.cache.register(declared, decoderOf('Thing')));
    this.revision = this.cache.revision;
  }

  async take(next: Step): Promise<void> {
    switch (next.do) {
      case 'write':
        return this.write(next.resource, next.name, next.delete);
      case 'writes':
        await Promise.all(next.names.map((written) => this.write('pods', written, false)));
        return;
      case 'write elsewhere':
        this.revision = await write(this.store, `elsewhere${this.prefix}`, Buffer.from('x'));
        return;
      case 'break':
        return this.store.breakWatches();
      case 'hold':
        this.release();
        this.release = this.store.holdWatches();
        return;
      case 'release':
        return this.release();
      case 'wait':
        return this.catchUp();
      case 'restart':
        this.resources.clear();
        await this.cache?.close();
        return this.start();
      case 'compact': {
        const revision = Math.max(1, this.revision - next.back) as Revision;
        await this.store.compact(revision);
        this.compaction.revision = Math.max(this.compaction.revision, revision);
        return;
      }
      case 'watch': {
        const from = this.someRevision(next.back);
        const current = (): ResourceCache | undefined => this.resources.get(next.resource);
        const interest = interestOf(next.about, `${this.prefix}${next.resource}/`);
        this.clients.push(new Client(next.resource, from, next.about, interest, current));
        return;
      }
      case 'read':
        return this.checkSnapshot(next.resource, this.someRevision(next.back));
    }
  }

  async finish(): Promise<void> {
    await this.catchUp();
    for (const client of this.clients) {
      const wanted = this.history.filter(
        ({ resource: of, revision, key, numbers }) =>
          of === client.resource && revision > client.from && isAbout(client.about, key, numbers),
      );
      const patience = Date.now() + 5_000;
      while (!client.compacted && client.events.length < wanted.length && Date.now() < patience) {
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
      await client.stop();
      this.checkEvents(client, wanted);
    }
    for (const declared of RESOURCES) {
      const cached = this.resources.get(declared) as ResourceCache;
      expect(await findInconsistencies(this.store, cached, this.prefix + declared + '/')).toEqual([]);
      const patience = Date.now() + 5_000;
      while (!this.checkIndex(cached.snapshot(), `${this.prefix}${declared}/`) && Date.now() < patience) {
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect(this.checkIndex(cached.snapshot(), `${this.prefix}${declared}/`)).toBe(true);
      for (let behind = 0; behind < 30; behind++) this.checkSnapshot(declared, this.someRevision(behind));
    }
  }

  async close(): Promise<void> {
    this.release();
    for (const client of this.clients) await client.stop();
    await this.cache?.close();
  }

  private async write(into: ResourceName, written: string, remove: boolean): Promise<void> {
    const key = `${this.prefix}${into}/${written}`;
    const previous = (await this.store.get(key))?.revision;
    if (remove && previous === undefined) return;
    const number = this.history.length;
    const value = remove ? undefined : valueOf('Thing', { name: written, labels: { n: String(number) } });
    const revision = await write(this.store, key, value);
    const before = this.history.findLast(
      (event) => event.key === key && event.type === 'put' && previous !== undefined,
    );
    const numbers = [...(remove ? [] : [number]), ...(before?.numbers.slice(0, 1) ?? [])];
    this.history.push({ resource: into, key, revision, type: remove ? 'delete' : 'put', previous, numbers });
    this.history.sort((a, b) => a.revision - b.revision);
    this.revision = Math.max(this.revision, revision) as Revision;
  }

  /** Lets memory see everything, through whatever broke. */
  private async catchUp(): Promise<void> {
    this.release();
    const cache = this.cache as RegistryCache;
    expect(await cache.waitFor(await cache.currentRevision(), 10_000)).toBe(true);
  }

  private someRevision(behind: number): Revision {
    return Math.max(1, this.revision - behind) as Revision;
  }

  /** A snapshot, when there is one, is the state that was written; the newest state is always there. */
  private checkSnapshot(of: ResourceName, revision: Revision): void {
    const cached = this.resources.get(of) as ResourceCache;
    for (const snapshot of [cached.snapshot(), cached.snapshotAt(revision)]) {
      if (snapshot === undefined) continue;
      const state = new Map<string, Revision>();
      for (const event of this.history) {
        if (event.resource !== of || event.revision > snapshot.revision) continue;
        if (event.type === 'put') state.set(event.key, event.revision);
        else state.delete(event.key);
      }
      const found = [...snapshot.entries(`${this.prefix}${of}/`)].map((entry) => [entry.key, entry.revision]);
      expect(found).toEqual([...state].sort(([a], [b]) => (a < b ? -1 : 1)));
      expect(snapshot.count(`${this.prefix}${of}/`)).toBe(state.size);
      this.checkIndex(snapshot, `${this.prefix}${of}/`);
    }
    if (revision === cached.snapshot().revision) expect(cached.snapshotAt(revision)).toBeDefined();
  }

  /** An index, where there is one, gives what looking through all entries finds. */
  private checkIndex(snapshot: ResourceSnapshot, keyPrefix: string): boolean {
    let isThere = true;
    for (const value of ['even', 'odd']) {
      for (const prefix of [keyPrefix, `${keyPrefix}ns/`]) {
        const indexed = snapshot.withField({ ...PARITY, value }, prefix);
        const all = [...snapshot.entries(prefix)].filter(({ object }) => PARITY.read(object) === value);
        if (indexed === undefined) isThere = false;
        else expect(indexed).toEqual(all);
      }
    }
    return isThere;
  }

  private checkEvents(client: Client, wanted: readonly Written[]): void {
    // Without history a client has seen everything up to where it stopped; then it lists anew.
    const expected = client.compacted ? wanted.filter((event) => event.revision <= client.seen) : wanted;
    if (client.compacted) expect(client.seen).toBeLessThan(this.compaction.revision);
    expect(client.events.map(seenEvent)).toEqual(
      expected.map(({ type, key, revision, previous }) => ({ type, key, revision, previous })),
    );
  }
}

function seenEvent({ type, entry, previous, revision }: CacheEvent): object {
  expect(entry.revision).toBe(revision);
  expect(entry.object.metadata.resourceVersion).toBe(String(revision));
  if (type === 'delete') expect(entry.labels).toEqual(previous?.labels);
  return { type, key: entry.key, revision, previous: previous?.revision };
}

describe('the cache, compared with what was written', () => {
  let temporary: TemporaryStore;
  beforeAll(async () => (temporary = await openTemporaryStore()));
  afterAll(() => temporary[Symbol.asyncDispose]());

  it('misses, doubles and reorders no event, and shows every state as it was', async () => {
    let runs = 0;
    const compaction = { revision: 0 };
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 5, maxLength: 40 }),
        fc.constantFrom(2, 8, 1000),
        async (steps, historyEvents) => {
          const run = new Run(new FaultyStore(temporary.store), `/registry-${runs++}/`, historyEvents, compaction);
          await run.start();
          try {
            for (const next of steps) await run.take(next);
            await run.finish();
          } finally {
            await run.close();
          }
        },
      ),
      { numRuns: 60, endOnFailure: true },
    );
  }, 120_000);
});
