/**
 * SPDY/3.1 as kubelets speak it (draft-mbelshe-httpbis-spdy-00): streams over one connection. Kubelets and their clients use no
 * windows, so that only the connection holds a sender back.
 */

export const FrameType = {
  SYN_STREAM: 1,
  SYN_REPLY: 2,
  RST_STREAM: 3,
  SETTINGS: 4,
  PING: 6,
  GOAWAY: 7,
  HEADERS: 8,
  WINDOW_UPDATE: 9,
} as const;

export const FLAG_FIN = 1;

const HEAD_BYTES = 8;
const CONTROL = 0x80;
const VERSION = 3;
/** Of control frames, which are kept until they are whole. */
const MAX_CONTROL_BYTES = 64 * 1024;
/** The lengths of frames have three bytes. */
export const MAX_DATA_BYTES = 0xff_ffff;

export interface FrameHandlers {
  control(type: number, flags: number, payload: Buffer): void;
  /** Of a data frame, as it comes; `isLast`: the sender has no more for the stream. */
  data(streamId: number, bytes: Buffer, isLast: boolean): void;
}

/** Takes a connection's bytes apart. Data frames are passed on in pieces: nothing is kept but the beginning of a control frame. */
export class SpdyReader {
  /** The head of a frame, or a control frame, that has begun. */
  #begun: Buffer[] = [];
  #begunBytes = 0;
  /** How many bytes that takes. */
  #wanted = HEAD_BYTES;
  #head: Buffer | undefined;
  /** Of a data frame. */
  #left = 0;

  constructor(private readonly handlers: FrameHandlers) {}

  /** Throws when it is no SPDY/3. */
  push(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.#left > 0) {
        const bytes = chunk.subarray(at, at + this.#left);
        at += bytes.length;
        this.#left -= bytes.length;
        this.#giveData(bytes);
        continue;
      }
      const piece = chunk.subarray(at, at + this.#wanted - this.#begunBytes);
      at += piece.length;
      this.#begun.push(piece);
      this.#begunBytes += piece.length;
      if (this.#begunBytes === this.#wanted) this.#whole();
    }
  }

  #whole(): void {
    const bytes = this.#begun.length === 1 ? this.#begun[0]! : Buffer.concat(this.#begun);
    this.#begun = [];
    this.#begunBytes = 0;
    if (this.#head === undefined) this.#headRead(Buffer.from(bytes));
    else this.#controlRead(this.#head, bytes);
  }

  #headRead(head: Buffer): void {
    const length = head.readUIntBE(5, 3);
    this.#head = head;
    if ((head[0]! & CONTROL) === 0) {
      this.#left = length;
      if (length === 0) this.#giveData(Buffer.alloc(0));
      return;
    }
    if ((head.readUInt16BE(0) & 0x7fff) !== VERSION) throw new Error('the other side does not speak SPDY/3');
    if (length > MAX_CONTROL_BYTES) throw new Error(`a control frame of ${length} bytes is too large`);
    this.#wanted = length;
    if (length === 0) this.#controlRead(head, Buffer.alloc(0));
  }

  #controlRead(head: Buffer, payload: Buffer): void {
    this.#nextFrame();
    this.handlers.control(head.readUInt16BE(2), head[4]!, payload);
  }

  #giveData(bytes: Buffer): void {
    const head = this.#head!;
    const isLast = this.#left === 0 && (head[4]! & FLAG_FIN) !== 0;
    if (this.#left === 0) this.#nextFrame();
    this.handlers.data(head.readUInt32BE(0), bytes, isLast);
  }

  #nextFrame(): void {
    this.#head = undefined;
    this.#wanted = HEAD_BYTES;
  }
}

function controlFrame(type: number, flags: number, payload: Buffer): Buffer {
  const frame = Buffer.alloc(HEAD_BYTES + payload.length);
  frame.writeUInt16BE((CONTROL << 8) | VERSION, 0);
  frame.writeUInt16BE(type, 2);
  frame[4] = flags;
  frame.writeUIntBE(payload.length, 5, 3);
  payload.copy(frame, HEAD_BYTES);
  return frame;
}

function numbers(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  values.forEach((value, index) => bytes.writeUInt32BE(value, 4 * index));
  return bytes;
}

/** What stands before the bytes of a data frame. */
export function dataHead(streamId: number, length: number, isLast: boolean): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32BE(streamId, 0);
  head[4] = isLast ? FLAG_FIN : 0;
  head.writeUIntBE(length, 5, 3);
  return head;
}

export function pingFrame(id: number): Buffer {
  return controlFrame(FrameType.PING, 0, numbers(id));
}

export function goAwayFrame(lastStreamId: number): Buffer {
  return controlFrame(FrameType.GOAWAY, 0, numbers(lastStreamId, 0));
}

export function resetFrame(streamId: number, status: number): Buffer {
  return controlFrame(FrameType.RST_STREAM, 0, numbers(streamId, status));
}

export type SpdyHeaders = Readonly<Record<string, string>>;

/**
 * Writes the frames that have headers. Their blocks are one zlib stream per connection. Compression is a choice of the sender's:
 * its blocks are stored ones, each flushed, so that a connection needs no compressor.
 */
export class HeaderFrames {
  #hasBegun = false;

  synStream(streamId: number, headers: SpdyHeaders, isLast = false): Buffer {
    const priority = Buffer.alloc(2);
    const payload = Buffer.concat([numbers(streamId, 0), priority, this.#block(headers)]);
    return controlFrame(FrameType.SYN_STREAM, isLast ? FLAG_FIN : 0, payload);
  }

  synReply(streamId: number, headers: SpdyHeaders): Buffer {
    return controlFrame(FrameType.SYN_REPLY, 0, Buffer.concat([numbers(streamId), this.#block(headers)]));
  }

  #block(headers: SpdyHeaders): Buffer {
    const fields = Object.entries(headers);
    const plain = Buffer.concat([
      numbers(fields.length),
      ...fields.flat().flatMap((text) => [numbers(Buffer.byteLength(text)), Buffer.from(text)]),
    ]);
    const stored = Buffer.alloc(5);
    stored.writeUInt16LE(plain.length, 1);
    stored.writeUInt16LE(~plain.length & 0xffff, 3);
    const begin = this.#hasBegun ? [] : [ZLIB_HEAD];
    this.#hasBegun = true;
    return Buffer.concat([...begin, stored, plain, FLUSH]);
  }
}

/** RFC 1950: a window of 32 KiB, no dictionary. */
const ZLIB_HEAD = Buffer.from([0x78, 0x01]);
/** An empty stored block: its reader gives out all that came before. */
const FLUSH = Buffer.from([0x00, 0x00, 0x00, 0xff, 0xff]);
