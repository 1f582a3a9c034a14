import type { Socket } from 'node:net';
import type { MemoryHolder } from '../memory/memory-budget';
import { gatherWrites } from './gathered-writes';

/** How long one direction may go on in silence after the other has ended. */
const HALF_CLOSED_MS = 10_000;
const KEEP_ALIVE_MS = 30_000;

/** What may wait in one direction before its source is held back: enough to read on while the kernel sends. */
export const MAX_WAITING_BYTES = 128 * 1024;

/** One direction of a pair of connections. */
interface Direction {
  readonly from: Socket;
  readonly to: Socket;
  /** Bytes that `to` has not taken. */
  held: number;
  readonly onData: (chunk: Buffer) => void;
  readonly onDrain: () => void;
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
    const made: Direction = {
      from,
      to,
      held: 0,
      onData: (chunk) => {
        timer?.refresh();
        gatherWrites(to);
        if (to.write(chunk)) return;
        made.held += chunk.length;
        memory.hold(chunk.length);
        if (to.writableLength > MAX_WAITING_BYTES) from.pause();
      },
      onDrain: () => {
        if (made.held === 0) return;
        memory.release(made.held);
        made.held = 0;
        timer?.refresh();
        if (from.isPaused()) from.resume();
      },
      onEnd: () => {
        to.end();
        timer ??= setTimeout(destroy, HALF_CLOSED_MS);
      },
    };
    return made;
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
    for (const { from, to, held, onData, onDrain, onEnd } of directions) {
      from.off('data', onData).off('end', onEnd).off('close', closeBoth);
      to.off('drain', onDrain);
      if (held > 0) memory.release(held);
    }
    for (const socket of [one, other]) finish(socket);
    onClosed?.();
  };

  for (const { from, to, onData, onDrain, onEnd } of directions) {
    from.on('error', ignore).on('data', onData).on('end', onEnd).on('close', closeBoth);
    to.on('drain', onDrain);
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
