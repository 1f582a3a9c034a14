import type { Socket } from 'node:net';
import type { MemoryHolder } from '../memory/memory-budget';
import { Backpressure } from './backpressure';
import { gatherWrites } from './gathered-writes';

/** How long one direction may go on in silence after the other has ended. */
const HALF_CLOSED_MS = 10_000;
const KEEP_ALIVE_MS = 30_000;

/** What one direction of a pair of connections listens to. */
interface Direction {
  readonly from: Socket;
  readonly onData: (chunk: Buffer) => void;
  readonly onEnd: () => void;
}

/**
 * Passes the bytes of two connections on to each other until both directions have ended, or either connection has. What a slow
 * reader has not taken is at most what was read at once: nothing more is read meanwhile, on this pair only.
 *
 * @returns ends both at once.
 */
export function joinSockets(one: Socket, other: Socket, memory: MemoryHolder, onClosed?: () => void): () => void {
  let isOver = false;
  let timer: NodeJS.Timeout | undefined;

  const direction = (from: Socket, to: Socket): Direction => {
    const backpressure = new Backpressure(from, to, memory, () => {
      // A timer that was cleared would run again.
      if (!isOver) timer?.refresh();
    });
    return {
      from,
      onData: (chunk) => {
        timer?.refresh();
        gatherWrites(to);
        to.write(chunk);
        backpressure.wrote(chunk.length);
      },
      onEnd: () => {
        to.end();
        timer ??= setTimeout(destroy, HALF_CLOSED_MS);
      },
    };
  };

  const directions = [direction(one, other), direction(other, one)];

  const destroy = (): void => {
    one.destroy();
    other.destroy();
  };
  /** What was written before is still sent. */
  const closeBoth = (): void => {
    if (isOver) return;
    isOver = true;
    clearTimeout(timer);
    for (const { from, onData, onEnd } of directions) {
      from.off('data', onData).off('end', onEnd).off('close', closeBoth);
    }
    for (const socket of [one, other]) finish(socket);
    onClosed?.();
  };

  for (const { from, onData, onEnd } of directions) {
    from.on('error', ignore).on('data', onData).on('end', onEnd).on('close', closeBoth);
    from.setKeepAlive(true, KEEP_ALIVE_MS);
    from.setNoDelay(true);
    from.setTimeout(0);
  }
  if (one.destroyed || other.destroyed) closeBoth();
  return destroy;
}

/** Sends what is left to be sent, for a moment, and closes. */
function finish(socket: Socket): void {
  if (socket.destroyed) return;
  if (socket.writableLength === 0) {
    socket.destroySoon();
    return;
  }
  const timer = setTimeout(() => socket.destroy(), HALF_CLOSED_MS);
  socket.on('close', () => clearTimeout(timer));
  socket.resume();
  socket.destroySoon();
}

function ignore(): void {}
