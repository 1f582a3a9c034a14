import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { arrivingOn, parserOf, responseOn } from './node-http-internals';
import { stuckAfter } from './stuck-writes';

interface Idle {
  /** Read of the connection when it was looked at last. */
  bytesRead: number;
  /** Since when nothing has come and nothing is answered, in milliseconds of the monotonic clock. */
  sinceMs: number;
  /** Where its writes seemed to be stuck when it was looked at last. */
  stuckAfter: number | undefined;
}

/** Looks in the time that a connection may be idle. */
const LOOKS = 8;
const MAX_SWEEP_MS = 5_000;

/**
 * Ends connections on which nothing has happened for long, and those whose writes are stuck. One look at all of them now and then
 * costs a request nothing, while node:http's own `keepAliveTimeout` has two timers set for each.
 */
export class IdleConnections {
  readonly #connections = new Map<Socket, Idle>();
  #sweeps: NodeJS.Timeout | undefined;

  constructor(private readonly limitMs: number) {}

  add(socket: Socket): void {
    this.#connections.set(socket, { bytesRead: 0, sinceMs: performance.now(), stuckAfter: undefined });
    socket.on('close', () => this.#remove(socket));
    this.#sweeps ??= setInterval(() => this.#sweep(), Math.min(this.limitMs / LOOKS, MAX_SWEEP_MS)).unref();
  }

  /**
   * For when the server closes: ends connections between two requests, once what they were sent has left, and those that have been silent
   * for so long while a request of theirs is due. node:http's own `closeIdleConnections` cuts a response whose last bytes still wait to be
   * taken, and takes a connection that has never asked anything for one that is busy.
   */
  endIdle(server: Server, silenceMs: number): void {
    const now = performance.now();
    const arriving = new Set(arrivingOn(server).map(({ socket }) => socket));
    for (const [socket, idle] of this.#connections) {
      if (isBusy(socket)) continue;
      if (socket.bytesRead !== idle.bytesRead) {
        idle.bytesRead = socket.bytesRead;
        idle.sinceMs = now;
      }
      if (!arriving.has(socket) || now - idle.sinceMs >= silenceMs) socket.destroy();
    }
  }

  #remove(socket: Socket): void {
    this.#connections.delete(socket);
    if (this.#connections.size > 0) return;
    clearInterval(this.#sweeps);
    this.#sweeps = undefined;
  }

  #sweep(): void {
    const now = performance.now();
    for (const [socket, idle] of this.#connections) {
      const stuckBefore = idle.stuckAfter;
      idle.stuckAfter = stuckAfter(socket);
      if (stuckBefore !== undefined && idle.stuckAfter === stuckBefore) {
        socket.destroy();
      } else if (responseOn(socket) !== undefined || socket.bytesRead !== idle.bytesRead) {
        idle.bytesRead = socket.bytesRead;
        idle.sinceMs = now;
      } else if (now - idle.sinceMs >= this.limitMs) {
        socket.destroy();
      }
    }
  }
}

/** It is written to, or speaks another protocol. */
function isBusy(socket: Socket): boolean {
  return responseOn(socket) !== undefined || socket.writableLength > 0 || parserOf(socket) === undefined;
}
