import type { TLSSocket } from 'node:tls';
import type { LoadRequest, Target } from './job';
import type { LoadConnection, LoadProtocol, LoadResponse, ResponseSink, Waiting } from './load-connection';
import { encodeRequestHead, readStatus } from './hpack';
import { openTls } from './tls-socket';

/** What both servers allow by default; Go's clients open another connection when one is full. */
const CLIENTS_PER_CONNECTION = 250;

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
const EMPTY = Buffer.alloc(0);
const FRAME_HEADER_BYTES = 9;
const DATA = 0;
const HEADERS = 1;
const RST_STREAM = 3;
const SETTINGS = 4;
const PING = 6;
const GOAWAY = 7;
const WINDOW_UPDATE = 8;
/** The same bit, on PING and SETTINGS and on DATA and HEADERS. */
const ACK = 1;
const END_STREAM = 1;
const END_HEADERS = 4;

const HEADER_TABLE_SIZE = 1;
const ENABLE_PUSH = 2;
const INITIAL_WINDOW_SIZE = 4;
const MAX_WINDOW_BYTES = 2 ** 31 - 1;
const DEFAULT_WINDOW_BYTES = 65_535;
const LAST_STREAM_ID = 2 ** 31 - 1;

function frame(type: number, flags: number, streamId: number, payload: Buffer): Buffer {
  const header = Buffer.alloc(FRAME_HEADER_BYTES);
  header.writeUIntBE(payload.length, 0, 3);
  header[3] = type;
  header[4] = flags;
  header.writeUInt32BE(streamId, 5);
  return Buffer.concat([header, payload]);
}

function settings(pairs: readonly (readonly [id: number, value: number])[]): Buffer {
  const payload = Buffer.alloc(6 * pairs.length);
  pairs.forEach(([id, value], index) => {
    payload.writeUInt16BE(id, 6 * index);
    payload.writeUInt32BE(value, 6 * index + 2);
  });
  return frame(SETTINGS, 0, 0, payload);
}

function windowUpdate(bytes: number): Buffer {
  const payload = Buffer.alloc(4);
  payload.writeUInt32BE(bytes);
  return frame(WINDOW_UPDATE, 0, 0, payload);
}

/** The frame of a request, which lacks only the id of its stream. */
function encodeRequest(target: Target, request: LoadRequest): Buffer {
  if (request.body !== undefined) throw new Error('the HTTP/2 load sends no bodies');
  return frame(HEADERS, END_HEADERS | END_STREAM, 0, encodeRequestHead(target, request));
}

/**
 * Written apart from the server's own HTTP/2, so that a mistake in that shows here; and it measures builds that have none.
 *
 * Reads of responses the status, how many bytes there are, and where they end. No window is ever empty: a stream's is larger
 * than every response and watch here, the connection's is opened again in time.
 */
interface Stream extends ResponseSink, Waiting {
  status: number;
  bytes: number;
}

class Http2Connection implements LoadConnection {
  private readonly streams = new Map<number, Stream>();
  private nextId = 1;
  private successor: Promise<Http2Connection> | undefined;
  private outgoing: Buffer[] = [];
  /** The beginning of a frame. */
  private waiting: Buffer = EMPTY;
  /** Bytes for which the window has not been opened again. */
  private received = 0;

  static async open(target: Target): Promise<Http2Connection> {
    return new Http2Connection(target, await openTls(target, 'h2'));
  }

  private constructor(
    private readonly target: Target,
    private readonly socket: TLSSocket,
  ) {
    socket.on('data', (data: Buffer) => this.receive(data));
    socket.on('error', (error: Error) => this.fail(error));
    socket.on('close', () => this.fail(new Error('the server closed the connection')));
    this.write(PREFACE);
    // Without a table, a response's status can be read without what came before it.
    this.write(
      settings([
        [HEADER_TABLE_SIZE, 0],
        [ENABLE_PUSH, 0],
        [INITIAL_WINDOW_SIZE, MAX_WINDOW_BYTES],
      ]),
    );
    this.write(windowUpdate(MAX_WINDOW_BYTES - DEFAULT_WINDOW_BYTES));
  }

