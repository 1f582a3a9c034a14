import type { Socket } from 'node:net';
import type { MemoryHolder } from '../memory/memory-budget';
import { Backpressure } from './backpressure';
import { gatherWrites } from './gathered-writes';
import { endBackend, endClient } from './last-bytes';

/** How long one direction may go on in silence after the other has ended. */
const HALF_CLOSED_MS = 10_000;

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
export function joinSockets(client: Socket, backend: Socket, memory: MemoryHolder, onClosed?: () => void): () => void {
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

  const directions = [direction(client, backend), direction(backend, client)];

  const destroy = (): void => {
    client.destroy();
    backend.destroy();
  };
  const closeBoth = (): void => {
    if (isOver) return;
    isOver = true;
    clearTimeout(timer);
    for (const { from, onData, onEnd } of directions) {
      from.off('data', onData).off('end', onEnd).off('close', closeBoth);
    }
    endClient(client);
    endBackend(backend);
    onClosed?.();
  };

  for (const { from, onData, onEnd } of directions) {
    from.on('error', ignore).on('data', onData).on('end', onEnd).on('close', closeBoth);
    from.setTimeout(0);
  }
  if (client.destroyed || backend.destroyed) closeBoth();
  return destroy;
}

function ignore(): void {}
