import type { Socket } from 'node:net';
import type { Server as TlsServer, TLSSocket } from 'node:tls';
import { PacedStarts } from '../../async/paced-starts';
import type { MemoryAccount } from '../../memory/memory-budget';
import { divertConnections } from './divert-connections';
import { readThroughStream } from './node-http-internals';

/**
 * Of what a stranger has sent, how much is looked at before others have their turn: a few bytes may be a request, or stand for many long
 * headers.
 */
const PIECE_BYTES = 4_096;

/** In a turn: what clients' requests cost after that is paced where they begin. */
const CLIENTS_STRETCH_MS = 10;

/** Connections whose bytes wait for each other when many come at once. Clients do not wait for strangers. */
export interface ReadingTurns {
  readonly strangers: PacedStarts;
  readonly clients: PacedStarts;
}

/**
 * One look at the sockets reads all that have something, each up to 64 kB. What they brought is handed on at once, but only for some milliseconds
 * in a turn of the event loop; what comes after that waits, its socket is not read meanwhile, and addresses take turns.
 */
export class PacedReadings {
  readonly #turns: ReadingTurns = {
    strangers: new PacedStarts(),
    clients: new PacedStarts({ stretchMs: CLIENTS_STRETCH_MS }),
  };

  constructor(private readonly accountOf: (socket: Socket) => MemoryAccount) {}

  /** Also for connections that are other people's later on, such as those of HTTP/2. */
  attach(server: TlsServer): void {
    divertConnections(server, 'secureConnection', (socket: TLSSocket, pass) => {
      // node:http would have its parser read the connection itself, as fast as bytes come.
      readThroughStream(socket);
      // One that is given back by an upgrade comes once more.
      if (!readings.has(socket)) readings.set(socket, new PacedReading(socket, this.#turns, this.accountOf));
      pass();
    });
  }
}

const readings = new WeakMap<Socket, PacedReading>();

/** The client of the connection has proved who it is. */
export function trustConnection(socket: Socket): void {
  readings.get(socket)?.trust();
}

/** Stands between TLS and a connection's stream, which is to be read by its `data` events: with `readable` ones it says that it is paused. */
export class PacedReading {
  /** What came and was not handed on yet; null: its end. */
  readonly #rest: (Buffer | null)[] = [];
  /** Its turn comes. */
  #isWaiting = false;
  #isTrusted = false;
  readonly #push: Socket['push'];

  constructor(
    private readonly socket: Socket,
    private readonly turns: ReadingTurns,
    private readonly accountOf: (socket: Socket) => MemoryAccount,
  ) {
    this.#push = socket.push.bind(socket);
    const read = socket._read.bind(socket);
    socket.push = (chunk: Buffer | null) => this.#receive(chunk);
    // What was read already comes first. Then the stream asks anew.
    socket._read = (size) => {
      if (this.#rest.length === 0) read(size);
    };
    // What is pushed to a stream that is paused would all be there when it is not any more.
    socket.on('resume', () => this.#wait());
  }

  trust(): void {
    this.#isTrusted = true;
  }

  /** Whether more is to be read now. */
  #receive(chunk: Buffer | null): boolean {
    // TLS hands out all records that it has read, however often it is told to stop.
    const isBehind = this.#rest.length > 0 || this.socket.isPaused();
    if (!isBehind) {
      if (chunk === null) return this.#push(null);
      if (this.#queue.mayBegin(performance.now())) return this.#begin(chunk);
    }
    this.#keep(chunk);
    this.#wait();
    return false;
  }

  #begin(chunk: Buffer): boolean {
    const piece = this.#pieceOf(chunk);
    if (piece === chunk) return this.#push(chunk);
    this.#keep(chunk.subarray(piece.length));
    this.#push(piece);
    this.#wait();
    return false;
  }

  get #queue(): PacedStarts {
    return this.#isTrusted ? this.turns.clients : this.turns.strangers;
  }

  #pieceOf(chunk: Buffer): Buffer {
    return this.#isTrusted || chunk.length <= PIECE_BYTES ? chunk : chunk.subarray(0, PIECE_BYTES);
  }

  #keep(chunk: Buffer | null): void {
    this.#rest.push(chunk);
    if (chunk !== null) this.accountOf(this.socket).hold(chunk.length);
  }

  #wait(): void {
    if (this.#isWaiting || this.#rest.length === 0 || this.socket.isPaused()) return;
    this.#isWaiting = true;
    this.#queue.wait(this.socket.remoteAddress, () => this.#goOn());
  }

  #goOn(): void {
    this.#isWaiting = false;
    const { socket } = this;
    const chunk = this.#rest[0];
    if (chunk === undefined || socket.destroyed || socket.isPaused()) return;
    this.#rest.shift();
    if (chunk === null) {
      this.#push(null);
      // As node:net does: the end is told although nothing is asked for.
      socket.read(0);
      return;
    }
    const piece = this.#pieceOf(chunk);
    if (piece !== chunk) this.#rest.unshift(chunk.subarray(piece.length));
    this.accountOf(socket).release(piece.length);
    this.#push(piece);
    this.#wait();
  }
}
