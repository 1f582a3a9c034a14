import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { MemoryAccount } from '../../memory/memory-budget';
import { arrivingOn, type Arriving } from './node-http-internals';

/** How often what has come of heads is written down. */
const CHECK_MS = 500;

interface Half {
  readonly account: MemoryAccount;
  readonly bytes: number;
}

/**
 * Writes down what the heads of requests take that have come in part: node:http keeps them until they are whole, for as long as a
 * client may take for one. A look at those connections now and then costs requests nothing.
 */
export class HalfHeads {
  #halves = new Map<Socket, Half>();
  #checks: NodeJS.Timeout | undefined;
  #checkedMs = performance.now();

  constructor(
    private readonly maxHeadBytes: number,
    private readonly accountOf: (socket: Socket) => MemoryAccount,
  ) {}

  /** Until the server closes. */
  attach(server: Server): void {
    server.on('listening', () => {
      this.#checks ??= setInterval(() => this.check(arrivingOn(server)), CHECK_MS).unref();
    });
    server.on('close', () => {
      clearInterval(this.#checks);
      this.#checks = undefined;
    });
  }

  /** `messages`: those that are arriving now. */
  check(messages: readonly Arriving[]): void {
    const halves = new Map<Socket, Half>();
    for (const { incoming, socket } of messages) {
      if (incoming !== null || socket === null || socket.destroyed) continue;
      const account = this.accountOf(socket);
      // Of what came before on the same connection nothing is known here; more than a whole head it is not.
      halves.set(socket, { account, bytes: Math.min(socket.bytesRead, this.maxHeadBytes) });
    }
    for (const [socket, { account, bytes }] of this.#halves) {
      if (!halves.has(socket)) account.release(bytes);
    }
    const before = this.#halves;
    this.#halves = halves;
    for (const [socket, { account, bytes }] of halves) {
      const change = bytes - (before.get(socket)?.bytes ?? 0);
      // It may have come right after the last look: were it said to have come now, a client that is just being answered would seem to wait longer.
      if (change > 0) account.hold(change, this.#checkedMs);
      else if (change < 0) account.release(-change);
    }
    this.#checkedMs = performance.now();
  }
}
