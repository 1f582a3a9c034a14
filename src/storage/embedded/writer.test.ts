import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LmdbFile } from './database';
import { GroupCommitWriter } from './writer';
import type { StoreEvent, WriteOutcome } from '../store';

describe('the group commit', () => {
  let folder: string;
  let file: LmdbFile;
  let writer: GroupCommitWriter;
  let published: StoreEvent[];
  let commits: number;
  let diskIsFull: boolean;
  let hasRoom: boolean;
  let settledBytes: number;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sternpost-writer-'));
    file = await LmdbFile.open(join(folder, 'store.db'));
    published = [];
    commits = 0;
    diskIsFull = false;
    const disk = {
      tables: file.tables,
      state: () => file.state(),
      commit: async (...batch: Parameters<LmdbFile['commit']>) => {
        commits++;
        if (diskIsFull) throw new Error('no space left');
        await file.commit(...batch);
      },
    };
    hasRoom = true;
    settledBytes = 0;
    writer = new GroupCommitWriter(disk, {
      clock: Date.now,
      publish: (events) => published.push(...events),
      space: {
        admit: () => {
          if (!hasRoom) throw new Error('no room');
          return 1;
        },
        settled: (bytes) => {
          settledBytes += bytes;
        },
        explain: (error) => error,
      },
    });
  });

  afterEach(async () => {
    await writer.drained();
    await file.close();
    await rm(folder, { recursive: true });
  });

  const create = (key: string): Promise<WriteOutcome> =>
    writer.write({ key, value: Buffer.from(key), expected: undefined });

  it('commits together what comes together', async () => {
    await Promise.all(Array.from({ length: 100 }, (_, index) => create(`/${index}`)));
    expect(commits).toBe(1);
    expect(published.map((event) => event.key)).toEqual(Array.from({ length: 100 }, (_, index) => `/${index}`));
  });

  it('decides writes of one batch on top of each other', async () => {
    const created = create('/a');
    const again = create('/a');
    const outcome = await created;
    if (!outcome.ok) throw new Error('lost');
    expect(await again).toMatchObject({ ok: false, current: { key: '/a', revision: outcome.revision } });
    const deletes = [1, 2].map(() => writer.write({ key: '/a', value: undefined, expected: outcome.revision }));
    expect(await Promise.all(deletes)).toEqual([
      { ok: true, revision: outcome.revision + 1 },
      { ok: false, current: undefined },
    ]);
  });

  it('fails all that rests on a failed commit, publishes none of it, and recovers', async () => {
    diskIsFull = true;
    const outcomes = await Promise.allSettled([create('/a'), create('/a'), create('/b')]);
    expect(outcomes.map((outcome) => outcome.status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(writer.failure).toEqual(new Error('no space left'));
    expect(published).toEqual([]);
    expect(settledBytes).toBe(2);
    diskIsFull = false;
    expect(await create('/a')).toMatchObject({ ok: true });
    expect(writer.failure).toBeUndefined();
    expect(published.map((event) => event.key)).toEqual(['/a']);
  });

  it('refuses what there is no room for before it is decided, but not deletions', async () => {
    const outcome = await create('/a');
    if (!outcome.ok) throw new Error('lost');
    hasRoom = false;
    await expect(create('/b')).rejects.toThrow('no room');
    expect(await create('/a')).toMatchObject({ ok: false });
    const removed = await writer.write({ key: '/a', value: undefined, expected: outcome.revision });
    expect(removed).toEqual({ ok: true, revision: outcome.revision + 1 });
  });

  it('never gives out a revision twice, not even one that failed', async () => {
    await create('/a');
    const before = file.state().revision;
    diskIsFull = true;
    await expect(create('/b')).rejects.toThrow('no space left');
    diskIsFull = false;
    expect(await create('/b')).toEqual({ ok: true, revision: before + 2 });
  });

  it('publishes a batch once, also when a reader sees it before its commit is reported', async () => {
    const written = create('/a');
    const revision = await new Promise<number>((resolve) => {
      const look = (): void => {
        const state = file.state();
        writer.noteVisible(state.revision);
        if (published.length > 0) resolve(state.revision);
        else setImmediate(look);
      };
      look();
    });
    expect(await written).toEqual({ ok: true, revision });
    expect(published).toHaveLength(1);
  });
});
