import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CommitFailures, StoreWriteError } from './commit-failures';
import { LmdbFile, StoreFileError } from './database';
import { openEmbeddedStore } from './embedded-store';
import { StoreFullError, type SpaceReading } from './space-guard';
import type { Store } from '../store';

const IO_ERROR = Object.assign(new Error('Input/output error'), { code: 5 });
const NO_SPACE = Object.assign(new Error('No space left on device'), { code: 28 });
const READING: SpaceReading = { file: 0, inUse: 0, diskFree: 1e9 };

describe('a commit that failed', () => {
  let warnings: string[];
  let canRead: boolean;
  let lost: Error[];
  let failures: CommitFailures;

  beforeEach(() => {
    warnings = [];
    canRead = true;
    lost = [];
    failures = new CommitFailures('/nowhere/store.db', {
      space: {
        look: () => READING,
        failed: (message) => new StoreFullError({ cause: 'disk', message }),
      },
      read: () => {
        if (!canRead) throw new Error('MDB_PANIC');
      },
      warn: (message) => warnings.push(message),
      onLost: (error) => lost.push(error),
    });
  });

  const failed = (cause: Error): unknown =>
    failures.explain(new StoreFileError('/nowhere/store.db', `cannot write: ${cause.message}`, { cause }));

  it('for want of space is told so', () => {
    expect(failed(NO_SPACE)).toBeInstanceOf(StoreFullError);
    expect(warnings).toEqual([]);
  });

  it('of something else is told its writers one by one, and the operator once, even where the space cannot be looked at', () => {
    for (let count = 0; count < 3; count++) {
      expect(failed(IO_ERROR)).toMatchObject({
        publicMessage: 'the store cannot be written: the log of the server says why',
        isReported: true,
        isOutOfSpace: false,
      });
    }
    expect(warnings).toEqual([
      '/nowhere/store.db: cannot write: Input/output error; writes fail until it can be written, reads go on',
    ]);
  });

  it('and is followed by one that succeeds is told to be over, once', () => {
    failed(IO_ERROR);
    failures.succeeded();
    failures.succeeded();
    expect(warnings.slice(1)).toEqual(['/nowhere/store.db: can be written again: writes are taken']);
  });

  it('with which LMDB gives the file up is the last', () => {
    canRead = false;
    expect(failed(IO_ERROR)).toBe(failures.lost);
    expect(failed(IO_ERROR)).toBe(failures.lost);
    expect(lost).toEqual([failures.lost]);
    expect(failures.lost).toBeInstanceOf(StoreWriteError);
    expect(warnings).toEqual([
      '/nowhere/store.db: cannot write: Input/output error; the file has to be opened again: restart the server',
    ]);
  });
});

describe('an embedded store on a disk that fails', () => {
  let folder: string;
  let store: Store;
  let warnings: string[];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sternpost-failures-'));
    warnings = [];
    const logger = { warn: (_: object, message: string) => void warnings.push(message) };
    store = await openEmbeddedStore({ path: join(folder, 'store.db'), logger });
  });

  afterEach(async () => {
    jest.restoreAllMocks();
    await store.close();
    await rm(folder, { recursive: true, force: true });
  });

  function failCommits(): void {
    jest.spyOn(LmdbFile.prototype, 'commit').mockImplementation(async function (this: LmdbFile) {
      throw new StoreFileError(this.path, 'cannot write: Input/output error', { cause: IO_ERROR });
    });
  }

  const create = (key: string): Promise<unknown> => store.create(key, Buffer.from('value'));

  it('answers writes with an error, goes on reading, is not healthy, and writes again when that is possible', async () => {
    await create('/a');
    failCommits();
    await rm(folder, { recursive: true });
    await expect(create('/b')).rejects.toBeInstanceOf(StoreWriteError);
    await expect(create('/c')).rejects.toBeInstanceOf(StoreWriteError);
    await expect(store.health()).rejects.toBeInstanceOf(StoreWriteError);
    expect((await store.get('/a'))?.value.toString()).toBe('value');
    jest.restoreAllMocks();
    await store.health();
    expect(await create('/b')).toMatchObject({ ok: true });
    expect(warnings).toHaveLength(2);
  });

  it('asks nothing of LMDB any more once that has given the file up', async () => {
    const readState = jest.spyOn(LmdbFile.prototype, 'state');
    failCommits();
    readState.mockImplementation(() => {
      throw new Error('MDB_PANIC');
    });
    await expect(create('/b')).rejects.toThrow('restart the server');
    readState.mockClear();
    await expect(create('/b')).rejects.toThrow('restart the server');
    await expect(store.get('/a')).rejects.toThrow('restart the server');
    await expect(store.list({ prefix: '/' })).rejects.toThrow('restart the server');
    await expect(store.health()).rejects.toThrow('restart the server');
    expect(readState).not.toHaveBeenCalled();
  });
});
