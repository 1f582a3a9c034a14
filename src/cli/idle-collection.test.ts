import { execFileSync } from 'node:child_process';
import { beginCollection, IdleCollection } from './idle-collection';

const MIB = 1024 * 1024;

describe('a collection of garbage in idle times', () => {
  const look = (collection: IdleCollection, mib: number, utilization = 0): boolean =>
    collection.isDue({ usedBytes: mib * MIB, utilization });

  it('is due when much more is used than after the last one', () => {
    const collection = new IdleCollection();
    expect([50, 60, 65, 66].map((mib) => look(collection, mib))).toEqual([false, false, false, true]);
  });

  it('is not due while the server is at work: V8 collects by itself then', () => {
    const collection = new IdleCollection();
    look(collection, 50);
    expect([look(collection, 300, 0.5), look(collection, 300, 0.1), look(collection, 300, 0.09)]).toEqual([
      false,
      false,
      true,
    ]);
  });

  it('is not asked for again because of what is no garbage', () => {
    const collection = new IdleCollection();
    look(collection, 50);
    expect([300, 300, 290, 310, 360, 363].map((mib) => look(collection, mib))).toEqual([
      true,
      false,
      false,
      false,
      false,
      true,
    ]);
  });

  it('is worth a quarter of what there is to look through', () => {
    const collection = new IdleCollection();
    look(collection, 1000);
    expect([1249, 1251].map((mib) => look(collection, mib))).toEqual([false, true]);
  });
});

it('none begins where the process may have no more addresses, and nothing fails for that', () => {
  const allocate = jest.spyOn(globalThis, 'ArrayBuffer').mockImplementation(() => {
    throw new RangeError('Array buffer allocation failed');
  });
  try {
    expect(beginCollection).not.toThrow();
    expect(allocate).toHaveBeenCalledTimes(1);
  } finally {
    allocate.mockRestore();
  }
});

/** Some 80 MB of old objects become garbage, and nothing is allocated any more. Prints what is left of them some seconds later. */
const LEAVES_GARBAGE = (hook: string, module: string): string => `
  require(${JSON.stringify(hook)});
  const { collectWhenIdle } = require(${JSON.stringify(module)});
  collectWhenIdle(100);
  const used = () => process.memoryUsage().heapUsed / 1048576;
  setTimeout(() => {
    let garbage = [];
    for (let i = 0; i < 1000000; i++) garbage.push({ i, text: 'x' + i });
    const most = used();
    garbage = undefined;
    setTimeout(() => console.log(JSON.stringify([most, used()])), 3000);
  }, 500);
`;

it('V8 begins one when it is asked to, on this release of Node.js', () => {
  const program = LEAVES_GARBAGE(
    require.resolve('../../test/support/typescript-hook.js'),
    require.resolve('./idle-collection'),
  );
  const [most, left] = JSON.parse(execFileSync(process.execPath, ['-e', program], { encoding: 'utf8' })) as [
    number,
    number,
  ];
  expect(most).toBeGreaterThan(40);
  expect(left).toBeLessThan(most / 2);
});
