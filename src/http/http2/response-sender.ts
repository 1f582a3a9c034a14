import type { Socket } from 'node:net';
import {
  checkedWindow,
  DEFAULT_WINDOW_BYTES,
  Flag,
  FrameType,
  HEADER_BYTES,
  MAX_FRAME_BYTES,
} from '../../http2/frames';
import { WriteBuffer } from '../../http2/write-buffer';
import { BlockPool } from '../../memory/block-pool';
import type { MemoryAccount } from '../../memory/memory-budget';
import type { OnTaken } from './http2-response';
import { HELD_BACK_BYTES, type Http2ServerStream, type StreamSender, type Waiting } from './server-stream';

/** What a socket may have to send before answers wait, and before nothing is read from the client any more. */
const HELD_BACK_FROM_BYTES = 256 * 1024;
const DEAF_FROM_BYTES = 1024 * 1024;

/** How long a client may leave the end of an answer untaken. */
const LAST_BYTES_TIMEOUT_MS = 30_000;
/** What is written at once at the most: 256 kB of a large answer, with the heads of its frames. */
const MAX_WRITE_BYTES = 264 * 1024;
/** Of all connections: for the small answers of one turn of the event loop, and for large ones. */
const blocks = [new BlockPool(32 * 1024, 4 * 1024 * 1024), new BlockPool(MAX_WRITE_BYTES, 4 * 1024 * 1024)];

/**
 * The sending half of a connection. Answers go out as the client's windows and the socket take them, and what is written in
 * one turn of the event loop leaves in one piece.
 */
export class ResponseSender implements StreamSender {
  readonly #writeBuffer = new WriteBuffer(blocks);
  #isFlushDue = false;
  /** How much the client takes on a new stream, and on all of them together. Below 0 when it has changed its mind. */
  #firstWindow = DEFAULT_WINDOW_BYTES;
  #window = DEFAULT_WINDOW_BYTES;
  /** What the socket holds, as the account knows it. */
  #unsent = 0;

  constructor(
    private readonly socket: Socket,
    /** Is told what the connection holds besides what the requests say themselves. */
    readonly account: MemoryAccount,
    /** The last byte of an answer is on its way. */
    private readonly onResponseSent: (stream: Http2ServerStream) => void,
    /** Everything so far was handed to the socket. */
    private readonly onFlushed: () => void,
  ) {}

  /** A whole frame. */
  write(frame: Buffer): void {
    this.#writeBufferFor(frame.length).add(frame);
  }

  head(stream: Http2ServerStream, block: Buffer, isLast: boolean): void {
    let type: number = FrameType.HEADERS;
    let flags: number = isLast ? Flag.END_STREAM : 0;
    // Nothing may come between the frames of one block.
    const writeBuffer = this.#writeBufferFor(HEADER_BYTES + block.length);
    for (let at = 0; at < block.length; at += MAX_FRAME_BYTES) {
      const piece = block.subarray(at, at + MAX_FRAME_BYTES);
      if (at + piece.length === block.length) flags |= Flag.END_HEADERS;
      addFrame(writeBuffer, type, flags, stream.id, piece);
      type = FrameType.CONTINUATION;
      flags = 0;
    }
    if (isLast) this.onResponseSent(stream);
  }

  /** A text has a character per byte. `onTaken` is called when the bytes have been copied. */
  data(stream: Http2ServerStream, bytes: Uint8Array | string, isLast: boolean, onTaken: OnTaken | undefined): void {
    stream.isEnding = isLast;
    if (stream.waiting.length === 0 && bytes.length <= this.#windowOf(stream)) {
      this.#data(stream, bytes, isLast);
      onTaken?.();
    } else {
      if (stream.waiting.length === 0) this.account.hold(HELD_BACK_BYTES);
      stream.waiting = [...stream.waiting, typeof bytes === 'string' ? this.#kept(bytes) : { bytes, onTaken }];
      this.pump(stream);
    }
    if (isLast && stream.waiting.length > 0) {
      stream.endTimer = setTimeout(() => stream.abort(), LAST_BYTES_TIMEOUT_MS).unref();
    }
  }

  /** A text that has to wait is not shared. */
  #kept(text: string): Waiting {
    const bytes = Buffer.from(text, 'latin1');
    this.account.hold(bytes.length);
    return { bytes, onTaken: () => this.account.release(bytes.length) };
  }

