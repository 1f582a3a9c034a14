import type { Duplex } from 'node:stream';
import {
  checkedWindow,
  checkGoAway,
  checkLength,
  checkMaxFrameSize,
  contentOf,
  DEFAULT_WINDOW_BYTES,
  Flag,
  forEachSetting,
  FrameReader,
  FrameType,
  goAwayFrame,
  isPingRequest,
  isSettingsAck,
  MAX_FRAME_BYTES,
  MAX_STREAM_ID,
  PING,
  pingAck,
  PREFACE,
  resetFrame,
  Setting,
  SETTINGS_ACK,
  settingsFrame,
  windowIncrement,
  windowUpdateFrame,
} from '../../../http2/frames';
import { HeaderBlocks, type HeaderBlock } from '../../../http2/header-blocks';
import { ErrorCode, errorName, Http2Error, protocolError } from '../../../http2/http2-error';
import { WriteBuffer } from '../../../http2/write-buffer';
import { StreamTable } from '../../../http2/stream-table';
import { BlockPool } from '../../../memory/block-pool';
import { decodeHeaders } from './known-headers';
import type { Http2Stream } from './stream';

const NOTHING: Buffer = Buffer.alloc(0);
const MAX_HEADER_BLOCK_BYTES = 64 * 1024;
/** A block is what one turn of the event loop writes at a busy time, several times over. */
const blocks = new BlockPool(64 * 1024, 256 * 1024);
/** RFC 9113 (6.5.2) recommends that servers allow no fewer: so many may be opened before the server's settings are known. */
const FIRST_MAX_STREAMS = 100;

/**
 * How long a server waits for the answer to its ping. grpc-go measures the delay and the bandwidth of its clients and sends
 * the next ping with the first data after an answer: answered at once, every small call costs both sides a packet more.
 */
const PING_ACK_DELAY_MS = 100;

export interface ConnectionOptions {
  /** How much the server may send ahead: on one stream, and on the connection (more than 65,535). */
  readonly streamWindowBytes: number;
  readonly connectionWindowBytes: number;
  /** An odd number; 1 by default. */
  readonly firstStreamId?: number;
  /** The connection takes no new streams; those that the server knows may finish. */
  readonly onGoAway: () => void;
  /** The connection has ended; its streams are told next. */
  readonly onClose: (error: Error) => void;
}

/**
 * The client's side of one HTTP/2 connection (RFC 9113), as far as gRPC needs it: no server push, no priorities, and header
 * blocks without state. What is written in one turn of the event loop leaves in one piece.
 */
export class Http2Connection<Stream extends Http2Stream> {
  readonly #reader = new FrameReader();
  readonly #streams = new StreamTable<Stream>();
  /** Those that wait until the server allows one more, with their headers. */
  readonly #waiting = new Map<Stream, Buffer>();
  readonly #writeBuffer = new WriteBuffer([blocks]);
  #isFlushDue = false;
  #isStarted = false;
  /** Why there are no new streams any more. */
  #drainReason: Error | undefined;
  #failure: Error | undefined;
  #nextId: number;
  /** Streams above this have not been given to the socket. */
  #flushedId = 0;
  #hasSettings = false;
  #maxStreams = FIRST_MAX_STREAMS;
  #firstSendWindow = DEFAULT_WINDOW_BYTES;
  #sendWindow = DEFAULT_WINDOW_BYTES;
  #received = 0;
  readonly #headerBlocks = new HeaderBlocks(MAX_HEADER_BLOCK_BYTES);
  #pingTimer: NodeJS.Timeout | undefined;

  /** The socket need not be connected yet. What it receives is given to {@link receive}. */
  constructor(
    private readonly socket: Duplex,
    private readonly options: ConnectionOptions,
  ) {
    this.#nextId = options.firstStreamId ?? 1;
    const settings = settingsFrame([
      [Setting.HEADER_TABLE_SIZE, 0],
      [Setting.ENABLE_PUSH, 0],
      [Setting.INITIAL_WINDOW_SIZE, options.streamWindowBytes],
    ]);
    this.#writeBuffer.add(PREFACE);
    this.#writeBuffer.add(settings);
    this.#writeBuffer.add(windowUpdateFrame(0, options.connectionWindowBytes - DEFAULT_WINDOW_BYTES));
    socket.on('error', (error) => this.destroy(error));
    const closed = (): void => this.destroy(new Error('the server closed the connection'));
    socket.on('end', closed);
    socket.on('close', closed);
  }

