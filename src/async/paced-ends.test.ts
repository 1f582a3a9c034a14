import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { countTurns } from '../../test/support/count-turns';
import { SocketPairs } from '../../test/support/socket-pairs';
import { pacedEnds, PacedEnds } from './paced-ends';

let pairs: SocketPairs;

beforeEach(async () => {
  pairs = await SocketPairs.listen();
  let now = performance.now();
  jest.spyOn(performance, 'now').mockImplementation(() => (now += 1));
});

afterEach(async () => {
  jest.restoreAllMocks();
  await pairs.close();
});

describe.each([
  ['are ended', 'shutdown', (socket: Socket) => socket.end()],
  ['are destroyed', 'close', (socket: Socket) => socket.destroy()],
] as const)('connections that %s at once', (_name, method, act) => {
  it('have their ends a few in a turn of the loop', async () => {
    const ends = new PacedEnds();
    const sockets: Socket[] = [];
    for (let count = 0; count < 100; count++) {
      const [near] = await pairs.pair();
      ends.pace(near);
      sockets.push(near);
    }
    const turns = await countTurns(sockets, method, () => sockets.forEach(act));
    expect(turns.reduce((sum, count) => sum + count, 0)).toBe(100);
    expect(Math.max(...turns)).toBeLessThan(10);
  });
});

describe('ends that wait', () => {
  const turnsFor = async (count: number): Promise<number> => {
    const ends = pacedEnds();
    let told = 0;
    for (let index = 0; index < count; index++) ends.wait('connection', () => void told++);
    let turns = 0;
    for (; told < count; turns++) await nextTurn();
    return turns;
  };

  it('are told the faster the more they are, as what they hold would grow otherwise', async () => {
    jest.spyOn(performance, 'now').mockReturnValue(0);
    const [few, many] = [await turnsFor(64), await turnsFor(6_400)];
    expect(few).toBeGreaterThanOrEqual(6);
    expect(many).toBeLessThan(20 * few);
  });
});
