import { commitQuietly } from './quiet-commit';

const LMDB_ERROR = Object.assign(new Error('Input/output error'), { code: 5 });
const NODE_ERROR = Object.assign(new Error('no such file'), { code: 'ENOENT' });

describe('while a commit is under way', () => {
  let printed: unknown[][];

  beforeEach(() => {
    printed = [];
    jest.spyOn(console, 'error').mockImplementation((...values) => void printed.push(values));
  });

  afterEach(() => jest.restoreAllMocks());

  it('errors as LMDB’s are not printed, and everything else is', async () => {
    await commitQuietly(async () => {
      console.error(LMDB_ERROR);
      console.error(NODE_ERROR);
      console.error('said of it:', LMDB_ERROR);
    });
    expect(printed).toEqual([[NODE_ERROR], ['said of it:', LMDB_ERROR]]);
  });

  it('and only then, however it ends', async () => {
    const failure = new Error('it failed');
    await expect(commitQuietly(() => Promise.reject(failure))).rejects.toBe(failure);
    console.error(LMDB_ERROR);
    expect(printed).toEqual([[LMDB_ERROR]]);
  });

  it('and until the last of several is over', async () => {
    let end: () => void = () => undefined;
    const first = commitQuietly(() => new Promise<void>((resolve) => (end = resolve)));
    await commitQuietly(async () => undefined);
    console.error(LMDB_ERROR);
    end();
    await first;
    console.error(LMDB_ERROR);
    expect(printed).toEqual([[LMDB_ERROR]]);
  });

  it('what others put around it stays', async () => {
    await commitQuietly(async () => {
      const ours = console.error;
      console.error = (...values) => ours('theirs', ...values);
    });
    await commitQuietly(async () => console.error(NODE_ERROR));
    console.error('later');
    expect(printed).toEqual([
      ['theirs', NODE_ERROR],
      ['theirs', 'later'],
    ]);
  });
});
