import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Turn } from '../../async/turn';
import type { MemoryAccount, MemoryBudget } from '../../memory/memory-budget';
import { responseOn } from './node-http-internals';

/** What a parsed request and its empty response take, roughly. */
const REQUEST_BYTES = 4 * 1024;

/** Requests of one connection that wait for the responses before theirs. */
interface Waiting {
  count: number;
  readonly account: MemoryAccount;
}

/**
 * One request of an HTTP/1.1 connection is worked on at a time, as in Go's server. node:http parses whatever has come: requests
 * behind the first one are kept until their response is the next to be sent, and nothing is read meanwhile.
 */
export class PipelinedRequests {
  readonly #connections = new WeakMap<Socket, Waiting>();
  /** Per connection, the response that was begun last while the one before it was on its way. */
  readonly #early = new WeakMap<Socket, ServerResponse>();
  /** Whose turn on their connections it is. */
  #due: (() => void)[] = [];

  constructor(private readonly budget: MemoryBudget) {}

  /**
   * Whether the response is the next to be sent on its connection: it is, unless the client did not wait for its answers.
   * One may begin while the last bytes of the one before it are on their way: the client may have got them, and the system
   * not have said so yet.
   */
  isItsTurn(response: ServerResponse): boolean {
    // node:http assigns the connection to one response at a time, in order.
    if (response.socket !== null) return true;
    const { socket } = response.req;
    const current = responseOn(socket);
    const early = this.#early.get(socket);
    const isNext = early === undefined || early === current || early.writableFinished;
    if (current?.writableEnded !== true || !isNext || (this.#connections.get(socket)?.count ?? 0) > 0) return false;
    this.#early.set(socket, response);
    return true;
  }

  /** Calls `work` when it is the response's turn. */
  keep(response: ServerResponse, work: () => void): void {
    const { socket } = response.req;
    const waiting = this.#connections.get(socket) ?? this.#waitingOf(socket);
    waiting.count++;
    waiting.account.hold(REQUEST_BYTES);
    socket.pause();
    response.once('socket', () => {
      this.#runSoon(() => {
        waiting.count--;
        waiting.account.release(REQUEST_BYTES);
        if (socket.destroyed) return;
        if (waiting.count === 0) socket.resume();
        work();
      });
    });
  }

  #waitingOf(socket: Socket): Waiting {
    const waiting: Waiting = { count: 0, account: this.budget.open(() => socket.destroy()) };
    this.#connections.set(socket, waiting);
    // node:http resumes the connection after every message.
    socket.on('resume', () => {
      if (waiting.count > 0) socket.pause();
    });
    socket.once('close', () => waiting.account.close());
    return waiting;
  }

  #runSoon(work: () => void): void {
    if (this.#due.push(work) === 1) setImmediate(() => this.#run());
  }

  /** Of all connections together, so that others have their turn however many there are. */
  #run(): void {
    const turn = new Turn();
    let done = 0;
    while (done < this.#due.length && !turn.isOver) this.#due[done++]!();
    this.#due = this.#due.slice(done);
    if (this.#due.length > 0) setImmediate(() => this.#run());
  }
}
