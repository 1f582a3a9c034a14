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

/** Empty frames are free for whoever sends them. */
const MAX_FRAMES = 64;

/** Puts the blocks of one connection together. */
export class HeaderBlocks {
  #open: OpenBlock | undefined;

  constructor(private readonly maxBytes: number) {}

  /** A block has begun and not ended. */
  get isOpen(): boolean {
    return this.#open !== undefined;
  }

  /** Throws an {@link Http2Error} for a frame of another type between those of a block. */
  checkOrder(type: number): void {
    if (this.isOpen && type !== FrameType.CONTINUATION) throw protocolError('a header block has no end');
  }

  /** Takes a HEADERS frame without padding and priority; copies what is not the whole block. Undefined when that goes on. */
  begin(flags: number, streamId: number, bytes: Buffer): HeaderBlock | undefined {
    const isLast = (flags & Flag.END_STREAM) !== 0;
    if ((flags & Flag.END_HEADERS) !== 0) return { streamId, isLast, bytes };
    this.#open = { streamId, isLast, pieces: [Buffer.from(bytes)], length: bytes.length };
  }

  /** Takes a CONTINUATION frame. Undefined when the block goes on. Throws an {@link Http2Error}. */
  goOn(flags: number, streamId: number, bytes: Buffer): HeaderBlock | undefined {
    const open = this.#open;
    if (open?.streamId !== streamId) throw protocolError('a header block goes on that nobody began');
    open.pieces.push(Buffer.from(bytes));
    open.length += bytes.length;
    if (open.length > this.maxBytes || open.pieces.length > MAX_FRAMES) {
      throw new Http2Error(ErrorCode.ENHANCE_YOUR_CALM, 'a header block is too large');
    }
    if ((flags & Flag.END_HEADERS) === 0) return undefined;
    this.#open = undefined;
    return { streamId, isLast: open.isLast, bytes: Buffer.concat(open.pieces) };
  }
}
