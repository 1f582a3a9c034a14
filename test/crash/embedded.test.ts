import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbeddedStore } from '../../src/storage/embedded/embedded-store';
import type { Revision, Store, StoreEvent } from '../../src/storage/store';

/** How often the writer is killed; STERNPOST_CRASHES sets more. */
const CRASHES = Number(process.env['STERNPOST_CRASHES'] ?? 10);
const SECONDS_PER_CRASH = 10;
/** See crash-points.js. */
const CRASH_POINTS = [
  'before a commit',
  'in the middle of a commit',
  'after a commit that nobody has heard of',
  'before a step of a compaction',
  'in the middle of a step of a compaction',
  'after a step of a compaction',
];
/** A crash point comes well before. */
const LONG_MS = 20_000;

interface Acknowledged {
  readonly revision: number;
  readonly key: string;
  /** Undefined: deleted. */
  readonly text: string | undefined;
}

const value = (text: string): string => `${text}${'.'.repeat((text.length * 397) % 6000)}|`;

describe('an embedded store whose process is killed', () => {
  let folder: string;
  let path: string;
  const newest = new Map<string, Acknowledged>();
  let highest = 0;
  let crashes = 0;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sternpost-crash-'));
    path = join(folder, 'store.db');
  });

  afterAll(async () => {
    await rm(folder, { recursive: true });
  });

  async function crashAndCheck(lifetime: Lifetime): Promise<void> {
    const { openedAt, writes } = await writeUntilKilled(path, crashes++, lifetime);
    expect(openedAt).toBeGreaterThanOrEqual(highest);
    expect(writes.filter((write) => write.revision <= openedAt)).toEqual([]);
    for (const write of writes) {
      const known = newest.get(write.key);
      if (known === undefined || known.revision < write.revision) newest.set(write.key, write);
      highest = Math.max(highest, write.revision);
    }
    const store = await openEmbeddedStore({ path, compactionIntervalMs: 3_600_000 });
    try {
      expect(await store.currentRevision()).toBeGreaterThanOrEqual(highest);
      expect(await contentProblems(store, newest)).toEqual([]);
      expect(await historyProblems(store, writes)).toEqual([]);
      highest = await store.currentRevision();
    } finally {
      await store.close();
    }
  }

  it(
    'has every acknowledged write, none in half, and a consistent history',
    async () => {
      for (let crash = 0; crash < CRASHES; crash++) await crashAndCheck({ lifetimeMs: 20 + Math.random() * 200 });
      expect(newest.size).toBeGreaterThan(0);
    },
    CRASHES * SECONDS_PER_CRASH * 1000,
  );

  it.each(CRASH_POINTS)('has them also when that happens %s', async (name) => {
    const started = performance.now();
    await crashAndCheck({ lifetimeMs: LONG_MS, crashPoint: [name, 5 + Math.floor(Math.random() * 40)] });
    expect(performance.now() - started).toBeLessThan(LONG_MS);
  });
});

interface Lifetime {
  /** After its first acknowledgement the writer is killed when so much time has passed. */
  readonly lifetimeMs: number;
  /** Or earlier, by itself, at this point of its code. */
  readonly crashPoint?: readonly [name: string, commitsBefore: number];
}

/** Runs the writer until its end, and says what it had acknowledged. */
async function writeUntilKilled(
  path: string,
  round: number,
  { lifetimeMs, crashPoint }: Lifetime,
): Promise<{ readonly openedAt: number; readonly writes: readonly Acknowledged[] }> {
  const arguments_ = [join(__dirname, 'writer-child.js'), path, String(round), ...(crashPoint ?? []).map(String)];
  const child = spawn(process.execPath, arguments_, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  let timer: NodeJS.Timeout | undefined;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    timer ??= setTimeout(() => child.kill('SIGKILL'), lifetimeMs);
    output += text;
  });
  await once(child, 'close');
  clearTimeout(timer);
  const [opening, ...lines] = output.split('\n').slice(0, -1);
  if (opening === undefined) throw new Error('the writer ended before it had opened the store');
  const writes = lines.map((line) => {
    const [revision, key, text] = line.split(' ') as [string, string, string];
    return { revision: Number(revision), key, text: text === '-' ? undefined : text };
  });
  return { openedAt: Number(opening.split(' ')[1]), writes };
}

