import type { Socket } from 'node:net';
import type { PacedStarts } from '../../async/paced-starts';

/**
 * Of what had to wait, how much is looked at before others have their turn. A few bytes may name many long headers: these can stand for
 * 12 MB of them, and a request of an honest client fits.
 */
const PIECE_BYTES = 4_096;

/**
 * Hands on what a socket brings: at once, but only for some milliseconds in a turn of the event loop, which reads all sockets that have
 * something in one go. What comes after these waits with its socket paused, and goes on in pieces while addresses take turns.
 */
export class PacedReading {
  /** What came and was not handed on yet. */
  #rest: Buffer | undefined;

  /** `mayRead`: whether the socket is to be read when nothing waits any more; otherwise its owner has to {@link resume}. */
  constructor(
    private readonly socket: Socket,
    private readonly take: (bytes: Buffer) => void,
    private readonly mayRead: () => boolean,
  ) {}

  get heldBytes(): number {
    return this.#rest?.length ?? 0;
  }

  /**
   * To be called with all that the socket brings. `turns`: shared by all whose bytes are to wait for each other; absent: no waiting. True:
   * it waits.
   */
  receive(chunk: Buffer, turns: PacedStarts | undefined): boolean {
    if (turns === undefined || turns.mayBegin(performance.now())) {
      this.take(chunk);
      return false;
    }
    // A paused socket brings no more, also when it is in the middle of what it has read.
    this.#rest = chunk;
    this.socket.pause();
    this.#wait(turns);
    return true;
  }

  /** Reads on, unless something waits to be handed on before that. */
  resume(): void {
    if (this.#rest === undefined) this.socket.resume();
  }

  /** Nothing more is handed on. */
  stop(): void {
    this.#rest = undefined;
  }

  #wait(turns: PacedStarts): void {
    turns.wait(this.socket.remoteAddress, () => this.#goOn(turns));
  }

  #goOn(turns: PacedStarts): void {
    const bytes = this.#rest;
    if (bytes === undefined) return;
    const isLast = bytes.length <= PIECE_BYTES;
    this.#rest = isLast ? undefined : bytes.subarray(PIECE_BYTES);
    this.take(isLast ? bytes : bytes.subarray(0, PIECE_BYTES));
    if (this.#rest !== undefined) this.#wait(turns);
    else if (this.mayRead()) this.socket.resume();
  }
}
