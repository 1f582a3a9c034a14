import { once } from 'node:events';
import type { Socket } from 'node:net';

/** How often a method of the sockets' handles is called in each turn of the event loop, until all have closed or finished. */
export async function countTurns(
  sockets: readonly Socket[],
  method: 'shutdown' | 'close',
  act: () => void,
): Promise<readonly number[]> {
  const turns = [0];
  for (const socket of sockets) {
    const handle = (socket as unknown as { _handle: Record<typeof method, (argument: unknown) => number> })._handle;
    const original = handle[method].bind(handle);
    handle[method] = (argument) => {
      turns[turns.length - 1]! += 1;
      return original(argument);
    };
  }
  const closed = sockets.map((socket) => once(socket, method === 'close' ? 'close' : 'finish'));
  let isOver = false;
  const turn = (): void => {
    turns.push(0);
    if (!isOver) setImmediate(turn);
  };
  turn();
  act();
  await Promise.all(closed);
  isOver = true;
  return turns;
}
