import { Flag, FrameType } from './frames';
import { ErrorCode, Http2Error, protocolError } from './http2-error';

/** All headers of a HEADERS frame and of the CONTINUATION frames after it, still encoded. */
export interface HeaderBlock {
  readonly streamId: number;
  /** Nothing follows on the stream. */
  readonly isLast: boolean;
  readonly bytes: Buffer;
}

interface OpenBlock {
  readonly streamId: number;
  readonly isLast: boolean;
  readonly pieces: Buffer[];
  length: number;
}

/** Empty frames cost their sender nothing. Clients fill frames of 16 KiB or more before they begin another. */
const MAX_FRAMES = 16;

/** Puts the blocks of one connection together. */
export class HeaderBlocks {
  #open: OpenBlock | undefined;

  /** `maxBytes`: of what comes in several frames. */
  constructor(private readonly maxBytes: number) {}

  /** Bytes of a block that has begun and not ended. */
  get heldBytes(): number {
    return this.#open?.length ?? 0;
  }

  /** Frames of a block that has begun and not ended. */
  get frames(): number {
    return this.#open?.pieces.length ?? 0;
  }

  /** A block has begun and not ended. */
  get isOpen(): boolean {
    return this.#open !== undefined;
  }

  /** Throws an {@link Http2Error} for a frame of another type between those of a block. */
  checkOrder(type: number): void {
    if (this.isOpen && type !== FrameType.CONTINUATION) throw protocolError('a header block has no end');
  }

  /**
   * Takes a HEADERS frame without padding and priority; copies what is not the whole block. Undefined when that goes on. Throws
   * an {@link Http2Error}.
   */
  begin(flags: number, streamId: number, bytes: Buffer): HeaderBlock | undefined {
    const isLast = (flags & Flag.END_STREAM) !== 0;
    if ((flags & Flag.END_HEADERS) !== 0) return { streamId, isLast, bytes };
    this.#checkLength(bytes.length, 1);
    this.#open = { streamId, isLast, pieces: [Buffer.from(bytes)], length: bytes.length };
  }

  /** Takes a CONTINUATION frame. Undefined when the block goes on. Throws an {@link Http2Error}. */
  goOn(flags: number, streamId: number, bytes: Buffer): HeaderBlock | undefined {
    const open = this.#open;
    if (open?.streamId !== streamId) throw protocolError('a header block goes on that nobody began');
    open.length += bytes.length;
    this.#checkLength(open.length, open.pieces.length + 1);
    open.pieces.push(Buffer.from(bytes));
    if ((flags & Flag.END_HEADERS) === 0) return undefined;
    this.#open = undefined;
    return { streamId, isLast: open.isLast, bytes: Buffer.concat(open.pieces) };
  }

  #checkLength(bytes: number, frames: number): void {
    if (bytes <= this.maxBytes && frames <= MAX_FRAMES) return;
    throw new Http2Error(ErrorCode.ENHANCE_YOUR_CALM, 'a header block is too large');
  }
}
