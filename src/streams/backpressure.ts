import { Readable } from 'node:stream';
import type { MemoryHolder } from '../memory/memory-budget';
import { joinUnreadPieces } from './join-unread-pieces';

/** What may wait for a target before its source is held back: enough to read on while the kernel sends. */
export const MAX_WAITING_BYTES = 128 * 1024;

/** The same for pieces: each takes some hundred bytes besides its own. */
const MAX_WAITING_PIECES = 256;

/** A target that is to end tells that it has taken all by `finish`, not by `drain`. */
const TAKEN = ['drain', 'finish', 'close'] as const;

/** Where bytes come from: a connection, the body of a request, messages of a WebSocket. */
export interface PausableSource {
  pause(): void;
  resume(): void;
}

/** Where they go: a connection, a request to a backend, the response to a client. */
export interface WaitingTarget {
  readonly writableNeedDrain: boolean;
  /** Absent where a response shares its connection: it does not know. */
  readonly writableLength?: number;
  on(event: 'drain' | 'finish' | 'close', listener: () => void): unknown;
  off(event: 'drain' | 'finish' | 'close', listener: () => void): unknown;
}

/**
 * Holds a source back while its target has too much to take, and has what waits stand in the books. A slow reader has the server keep
 * at most {@link MAX_WAITING_BYTES} and what its source sends ahead, in however small pieces, and holds up nothing but its own source.
 */
export class Backpressure {
  #held = 0;
  /** That were written since the target had enough. */
  #pieces = 0;
  #isPausing = false;

  constructor(
    private readonly source: PausableSource,
    private readonly target: WaitingTarget,
    private readonly memory: MemoryHolder,
    private readonly onTaken?: () => void,
  ) {}

  /** To be called after each write to the target. */
  wrote(bytes: number): void {
    const { target } = this;
    if (bytes === 0 || !target.writableNeedDrain) return;
    // Not before: of thousands of streams most are idle, and each name takes room among a stream's listeners.
    if (this.#held === 0) for (const event of TAKEN) target.on(event, this.#taken);
    this.#hold(bytes);
    this.#pieces += 1;
    if (this.#isPausing) return;
    const isFull = (target.writableLength ?? this.#held) > MAX_WAITING_BYTES || this.#pieces > MAX_WAITING_PIECES;
    if (isFull) this.#pause();
  }

  #pause(): void {
    const { source } = this;
    this.#isPausing = true;
    source.pause();
    if (source instanceof Readable) joinUnreadPieces(source, (bytes) => this.#isPausing && this.#hold(bytes));
  }

  #hold(bytes: number): void {
    this.#held += bytes;
    this.memory.hold(bytes);
  }

  readonly #taken = (): void => {
    for (const event of TAKEN) this.target.off(event, this.#taken);
    this.memory.release(this.#held);
    this.#held = 0;
    this.#pieces = 0;
    this.onTaken?.();
    if (!this.#isPausing) return;
    this.#isPausing = false;
    this.source.resume();
  };
}
