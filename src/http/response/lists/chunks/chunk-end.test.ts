import fc from 'fast-check';
import type { CacheEntry } from '../../../../storage/cache/cache';
import { runEnd, type RunLengths } from './chunk-end';

const KIB = 1024;
const LENGTHS: RunLengths = { least: 32 * KIB, mean: 64 * KIB, most: 128 * KIB };

function entryOf(revision: number, bytes: number): CacheEntry {
  return { key: `k${revision}`, revision, body: { length: bytes } } as unknown as CacheEntry;
}

/** Entries of about `bytes` each, with revisions as they come when objects are changed in no order. */
function listOf(length: number, bytes: number, seed = 1): CacheEntry[] {
  return Array.from({ length }, (_, index) => entryOf(((index * 7919 + seed) % 1_000_003) + 1000, bytes + (index % 7)));
}

function runsOf(entries: readonly CacheEntry[]): CacheEntry[][] {
  const runs: CacheEntry[][] = [];
  for (let from = 0; from < entries.length;) {
    const to = runEnd(entries, from, LENGTHS);
    runs.push(entries.slice(from, to));
    from = to;
  }
  return runs;
}

const bytesOf = (run: readonly CacheEntry[]): number => run.reduce((sum, { body }) => sum + body.length, 0);
const nameOf = (run: readonly CacheEntry[]): string => run.map(({ revision }) => revision).join();

describe('runs of a list', () => {
  const lists = fc
    .array(fc.record({ revision: fc.nat(), bytes: fc.integer({ min: 1, max: 300 * KIB }) }), { maxLength: 200 })
    .map((entries) => entries.map(({ revision, bytes }) => entryOf(revision, bytes)));

  it('hold every entry once and in order', () =>
    fc.assert(fc.property(lists, (entries) => expect(runsOf(entries).flat()).toEqual(entries))));

  it('are neither short nor long, but for the last and for what a large entry adds', () =>
    fc.assert(
      fc.property(lists, (entries) => {
        const runs = runsOf(entries);
        for (const run of runs) expect(bytesOf(run.slice(0, -1))).toBeLessThan(128 * KIB);
        for (const run of runs.slice(0, -1)) expect(bytesOf(run)).toBeGreaterThanOrEqual(32 * KIB);
      }),
    ));

  it.each([200, 1500, 10_000])('are about 64 KiB of entries of %i bytes', (bytes) => {
    const entries = listOf(200_000 / Math.sqrt(bytes), bytes);
    const mean = bytesOf(entries) / runsOf(entries).length;
    expect(mean).toBeGreaterThan(48 * KIB);
    expect(mean).toBeLessThan(80 * KIB);
  });

  it.each<[string, (entries: CacheEntry[]) => CacheEntry[]]>([
    ['one entry changes', (entries) => entries.with(1500, entryOf(2_000_000, 1500))],
    ['one entry is deleted', (entries) => entries.toSpliced(1500, 1)],
    ['one entry is added', (entries) => entries.toSpliced(1500, 0, entryOf(2_000_000, 1500))],
    ['the list begins elsewhere', (entries) => entries.slice(500)],
    ['the list ends elsewhere', (entries) => entries.slice(0, 2500)],
    ['another list stands before it', (entries) => [...listOf(777, 900, 5_000), ...entries]],
  ])('are mostly the same when %s', (_what, change) => {
    for (let seed = 1; seed <= 20; seed++) {
      const entries = listOf(3000, 1500, seed * 31);
      const known = new Set(runsOf(entries).map(nameOf));
      const changed = change(entries);
      const own = new Set(entries);
      const runs = runsOf(changed).filter((run) => run.every((entry) => own.has(entry)));
      const strange = runs.filter((run) => !known.has(nameOf(run)));
      expect(strange.length).toBeLessThanOrEqual(8);
    }
  });
});
