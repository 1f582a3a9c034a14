import type { MaybePromise } from '../../api/maybe-promise';
import { BlockPool } from '../../memory/block-pool';
import type { ConnectionMemory } from '../../memory/memory-budget';
import type { HttpResponse } from '../transport/exchange';

const BLOCK_BYTES = 256 * 1024;
const MAX_FREE_BYTES = 4 * 1024 * 1024;
/** From here on a write of its own costs less than copying. */
const UNCOPIED_BYTES = 64 * 1024;

/** For all answers. Each has one block that is being filled, and mostly none or one that its client is to take. */
export const blocks = new BlockPool(BLOCK_BYTES, MAX_FREE_BYTES);

/** Where an answer's body goes: the answer itself, or what compresses it. */
export interface Sink extends NodeJS.EventEmitter {
  write(bytes: Uint8Array, onTaken: (error?: Error | null) => void): boolean;
  end(): unknown;
}

/**
 * The body of one answer, copied into blocks: a connection takes few large writes at a fraction of the cost of many small
 * ones. What the client has not read yet holds the next block back.
 */
export class BlockWriter {
  private sink: Sink | undefined;
  private block: Buffer | undefined;
  private used = 0;
  private flushed = 0;

  /** `open` is called when there is something to write: until then whatever goes wrong can be told in a Status. */
  constructor(
    private readonly response: HttpResponse,
    private readonly open: () => Sink,
    /** Is told of blocks from when they are taken until they can be used again. */
    private readonly memory?: ConnectionMemory,
    private readonly pool = blocks,
  ) {}

  /** The client is gone; nothing is written any more. */
  get closed(): boolean {
    return this.response.destroyed;
  }

  /** What was handed over so far. */
  get bytes(): number {
    return this.flushed + this.used;
  }

  /**
   * Copies the piece, or writes it as it is if that is cheaper: it must not change any more. Returns a promise when the client
   * has to be waited for, before anything else may be written.
   */
  write(piece: Uint8Array): MaybePromise<void> {
    if (piece.length >= UNCOPIED_BYTES) return this.writeUncopied(piece);
    const copied = this.copy(piece, 0);
    if (copied < piece.length) return this.writeRest(piece, copied);
  }

  private writeUncopied(piece: Uint8Array): MaybePromise<void> {
    if (this.used > 0) this.flush();
    const most = this.memory?.pieceBytes ?? Infinity;
    if (piece.length > most) return this.writeInParts(piece, most);
    if (this.closed) return;
    this.flushed += piece.length;
    const sink = this.opened();
    if (!sink.write(piece, ignore)) return this.drainedOf(sink, piece.length);
  }

  private async writeInParts(piece: Uint8Array, bytes: number): Promise<void> {
    for (let from = 0; from < piece.length && !this.closed; from += bytes) {
      const waiting = this.writeUncopied(piece.subarray(from, from + bytes));
      if (waiting !== undefined) await waiting;
    }
  }

  /** TLS copies what it is given, so that what is not sent is held even if others have the piece, too. */
  private async drainedOf(sink: Sink, bytes: number): Promise<void> {
    this.memory?.hold(bytes);
    await drained(sink, this.response);
    this.memory?.release(bytes);
  }

  end(): void {
    if (this.used > 0) this.flush();
    this.opened().end();
  }

  private async writeRest(piece: Uint8Array, from: number): Promise<void> {
    while (from < piece.length) {
      if (!this.flush()) await drained(this.opened(), this.response);
      if (this.closed) return;
      from += this.copy(piece, from);
    }
  }

  /** Returns how many bytes found a place. */
  private copy(piece: Uint8Array, from: number): number {
    this.block ??= this.taken();
    const count = Math.min(piece.length - from, this.block.length - this.used);
    this.block.set(count === piece.length ? piece : piece.subarray(from, from + count), this.used);
    this.used += count;
    return count;
  }

  private taken(): Buffer {
    this.memory?.hold(this.pool.blockBytes);
    return this.pool.acquire();
  }

  /** Returns whether more may be written at once. */
  private flush(): boolean {
    const { block, used, pool, memory } = this;
    this.block = undefined;
    this.used = 0;
    if (block === undefined) return true;
    if (this.closed) {
      memory?.release(pool.blockBytes);
      pool.release(block);
      return true;
    }
    this.flushed += used;
    // The callback comes when the system, TLS or zlib has taken the last byte. After an error they may still be reading.
    return this.opened().write(block.subarray(0, used), (error) => {
      memory?.release(pool.blockBytes);
      if (!error) pool.release(block);
    });
  }

  private opened(): Sink {
    return (this.sink ??= this.open());
  }
}

/** The waiting writer hears of errors by itself. */
function ignore(): void {}

/** Waits until more can be written, or the response is closed. */
export function drained(sink: Sink, response: HttpResponse): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      sink.off('drain', done).off('error', fail);
      response.off('close', done);
    };
    const done = (): void => {
      leave();
      resolve();
    };
    const fail = (error: Error): void => {
      leave();
      reject(error);
    };
    sink.on('drain', done).on('error', fail);
    response.on('close', done);
    if (response.destroyed) done();
  });
}
