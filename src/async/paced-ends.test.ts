import type { Socket } from 'node:net';
import { countTurns } from '../../test/support/count-turns';
import { SocketPairs } from '../../test/support/socket-pairs';
import { PacedEnds } from './paced-ends';

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
