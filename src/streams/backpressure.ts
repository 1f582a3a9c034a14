import type { MemoryHolder } from '../memory/memory-budget';

/** What may wait for a target before its source is held back: enough to read on while the kernel sends. */
export const MAX_WAITING_BYTES = 128 * 1024;

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
  on(event: 'drain' | 'finish' | 'close', listener: () => void): this;
}

/**
 * Holds a source back while its target has too much to take, and has what waits stand in the books. A slow reader has the server keep
 * at most {@link MAX_WAITING_BYTES} and what was read at once, and holds up nothing but its own source.
 */
export class Backpressure {
  #held = 0;
  #isPausing = false;

  constructor(
    private readonly source: PausableSource,
    private readonly target: WaitingTarget,
    private readonly memory: MemoryHolder,
    private readonly onTaken?: () => void,
  ) {
    // A target that is to end tells that it has taken all by `finish`, not by `drain`.
    target.on('drain', this.#taken).on('finish', this.#taken).on('close', this.#taken);
  }

  /** To be called after each write to the target. */
  wrote(bytes: number): void {
    const { target } = this;
    if (!target.writableNeedDrain) return;
    this.#held += bytes;
    this.memory.hold(bytes);
    if (this.#isPausing || (target.writableLength ?? this.#held) <= MAX_WAITING_BYTES) return;
    this.#isPausing = true;
    this.source.pause();
  }

  readonly #taken = (): void => {
    if (this.#held === 0) return;
    this.memory.release(this.#held);
    this.#held = 0;
    this.onTaken?.();
    if (!this.#isPausing) return;
    this.#isPausing = false;
    this.source.resume();
  };
}
