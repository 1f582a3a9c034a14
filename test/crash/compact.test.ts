import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbeddedStore } from '../../src/storage/embedded/embedded-store';
import type { Store } from '../../src/storage/store';

const CHILD = join(__dirname, 'compact-child.js');
const KEYS = 40;
/** Several transactions' worth. */
const VALUE_BYTES = 600_000;

describe('compacting the file of an embedded store in a process that is killed', () => {
  let folder: string;
  let path: string;
  let before: readonly string[];
  let largest: number;

  /** Each key with its revision and the hash of its value. */
  const contentOf = async (store: Store): Promise<readonly string[]> => {
    const list = await store.list({ prefix: '/' });
    if (!list.ok) throw new Error(list.reason);
    return list.items.map(
      ({ key, revision, value }) => `${key} ${revision} ${createHash('sha256').update(value).digest('hex')}`,
    );
  };

  const state = async (): Promise<readonly string[]> => {
    const store = await openEmbeddedStore({ path, compactionIntervalMs: 3_600_000 });
    try {
      return await contentOf(store);
    } finally {
      await store.close();
    }
  };

  const compact = (...point: readonly string[]): ReturnType<typeof spawnSync> =>
    spawnSync(process.execPath, [CHILD, path, ...point], { encoding: 'utf8', timeout: 30_000, killSignal: 'SIGKILL' });

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sternpost-compact-'));
    path = join(folder, 'registry.mdb');
    const store = await openEmbeddedStore({ path });
    for (let round = 0; round < 2; round++) {
      for (let key = 0; key < KEYS; key++) {
        const value = Buffer.alloc(VALUE_BYTES, `${round}.${key} `);
        const current = await store.get(`/${key}`);
        await (current === undefined
          ? store.create(`/${key}`, value)
          : store.update(`/${key}`, value, current.revision));
      }
    }
    before = await contentOf(store);
    expect(before).toHaveLength(KEYS);
    await store.close();
    largest = (await stat(path)).size;
  }, 30_000);

  afterAll(() => rm(folder, { recursive: true }));

  it.each([
    ['while it writes the new file', '0'],
    ['while it writes the new file', '2'],
    ['before the new file is on the disk', '1'],
    ['before the new file takes the name of the old one', '0'],
    ['after the new file has taken the name of the old one', '0'],
  ])(
    '%s (%s) loses nothing',
    async (point, after) => {
      expect(compact(point, after)).toMatchObject({ signal: 'SIGKILL', stdout: '' });
      expect(await state()).toEqual(before);
      expect((await readdir(folder)).filter((name) => name.includes('compact'))).toEqual([]);
    },
    30_000,
  );

  it('does its work when it is left alone', async () => {
    expect(compact('never')).toMatchObject({ status: 0, stdout: 'compacted\n' });
    expect(await state()).toEqual(before);
    expect((await stat(path)).size).toBeLessThan(largest * 0.6);
  }, 30_000);
});
