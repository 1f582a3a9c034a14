import type { Socket } from 'node:net';
import type { Server as TlsServer, TLSSocket } from 'node:tls';
import type { PacedStarts } from '../../async/paced-starts';
import type { MemoryAccount } from '../../memory/memory-budget';
import { costsOf, type ConnectionCosts } from './connection-costs';
import { divertConnections } from './divert-connections';
import { readThroughStream } from './node-http-internals';
import { PieceSize } from './piece-size';
import { StartsByCost, type SharedLoop } from './starts-by-cost';

/** Of a connection whose requests wait: a piece may be dozens of them. */
const FEW_BYTES = 512;
/** What a record of TLS that waits takes beside its bytes, which may be one. */
const RECORD_BYTES = 256;

/** Where bytes of connections wait for each other when many come at once. Clients do not wait for strangers. */
export interface ReadingTurns {
  readonly strangers: StartsByCost;
  readonly clients: StartsByCost;
}

/**
 * One look at the sockets reads all that have something, each up to 64 kB. What they brought is handed on at once, but only for some milliseconds
 * in a turn of the event loop; what comes after that waits, its socket is not read meanwhile, and addresses take turns. Connections that have
 * cost much lately come after others.
 */
export class PacedReadings {
  readonly #turns: ReadingTurns;

  constructor(
    private readonly accountOf: (socket: Socket) => MemoryAccount,
    loop: SharedLoop,
  ) {
    this.#turns = { strangers: new StartsByCost(loop), clients: new StartsByCost(loop) };
  }

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
  readonly #costs: ConnectionCosts;
  readonly #pieceSize = new PieceSize();
  readonly #push: Socket['push'];

  constructor(
    private readonly socket: Socket,
    private readonly turns: ReadingTurns,
    private readonly accountOf: (socket: Socket) => MemoryAccount,
  ) {
    this.#costs = costsOf(socket);
    this.#push = socket.push.bind(socket);
    const read = socket._read.bind(socket);
    socket.push = (chunk: Buffer | null) => this.#receive(chunk);
    // What was read already comes first. Then the stream asks anew.
    socket._read = (size) => {
      if (this.#rest.length === 0) read(size);
    };
    // What is pushed to a stream that is paused would all be there when it is not any more.
    const wait = (): void => this.#wait();
    socket.on('resume', wait);
    this.#costs.onCaughtUp = wait;
  }

  trust(): void {
    this.#isTrusted = true;
    this.#pieceSize.trust();
  }

  /** Whether more is to be read now. */
  #receive(chunk: Buffer | null): boolean {
    // TLS hands out all records that it has read, however often it is told to stop.
    const isBehind = this.#rest.length > 0 || this.#isStopped;
    if (!isBehind) {
      const now = performance.now();
      // The end of a connection may be that of many requests, and of thousands of connections at once.
      if (this.#queueFor(chunk, now).mayBegin(now)) return chunk === null ? this.#push(null) : this.#begin(chunk, now);
    }
    this.#keep(chunk);
    this.#wait();
    return false;
  }

  #begin(chunk: Buffer, nowMs: number): boolean {
    const piece = this.#pieceOf(chunk);
    // All of it, and nothing is behind: reading goes on as it was.
    if (piece === chunk) return this.#handOn(chunk, nowMs, true);
    this.#keep(chunk.subarray(piece.length));
    this.#handOn(piece, nowMs, false);
    this.#wait();
    return false;
  }

  #handOn(piece: Buffer, nowMs: number, isAll: boolean): boolean {
    const mayGoOn = isAll ? this.#emit(piece) : this.#push(piece);
    const doneMs = performance.now();
    this.#costs.count(doneMs - nowMs, doneMs);
    this.#pieceSize.learn(piece.length, doneMs - nowMs);
    return mayGoOn;
  }

  /**
   * As `push` does where a stream flows and holds nothing, but without asking for more in a tick of its own each time, which costs as much as
   * reading a small request.
   */
  #emit(piece: Buffer): boolean {
    const { socket } = this;
    if (socket.readableFlowing !== true || socket.readableLength > 0) return this.#push(piece);
    // What nobody listens for is thrown away, and reading goes on.
    socket.emit('data', piece);
    return true;
  }

  #queueFor(chunk: Buffer | null, nowMs: number): PacedStarts {
    const turns = this.#isTrusted ? this.turns.clients : this.turns.strangers;
    return turns.of(this.#costs, nowMs, chunk?.length ?? 0);
  }

  /** Whoever has it does not take more now, and tells when it does. */
  get #isStopped(): boolean {
    return this.socket.isPaused() || this.#costs.isBehind;
  }

  #pieceOf(chunk: Buffer): Buffer {
    const bytes = this.#costs.hasWaiting ? FEW_BYTES : this.#pieceSize.bytes;
    return chunk.length <= bytes ? chunk : chunk.subarray(0, bytes);
  }

  #keep(chunk: Buffer | null): void {
    this.#rest.push(chunk);
    if (chunk !== null) this.accountOf(this.socket).hold(RECORD_BYTES + chunk.length);
  }

  #wait(): void {
    const chunk = this.#rest[0];
    if (this.#isWaiting || chunk === undefined || this.#isStopped) return;
    this.#isWaiting = true;
    this.#queueFor(chunk, performance.now()).wait(this.socket.remoteAddress, () => this.#goOn());
  }

  #goOn(): void {
    this.#isWaiting = false;
    const { socket } = this;
    const chunk = this.#rest[0];
    if (chunk === undefined || socket.destroyed || this.#isStopped) return;
    this.#rest.shift();
    if (chunk === null) {
      this.#push(null);
      // As node:net does: the end is told although nothing is asked for.
      socket.read(0);
      return;
    }
    const piece = this.#pieceOf(chunk);
    const isAll = piece === chunk;
    if (!isAll) this.#rest.unshift(chunk.subarray(piece.length));
    this.accountOf(socket).release(piece.length + (isAll ? RECORD_BYTES : 0));
    // The last one has the stream ask for more.
    this.#handOn(piece, performance.now(), false);
    this.#wait();
  }
}