  send(request: Buffer, sink: ResponseSink = {}): Promise<LoadResponse> {
    const id = this.nextId;
    if (id > LAST_STREAM_ID) return this.sendElsewhere(request, sink);
    this.nextId += 2;
    const bytes = Buffer.from(request);
    bytes.writeUInt32BE(id, 5);
    this.write(bytes);
    return new Promise((resolve, reject) => {
      this.streams.set(id, { ...sink, status: 0, bytes: 0, resolve, reject });
    });
  }

  /** Ids of streams only rise, and end. */
  private async sendElsewhere(request: Buffer, sink: ResponseSink): Promise<LoadResponse> {
    this.successor ??= Http2Connection.open(this.target);
    return (await this.successor).send(request, sink);
  }

  /** What is written in one turn leaves in one piece. */
  private write(bytes: Buffer): void {
    if (this.outgoing.push(bytes) > 1) return;
    process.nextTick(() => {
      this.socket.write(Buffer.concat(this.outgoing));
      this.outgoing = [];
    });
  }

  private receive(data: Buffer): void {
    const bytes = this.waiting.length === 0 ? data : Buffer.concat([this.waiting, data]);
    let at = 0;
    while (bytes.length - at >= FRAME_HEADER_BYTES) {
      const end = at + FRAME_HEADER_BYTES + bytes.readUIntBE(at, 3);
      if (end > bytes.length) break;
      const payload = bytes.subarray(at + FRAME_HEADER_BYTES, end);
      this.onFrame(bytes.readUInt8(at + 3), bytes.readUInt8(at + 4), bytes.readUInt32BE(at + 5), payload);
      at = end;
    }
    this.waiting = bytes.subarray(at);
  }

  /** Neither server pads, gives priorities, or says more of the status in a CONTINUATION. */
  private onFrame(type: number, flags: number, streamId: number, payload: Buffer): void {
    switch (type) {
      case DATA:
        this.countReceived(payload.length);
        return this.onResponse(streamId, flags, (stream) => {
          stream.bytes += payload.length;
          stream.onBody?.(payload);
        });
      case HEADERS:
        return this.onResponse(streamId, flags, (stream) => {
          // Those that come later are trailers.
          if (stream.status !== 0) return;
          stream.status = readStatus(payload);
          stream.onHead?.(stream.status);
        });
      case RST_STREAM:
        this.streams.get(streamId)?.reject(new Error(`the server reset a stream: ${payload.readUInt32BE(0)}`));
        this.streams.delete(streamId);
        return;
      case SETTINGS:
        if ((flags & ACK) === 0) this.write(frame(SETTINGS, ACK, 0, EMPTY));
        return;
      case PING:
        if ((flags & ACK) === 0) this.write(frame(PING, ACK, 0, payload));
        return;
      case GOAWAY:
        return this.fail(
          new Error(`the server said GOAWAY: ${payload.readUInt32BE(4)} ${payload.toString('latin1', 8)}`),
        );
      default: // windows for what we do not send
    }
  }

  private onResponse(streamId: number, flags: number, note: (stream: Stream) => void): void {
    const stream = this.streams.get(streamId);
    if (stream === undefined) return;
    note(stream);
    if ((flags & END_STREAM) === 0) return;
    this.streams.delete(streamId);
    stream.resolve({ status: stream.status, head: '', bytes: stream.bytes });
  }

  private countReceived(bytes: number): void {
    this.received += bytes;
    if (2 * this.received < MAX_WINDOW_BYTES) return;
    this.write(windowUpdate(this.received));
    this.received = 0;
  }

  private fail(error: Error): void {
    for (const { reject } of this.streams.values()) reject(error);
    this.streams.clear();
  }

  close(): void {
    this.socket.destroy();
    this.successor?.then((connection) => connection.close()).catch(() => undefined);
  }
}

export const http2: LoadProtocol = {
  clientsPerConnection: CLIENTS_PER_CONNECTION,
  encodeRequest,
  open: (target) => Http2Connection.open(target),
};
