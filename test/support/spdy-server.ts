import { createInflate, type Inflate } from 'node:zlib';
import type { Duplex } from 'node:stream';
import {
  FLAG_FIN,
  FrameType,
  HeaderFrames,
  SpdyReader,
  dataHead,
  goAwayFrame,
  pingFrame,
} from '../../src/streams/spdy-frames';
import { SPDY_DICTIONARY } from './spdy-dictionary';

/** A stream that the client has opened. */
export interface SpdyStream {
  readonly id: number;
  readonly headers: Readonly<Record<string, string>>;
  onData: (bytes: Buffer) => void;
  onEnd: () => void;
  write(bytes: Buffer | string): boolean;
  end(): void;
}

/** A kubelet's side of a SPDY connection. */
export class SpdyServer {
  readonly #streams = new Map<number, SpdyStream>();
  readonly #headers = new HeaderFrames();
  readonly #inflate: Inflate = createInflate({ dictionary: SPDY_DICTIONARY, finishFlush: 2 });
  /** Header blocks are read one after the other. */
  #reading: Promise<void> = Promise.resolve();
  readonly #reader = new SpdyReader({
    control: (type, flags, payload) => this.#control(type, flags, Buffer.from(payload)),
    data: (id, bytes, isLast) => this.#data(id, Buffer.from(bytes), isLast),
  });

  constructor(
    readonly connection: Duplex,
    private readonly onStream: (stream: SpdyStream) => void,
  ) {
    connection.on('data', (chunk: Buffer) => this.#reader.push(chunk));
    connection.on('close', () => this.#inflate.close());
    connection.on('error', () => undefined);
  }

  /** Says that it accepts no more and ends. */
  close(): void {
    this.connection.write(goAwayFrame(Math.max(0, ...this.#streams.keys())));
    this.connection.end();
  }

  #control(type: number, flags: number, payload: Buffer): void {
    if (type === FrameType.PING) this.connection.write(pingFrame(payload.readUInt32BE(0)));
    if (type !== FrameType.SYN_STREAM) return;
    const id = payload.readUInt32BE(0);
    this.#reading = this.#reading.then(async () => {
      const headers = readHeaders(await this.#inflated(payload.subarray(10)));
      const stream: SpdyStream = {
        id,
        headers,
        onData: () => undefined,
        onEnd: () => undefined,
        write: (bytes) => {
          const data = Buffer.from(bytes as string);
          this.connection.write(dataHead(id, data.length, false));
          return this.connection.write(data);
        },
        end: () => void this.connection.write(dataHead(id, 0, true)),
      };
      this.#streams.set(id, stream);
      this.connection.write(this.#headers.synReply(id, {}));
      this.onStream(stream);
      if ((flags & FLAG_FIN) !== 0) stream.onEnd();
    });
  }

  #data(id: number, bytes: Buffer, isLast: boolean): void {
    this.#reading = this.#reading.then(() => {
      const stream = this.#streams.get(id);
      if (bytes.length > 0) stream?.onData(bytes);
      if (isLast) stream?.onEnd();
    });
  }

  #inflated(block: Buffer): Promise<Buffer> {
    return new Promise((resolve) => {
      const pieces: Buffer[] = [];
      const onData = (piece: Buffer): void => void pieces.push(piece);
      this.#inflate.on('data', onData);
      this.#inflate.write(block, () => {
        setImmediate(() => {
          this.#inflate.off('data', onData);
          resolve(Buffer.concat(pieces));
        });
      });
    });
  }
}

function readHeaders(block: Buffer): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  // The connection has ended meanwhile.
  if (block.length < 4) return headers;
  let at = 4;
  const text = (): string => {
    const length = block.readUInt32BE(at);
    at += 4 + length;
    return block.toString('utf8', at - length, at);
  };
  for (let count = block.readUInt32BE(0); count > 0; count--) {
    const name = text();
    headers[name] = text();
  }
  return headers;
}