  /** Sends what has been written so far: the socket is connected. */
  start(): void {
    this.#isStarted = true;
    this.#flush();
  }

  /** Takes what the socket has received. The bytes need not outlast the call. */
  receive(chunk: Buffer): void {
    try {
      this.#reader.push(chunk, this.#takeFrame);
    } catch (error) {
      this.destroy(this.#hasSettings ? (error as Error) : protocolError('the server does not speak HTTP/2'));
    }
  }

  get isStarted(): boolean {
    return this.#isStarted;
  }

  /** All that have not ended. */
  streams(): readonly Stream[] {
    return [...this.#streams, ...this.#waiting.keys()];
  }

  /** Opens a stream, at once or when the server allows one more. The encoded headers must fit a frame. */
  open(stream: Stream, headers: Buffer): void {
    if (this.#streams.size < this.#maxStreams) this.#open(stream, headers);
    else this.#waiting.set(stream, headers);
  }

  /** Sends bytes, of which it makes a copy, as the windows allow. Nothing happens on a stream that has ended. */
  send(stream: Stream, parts: readonly Uint8Array[], isLast: boolean): void {
    if (stream.isClosed) return;
    stream.isOutgoingLast = isLast;
    let length = 0;
    for (const part of parts) length += part.length;
    if (stream.id !== 0 && stream.outgoing.length === 0 && length <= this.#windowOf(stream)) {
      this.#sendFrame(stream, length, parts);
    } else {
      stream.outgoing = Buffer.concat([stream.outgoing, ...parts]);
      if (stream.id !== 0) this.#pump(stream);
    }
  }

  /** Ends a stream whose response is not wanted any more; it is not told. */
  cancel(stream: Stream): void {
    if (stream.isClosed) return;
    if (stream.id !== 0) this.#write(resetFrame(stream.id, ErrorCode.CANCEL));
    this.#remove(stream);
  }

  /** Ends the connection unless the server answers in time. */
  ping(timeoutMs: number): void {
    this.#pingTimer ??= this.#startPingTimer(timeoutMs);
    this.#write(PING);
  }

  #startPingTimer(timeoutMs: number): NodeJS.Timeout {
    const expired = (): void => {
      if (this.#pingTimer === timer) this.destroy(new Error('the server does not answer pings'));
    };
    // After a long turn of the loop the timer comes first, and what has arrived meanwhile is read before the immediate.
    const timer = setTimeout(() => setImmediate(expired), timeoutMs).unref();
    return timer;
  }

  /** Ends the connection and fails its streams. */
  destroy(error: Error): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    this.#drainReason ??= error;
    clearTimeout(this.#pingTimer);
    if (this.#isStarted) {
      this.socket.write(goAwayFrame(0, error instanceof Http2Error ? error.code : ErrorCode.NO_ERROR));
    }
    this.socket.destroy();
    this.options.onClose(error);
    for (const stream of this.streams()) this.#fail(stream, error, stream.id === 0 || stream.id > this.#flushedId);
  }

  #open(stream: Stream, headers: Buffer): void {
    stream.id = this.#nextId;
    stream.sendWindow = this.#firstSendWindow;
    this.#nextId += 2;
    this.#streams.add(stream);
    this.#dueBuffer().addFrameHeader(headers.length, FrameType.HEADERS, Flag.END_HEADERS, stream.id);
    this.#writeBuffer.add(headers);
    if (this.#nextId > MAX_STREAM_ID) this.#drain(new Error('the stream numbers are used up'), MAX_STREAM_ID);
  }

  /** Sends what the stream has and the windows allow. */
  #pump(stream: Stream): void {
    while (stream.outgoing.length > 0 || (stream.isOutgoingLast && !stream.hasSentAll)) {
      const { outgoing } = stream;
      const length = Math.min(outgoing.length, this.#windowOf(stream));
      if (length === 0 && outgoing.length > 0) return;
      stream.outgoing = length === outgoing.length ? NOTHING : outgoing.subarray(length);
      this.#sendFrame(stream, length, [outgoing.subarray(0, length)]);
    }
  }

  #pumpAll(): void {
    for (const stream of this.#streams) if (stream.outgoing.length > 0) this.#pump(stream);
  }

  /** How much the stream's next frame may carry. */
  #windowOf(stream: Stream): number {
    return Math.max(0, Math.min(stream.sendWindow, this.#sendWindow, MAX_FRAME_BYTES));
  }

  #sendFrame(stream: Stream, length: number, parts: readonly Uint8Array[]): void {
    stream.sendWindow -= length;
    this.#sendWindow -= length;
    stream.hasSentAll = stream.isOutgoingLast && stream.outgoing.length === 0;
    this.#dueBuffer().addFrameHeader(length, FrameType.DATA, stream.hasSentAll ? Flag.END_STREAM : 0, stream.id);
    for (const part of parts) this.#writeBuffer.add(part);
  }

  #write(frame: Buffer): void {
    this.#dueBuffer().add(frame);
  }

  /** The writeBuffer, whose content will be sent at the end of this turn. */
  #dueBuffer(): WriteBuffer {
    if (!this.#isFlushDue) {
      this.#isFlushDue = true;
      setImmediate(this.#flush);
    }
    return this.#writeBuffer;
  }

  readonly #flush = (): void => {
    this.#isFlushDue = false;
    if (!this.#isStarted || this.#failure !== undefined || this.#writeBuffer.length === 0) return;
    this.#flushedId = this.#nextId - 2;
    this.#writeBuffer.sendTo(this.socket);
  };

  /** Forgets a stream and lets those in that wait. */
  #remove(stream: Stream): void {
    stream.isClosed = true;
    stream.outgoing = NOTHING;
    if (!this.#streams.delete(stream.id)) this.#waiting.delete(stream);
    if (this.#waiting.size > 0) this.#openWaiting();
    if (this.#drainReason !== undefined && this.#streams.size === 0) this.destroy(this.#drainReason);
  }

  #openWaiting(): void {
    for (const [stream, headers] of this.#waiting) {
      if (this.#streams.size >= this.#maxStreams || this.#drainReason !== undefined) return;
      this.#waiting.delete(stream);
      this.#open(stream, headers);
      this.#pump(stream);
    }
  }

  #fail(stream: Stream, error: Error, isUnsent: boolean): void {
    if (stream.isClosed) return;
    this.#remove(stream);
    stream.onFailure(error, isUnsent);
  }

  /** Takes no new streams, and gives up those above `lastId`. */
  #drain(reason: Error, lastId: number): void {
    if (this.#drainReason === undefined) this.options.onGoAway();
    this.#drainReason = reason;
    for (const stream of this.streams()) if (stream.id === 0 || stream.id > lastId) this.#fail(stream, reason, true);
    if (this.#streams.size === 0) this.destroy(reason);
  }

  readonly #takeFrame = (type: number, flags: number, streamId: number, payload: Buffer): void => {
    if (this.#failure !== undefined) return;
    if (!this.#hasSettings && type !== FrameType.SETTINGS) throw protocolError('a connection begins with SETTINGS');
    this.#headerBlocks.checkOrder(type);
    switch (type) {
      case FrameType.DATA:
        return this.#onData(flags, streamId, payload);
      case FrameType.HEADERS:
        return this.#onBlock(this.#headerBlocks.begin(flags, streamId, contentOf(type, flags, payload)));
      case FrameType.CONTINUATION:
        return this.#onBlock(this.#headerBlocks.goOn(flags, streamId, payload));
      case FrameType.RST_STREAM:
        return this.#onReset(streamId, payload);
      case FrameType.WINDOW_UPDATE:
        return this.#onWindowUpdate(streamId, payload);
      case FrameType.SETTINGS:
        return this.#onSettings(flags, streamId, payload);
      case FrameType.PING:
        return this.#onPing(flags, streamId, payload);
      case FrameType.GOAWAY:
        return this.#onGoAway(streamId, payload);
      case FrameType.PUSH_PROMISE:
        throw protocolError('the server pushes');
      default: // PRIORITY, and what RFC 9113 (4.1) wants ignored because it is unknown
    }
  };

  /** Undefined when it has ended: what was under way then still arrives. */
  #stream(id: number): Stream | undefined {
    if (id % 2 === 0 || id >= this.#nextId) throw protocolError(`a frame for stream ${id}, which nobody opened`);
    return this.#streams.get(id);
  }

  #onData(flags: number, streamId: number, payload: Buffer): void {
    const stream = this.#stream(streamId);
    const data = contentOf(FrameType.DATA, flags, payload);
    const isLast = (flags & Flag.END_STREAM) !== 0;
    // What was taken is given back when it is half of the window, padding included.
    this.#received += payload.length;
    if (2 * this.#received >= this.options.connectionWindowBytes) {
      this.#write(windowUpdateFrame(0, this.#received));
      this.#received = 0;
    }
    if (stream === undefined) return;
    stream.received += payload.length;
    if (2 * stream.received >= this.options.streamWindowBytes && !isLast) {
      this.#write(windowUpdateFrame(streamId, stream.received));
      stream.received = 0;
    }
    try {
      stream.onData(data);
    } catch (error) {
      this.cancel(stream);
      stream.onFailure(error as Error, false);
      return;
    }
    if (isLast) this.#end(stream);
  }

  #onBlock(block: HeaderBlock | undefined): void {
    if (block === undefined) return;
    const stream = this.#stream(block.streamId);
    const headers = decodeHeaders(block.bytes);
    if (stream === undefined) return;
    stream.onHeaders(headers);
    if (block.isLast) this.#end(stream);
  }

  #end(stream: Stream): void {
    // The server did not wait for the rest of the request.
    if (!stream.hasSentAll) this.#write(resetFrame(stream.id, ErrorCode.CANCEL));
    this.#remove(stream);
    stream.onEnd();
  }

  #onReset(streamId: number, payload: Buffer): void {
    checkLength('RST_STREAM', payload, 4);
    const stream = this.#stream(streamId);
    const code = payload.readUInt32BE();
    if (stream === undefined) return;
    this.#fail(
      stream,
      new Error(`the server reset the stream (${errorName(code)})`),
      code === ErrorCode.REFUSED_STREAM,
    );
  }

