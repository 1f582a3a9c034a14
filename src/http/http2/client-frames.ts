import { FrameReader, FrameType, PREFACE, type FrameHandler } from '../../http2/frames';
import { HeaderBlocks } from '../../http2/header-blocks';
import { protocolError } from '../../http2/http2-error';
import type { ReadingState } from './connection-deadlines';
import { MAX_HEADER_LIST_BYTES } from './request-head';

/** The largest frame that a client may send, as with kube-apiserver. */
export const MAX_RECEIVED_FRAME_BYTES = 256 * 1024;

/** What a client sends, as frames in an order that RFC 9113 allows: the preface, SETTINGS, and blocks of headers in one piece. */
export class ClientFrames {
  readonly blocks = new HeaderBlocks(MAX_HEADER_LIST_BYTES);
  readonly #reader = new FrameReader(MAX_RECEIVED_FRAME_BYTES);
  #prefaceLeft = PREFACE.length;
  #hasSettings = false;

  constructor(private readonly take: FrameHandler) {}

  /** Memory for a frame and a block of headers that have begun and not ended. */
  get heldBytes(): number {
    return this.#reader.heldBytes + this.blocks.heldBytes;
  }

  /** For the deadlines. */
  get state(): ReadingState {
    return {
      hasSettings: this.#hasSettings,
      frame: this.#reader.isWithinFrame ? this.#reader.frames : undefined,
      block: this.blocks.isOpen ? this.#reader.frames - this.blocks.frames : undefined,
    };
  }

  /** Throws an Http2Error, and whatever `take` throws. */
  receive(chunk: Buffer): void {
    const frames = this.#prefaceLeft > 0 ? this.#withoutPreface(chunk) : chunk;
    if (frames.length > 0) this.#reader.push(frames, this.#inOrder);
  }

  /** The client has sent settings of its own. */
  haveSettings(): void {
    this.#hasSettings = true;
  }

  readonly #inOrder: FrameHandler = (type, flags, streamId, payload) => {
    if (!this.#hasSettings && type !== FrameType.SETTINGS) throw protocolError('a connection begins with SETTINGS');
    this.blocks.checkOrder(type);
    this.take(type, flags, streamId, payload);
  };

  #withoutPreface(chunk: Buffer): Buffer {
    const from = PREFACE.length - this.#prefaceLeft;
    const given = chunk.subarray(0, this.#prefaceLeft);
    if (!given.equals(PREFACE.subarray(from, from + given.length))) throw protocolError('this is not HTTP/2');
    this.#prefaceLeft -= given.length;
    return chunk.subarray(given.length);
  }
}