/** What stands there is what was acknowledged last, or was written after it and never acknowledged. */
async function contentProblems(store: Store, newest: ReadonlyMap<string, Acknowledged>): Promise<readonly string[]> {
  const problems: string[] = [];
  const list = await store.list({ prefix: '/crash/' });
  if (!list.ok) throw new Error(list.reason);
  const listed = new Map(list.items.map((item) => [item.key, item]));
  for (const { key, value: content, revision } of list.items) {
    const text = content.toString();
    if (text !== value(text.replace(/\.*\|$/, ''))) problems.push(`${key} holds half a value`);
    const stored = await store.get(key);
    if (stored?.revision !== revision || !stored.value.equals(content))
      problems.push(`${key} reads other than it lists`);
  }
  for (const { key, revision, text } of newest.values()) {
    const item = listed.get(key);
    if (item === undefined) {
      // A delete that nobody was told of is the only excuse.
      if (text !== undefined && list.revision <= revision) problems.push(`${key} is lost`);
    } else if (item.revision < revision) problems.push(`${key} is older than what was acknowledged`);
    else if (item.revision === revision && (text === undefined || item.value.toString() !== value(text))) {
      problems.push(`${key} is not what was acknowledged`);
    }
  }
  return problems;
}

/** Replays what is left of the history, and compares it with the acknowledgements and with the content. */
async function historyProblems(store: Store, writes: readonly Acknowledged[]): Promise<readonly string[]> {
  const problems: string[] = [];
  const events = await eventsUpTo(store, await store.currentRevision());
  const byRevision = new Map(events.map((event) => [event.revision as number, event]));
  const oldest = events[0]?.revision ?? Infinity;
  for (const { revision, key, text } of writes) {
    if (revision < oldest) continue;
    const event = byRevision.get(revision);
    const expected = text === undefined ? undefined : value(text);
    if (event?.key !== key || (event.type === 'put' ? event.value.toString() : undefined) !== expected) {
      problems.push(`the event of ${revision} is not the write that was acknowledged`);
    }
  }

  const last = new Map<string, StoreEvent>();
  let reached = 0;
  for (const event of events) {
    if (event.revision <= reached) problems.push(`${event.revision} follows ${reached}`);
    reached = event.revision;
    const before = last.get(event.key);
    const previous = before?.type === 'put' ? before.revision : undefined;
    if (before !== undefined && event.previous?.revision !== previous) {
      problems.push(`${event.revision} does not know its predecessor ${before.revision}`);
    }
    last.set(event.key, event);
  }
  for (const event of last.values()) {
    const stored = await store.get(event.key);
    if (stored?.revision !== (event.type === 'put' ? event.revision : undefined)) {
      problems.push(`${event.key} is not what its last event says`);
    }
  }
  return problems;
}

async function eventsUpTo(store: Store, current: Revision): Promise<readonly StoreEvent[]> {
  const events: StoreEvent[] = [];
  const start = await firstReadable(store, current);
  if (start === current) return events;
  const abort = new AbortController();
  for await (const batch of store.watch('/crash/', start, abort.signal)) {
    events.push(...batch.events);
    if (batch.revision >= current) abort.abort();
  }
  return events;
}

/** The oldest revision whose state can be listed. */
async function firstReadable(store: Store, current: Revision): Promise<Revision> {
  let low = 1;
  let high: number = current;
  while (low < high) {
    const middle = (low + high) >> 1;
    const list = await store.list({ prefix: '/crash/', limit: 1, revision: middle as Revision });
    if (list.ok) high = middle;
    else low = middle + 1;
  }
  return low as Revision;
}