  /** Sends what the stream has and the windows allow. */
  pump(stream: Http2ServerStream): void {
    while (stream.waiting.length > 0) {
      const { bytes, onTaken } = stream.waiting[0]!;
      const from = stream.sentOfFirst;
      const length = Math.min(bytes.length - from, this.#windowOf(stream));
      if (length === 0 && from < bytes.length) return;
      const isWhole = from + length === bytes.length;
      if (isWhole) stream.waiting = stream.waiting.slice(1);
      if (stream.waiting.length === 0) this.account.release(HELD_BACK_BYTES);
      stream.sentOfFirst = isWhole ? 0 : from + length;
      const isLast = stream.isEnding && stream.waiting.length === 0;
      this.#data(stream, bytes.subarray(from, from + length), isLast);
      if (isWhole) onTaken?.();
    }
  }

  /** The client takes so much more on all streams together. Throws an {@link Http2Error}. */
  growWindow(bytes: number): void {
    this.#window = checkedWindow(this.#window + bytes);
  }

  /** The client takes so much more on the stream. Throws an {@link Http2Error}. */
  growStreamWindow(stream: Http2ServerStream, bytes: number): void {
    stream.sendWindow = checkedWindow(this.#firstWindow + stream.sendWindow + bytes) - this.#firstWindow;
  }

  /** Whether a change for all streams was too much for this one. Throws an {@link Http2Error}. */
  checkWindow(stream: Http2ServerStream): void {
    checkedWindow(this.#firstWindow + stream.sendWindow);
  }

  /** From now on the client takes so much on a new stream; on those that are there, the difference. Throws an {@link Http2Error}. */
  setFirstWindow(bytes: number): void {
    this.#firstWindow = checkedWindow(bytes);
  }

  /** At the end of this turn. */
  flushSoon(): void {
    if (this.#isFlushDue) return;
    this.#isFlushDue = true;
    setImmediate(this.flush);
  }

  readonly flush = (): void => {
    this.#isFlushDue = false;
    if (!this.socket.writable) this.#writeBuffer.clear();
    else if (this.#writeBuffer.length > 0) {
      this.#writeBuffer.sendTo(this.socket);
      // A client that asks and does not read would have us keep the responses.
      if (this.socket.writableLength > DEAF_FROM_BYTES) this.socket.pause();
      this.countUnsent();
    }
    this.onFlushed();
  };

  /** After a write, and when the socket has drained. What it takes at once is not worth counting. */
  countUnsent(): void {
    const unsent = this.socket.writableNeedDrain ? this.socket.writableLength : 0;
    if (unsent === this.#unsent) return;
    const change = unsent - this.#unsent;
    this.#unsent = unsent;
    if (change > 0) this.account.hold(change);
    else this.account.release(-change);
  }

  #data(stream: Http2ServerStream, bytes: Uint8Array | string, isLast: boolean): void {
    stream.sendWindow -= bytes.length;
    this.#window -= bytes.length;
    stream.endTimer?.refresh();
    addFrame(
      this.#writeBufferFor(HEADER_BYTES + bytes.length),
      FrameType.DATA,
      isLast && stream.trailers === undefined ? Flag.END_STREAM : 0,
      stream.id,
      bytes,
    );
    if (!isLast) return;
    if (stream.trailers === undefined) this.onResponseSent(stream);
    else this.head(stream, stream.trailers, true);
  }

  /** How much the stream's next frame may carry. */
  #windowOf(stream: Http2ServerStream): number {
    if (this.socket.writableLength > HELD_BACK_FROM_BYTES) return 0;
    return Math.max(0, Math.min(this.#firstWindow + stream.sendWindow, this.#window, MAX_FRAME_BYTES));
  }

  /** With room for so many bytes; what it has will be sent at the end of this turn. */
  #writeBufferFor(bytes: number): WriteBuffer {
    if (this.#writeBuffer.length + bytes > MAX_WRITE_BYTES) this.flush();
    this.flushSoon();
    return this.#writeBuffer;
  }
}

function addFrame(
  writeBuffer: WriteBuffer,
  type: number,
  flags: number,
  streamId: number,
  payload: Uint8Array | string,
): void {
  writeBuffer.addFrameHeader(payload.length, type, flags, streamId);
  if (typeof payload === 'string') writeBuffer.addLatin1(payload);
  else writeBuffer.add(payload);
}