  #onWindowUpdate(streamId: number, payload: Buffer): void {
    const bytes = windowIncrement(payload);
    if (streamId === 0) {
      this.#sendWindow = checkedWindow(this.#sendWindow + bytes);
      this.#pumpAll();
      return;
    }
    const stream = this.#stream(streamId);
    if (stream === undefined) return;
    stream.sendWindow = checkedWindow(stream.sendWindow + bytes);
    this.#pump(stream);
  }

  #onSettings(flags: number, streamId: number, payload: Buffer): void {
    if (isSettingsAck(flags, streamId, payload)) return;
    if (!this.#hasSettings) this.#maxStreams = Infinity;
    this.#hasSettings = true;
    forEachSetting(payload, (id, value) => this.#onSetting(id, value));
    this.#write(SETTINGS_ACK);
    this.#openWaiting();
    this.#pumpAll();
  }

  #onSetting(id: number, value: number): void {
    switch (id) {
      case Setting.MAX_CONCURRENT_STREAMS:
        this.#maxStreams = value;
        break;
      case Setting.INITIAL_WINDOW_SIZE: {
        const change = checkedWindow(value) - this.#firstSendWindow;
        for (const stream of this.#streams) stream.sendWindow = checkedWindow(stream.sendWindow + change);
        this.#firstSendWindow = value;
        break;
      }
      case Setting.MAX_FRAME_SIZE:
        // We never send larger frames than the smallest that a server may ask for.
        checkMaxFrameSize(value);
        break;
      case Setting.ENABLE_PUSH:
        if (value !== 0) throw protocolError('the server wants to be pushed to');
        break;
      default: // of no meaning to who sends what we send
    }
  }

  #onPing(flags: number, streamId: number, payload: Buffer): void {
    if (isPingRequest(flags, streamId, payload)) {
      const ack = pingAck(payload);
      setTimeout(() => this.#write(ack), PING_ACK_DELAY_MS).unref();
      return;
    }
    clearTimeout(this.#pingTimer);
    this.#pingTimer = undefined;
  }

  /** Several may come, with falling numbers: streams above were not looked at, the others may finish. */
  #onGoAway(streamId: number, payload: Buffer): void {
    checkGoAway(streamId, payload);
    const lastId = payload.readUInt32BE() & MAX_STREAM_ID;
    const code = payload.readUInt32BE(4);
    const words = [errorName(code), payload.toString('latin1', 8)].join(' ').trim();
    this.#drain(new Error(`the server said goodbye (${words})`), lastId);
  }
}
