import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Revision } from '../store';
import type { CacheEntry, CacheEvent } from './cache';
import { EventHistory } from './event-history';
import { EventLog } from './event-log';

function event(revision: number, bytes = 0): CacheEvent {
  const entry = { size: bytes, forget: () => undefined } as CacheEntry;
  return { type: 'put', revision: revision as Revision, entry, previous: entry };
}

const FORMER = Array.from({ length: 100 }, (_, index) => index + 1);

/** Deletions, and the revisions of those whose states have been forgotten. */
function deletions() {
  const forgotten: string[] = [];
  const entryOf = (name: string): CacheEntry => ({ size: 1, forget: () => void forgotten.push(name) }) as CacheEntry;
  const deletion = (revision: number): CacheEvent => ({
    type: 'delete',
    revision: revision as Revision,
    entry: entryOf(`last ${revision}`),
    previous: entryOf(`previous ${revision}`),
  });
  return { forgotten, deletion };
}

function logs(limits: { historyMs?: number; events?: number; bytes?: number }) {
  const history = new EventHistory({ historyMs: 1000, events: 1000, bytes: 1_000_000, ...limits });
  const [a, b] = [new EventLog(0 as Revision), new EventLog(0 as Revision)];
  const append = (log: EventLog, atMs: number, ...events: CacheEvent[]): void => {
    const revision = events[events.length - 1]?.revision ?? (0 as Revision);
    history.add(log, log.append({ events, revision }, atMs));
    history.trim(atMs);
  };
  return { a, b, append, history };
}

describe('EventHistory', () => {
  it('drops the oldest of all resources when there are too many events', () => {
    const { a, b, append } = logs({ events: 3 });
    append(a, 0, event(1));
    append(b, 0, event(2), event(3));
    expect([a.floor, b.floor]).toEqual([0, 0]);
    append(b, 0, event(4));
    expect([a.floor, b.floor]).toEqual([1, 0]);
    append(b, 0, event(5));
    expect([a.floor, b.floor]).toEqual([1, 3]);
    expect(b.seek(3 as Revision)).toBe(1);
    expect(b.at(0)).toBeUndefined();
  });

  it('drops what is too old or too large', () => {
    const old = logs({ historyMs: 10 });
    old.append(old.a, 0, event(1));
    old.append(old.a, 10, event(2));
    expect(old.a.floor).toBe(0);
    old.append(old.a, 11, event(3));
    expect(old.a.floor).toBe(1);
    const large = logs({ bytes: 10_000 });
    large.append(large.a, 0, event(1, 6_000));
    large.append(large.a, 0, event(2, 6_000));
    expect(large.a.floor).toBe(1);
  });

  it('drops much that is too old in several steps', () => {
    const { a, append } = logs({ historyMs: 10, events: 10_000 });
    for (let revision = 1; revision <= 5_000; revision++) append(a, 0, event(revision));
    append(a, 100, event(5_001));
    expect(a.floor).toBeGreaterThan(0);
    expect(a.floor).toBeLessThan(5_000);
    for (let revision = 5_002; revision <= 5_005; revision++) append(a, 100, event(revision));
    expect(a.floor).toBe(5_000);
  });

  it('keeps positions while it drops many', () => {
    const { a, append } = logs({ events: 10 });
    for (let i = 1; i <= 1000; i++) {
      append(a, 0, event(i));
      expect(a.end).toBe(i);
      expect(a.end - a.base).toBeLessThanOrEqual(10);
      expect(a.at(a.end - 1)?.batch.revision).toBe(i);
    }
    expect(a.floor).toBe(990);
    expect(a.seek(995 as Revision)).toBe(995);
  });

  it('keeps former states parsed only of the newest events, and of none that are dropped', () => {
    const { a, append } = logs({});
    const { forgotten, deletion } = deletions();
    for (const revision of FORMER) append(a, 0, deletion(revision));
    const kept = FORMER.filter((revision) => !forgotten.includes(`last ${revision}`));
    expect(kept.length).toBeLessThanOrEqual(16);
    expect(kept).toEqual(FORMER.slice(-kept.length));
    append(a, 10_000, deletion(101));
    expect(forgotten).toEqual(expect.arrayContaining(FORMER.map((revision) => `previous ${revision}`)));
  });

  it('lets go of a log that is given up, at once, and goes on with the others', () => {
    const { a, b, append, history } = logs({ events: 5 });
    const { forgotten, deletion } = deletions();
    append(a, 0, deletion(1), deletion(2));
    append(b, 0, event(3));
    append(a, 0, deletion(4));
    history.release(a);
    expect(history.size.events).toBe(1);
    expect(forgotten.filter((name) => name.startsWith('last'))).toEqual(['last 1', 'last 2', 'last 4']);
    expect(a.at(0)).toBeUndefined();
    for (const revision of [5, 6, 7, 8, 9]) append(b, 0, event(revision));
    expect(history.size.events).toBe(5);
    expect(b.floor).toBe(3);
    append(b, 10_000, event(10));
    expect(history.size.events).toBe(1);
    history.release(b);
    expect(history.size).toEqual({ events: 0, bytes: 0 });
  });

  it('keeps nothing of what it has dropped', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const { a, append } = logs({ events: 1 });
    const references: WeakRef<CacheEvent>[] = [];
    for (let revision = 1; revision <= 10; revision++) {
      const one = event(revision);
      references.push(new WeakRef(one));
      append(a, 0, one);
    }
    // Who has asked for a WeakRef's object keeps it until the next turn.
    await new Promise((resolve) => setImmediate(resolve));
    collect();
    expect(references.slice(0, -2).filter((reference) => reference.deref() !== undefined)).toEqual([]);
    expect(references.at(-1)!.deref()).toBeDefined();
    expect(a.floor).toBe(9);
  });
});
