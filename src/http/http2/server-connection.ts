import type { Socket } from 'node:net';
import type { PacedStarts } from '../../async/paced-starts';
import {
  checkGoAway,
  checkLength,
  contentOf,
  Flag,
  FrameType,
  goAwayFrame,
  isPingRequest,
  isSettingsAck,
  pingAck,
  resetFrame,
  Setting,
  SETTINGS_ACK,
  settingsFrame,
  windowIncrement,
} from '../../http2/frames';
import type { HeaderBlock } from '../../http2/header-blocks';
import { HeaderTable } from '../../http2/header-table';
import { encodeHeaders } from '../../http2/hpack';
import { ErrorCode, Http2Error, protocolError } from '../../http2/http2-error';
import { StreamTable } from '../../http2/stream-table';
import type { MemoryAccount } from '../../memory/memory-budget';
import { trustConnection } from '../transport/paced-reading';
import { ResponseSender } from './response-sender';
import { applySettings } from './client-settings';
import { ClientFrames, MAX_RECEIVED_FRAME_BYTES } from './client-frames';
import { ConnectionDeadlines } from './connection-deadlines';
import { RequestBodies, STREAM_WINDOW_BYTES } from './request-bodies';
import { ReceivedMemory } from './received-memory';
import { RecentResets } from './recent-resets';
import { MAX_HEADER_LIST_BYTES, newHeaders, readRequestHead, readTrailers, type RequestHead } from './request-head';
import { ResetBudget, WATCH_RESET, WHOLE_RESET } from './reset-budget';
import { Http2ServerStream, type StreamOwner } from './server-stream';

/** What a client may have us remember of earlier headers; the standard's. */
const HEADER_TABLE_BYTES = 4096;
/** How long a client that was told to go may take to close the connection. */
const LINGER_MS = 1_000;

/** What a connection may make us hold: headers of all requests under way, and bytes of bodies that have not been read. */
interface ConnectionLimits {
  /** References into the header table are large for us and small for the client. */
  readonly headerBytes: number;
  readonly bodyBytes: number;
}

/** Until the client has proved who it is. Room for 250 requests with tokens of 2 kB, and for four bodies that wait. */
const OF_STRANGERS: ConnectionLimits = { headerBytes: 512 * 1024, bodyBytes: 1024 * 1024 };
/** Room for 250 watches with tokens of 8 kB, and for 16 bodies that wait. */
const OF_CLIENTS: ConnectionLimits = { headerBytes: 2 * 1024 * 1024, bodyBytes: 4 * 1024 * 1024 };

const PRIORITY_BYTES = 5;
const CONTINUE = { ':status': '100' };
/** Stands for the head of a request that has too much of it. */
const UNREADABLE: RequestHead = { method: 'GET', url: '/', headers: newHeaders(), repeated: undefined, bytes: 0 };

export interface ConnectionOptions {
  /** How many requests a client may have under way. */
  readonly maxStreams: number;
  /** Where what is held for the client of a connection is written down. */
  readonly accountOf: (socket: Socket) => MemoryAccount;
  readonly onRequest: (stream: Http2ServerStream) => void;
  /** Shared by connections: when the streams of those that have ended are told. Absent: at once. */
  readonly endings?: PacedStarts;
  /** The connection has ended; its streams are told soon. */
  readonly onClose: () => void;
  /** Something went wrong that is not the client's fault; the connection ends. */
  readonly onFault: (error: unknown) => void;
}

/** The server's side of one HTTP/2 connection (RFC 9113), without push and priorities, which clients no longer use. */
export class Http2ServerConnection implements StreamOwner {
  readonly #frames = new ClientFrames((type, flags, streamId, payload) =>
    this.#takeFrame(type, flags, streamId, payload),
  );
  readonly #table = new HeaderTable(HEADER_TABLE_BYTES);
  readonly #streams = new StreamTable<Http2ServerStream>();
  readonly #resets = new ResetBudget();
  readonly sender: ResponseSender;
  readonly #bodies: RequestBodies;
  readonly #deadlines = new ConnectionDeadlines(performance.now());
  #limits = OF_STRANGERS;
  #lastId = 0;
  readonly #recentResets = new RecentResets();
  readonly #received: ReceivedMemory;
  #headerBytes = 0;
  #isPumpDue = false;
  /** Streams that have ended and were not told yet. */
  #ended: Http2ServerStream[] = [];
  #isDraining = false;
  #isLeaving = false;
  #isClosed = false;

  constructor(
    readonly socket: Socket,
    private readonly options: ConnectionOptions,
  ) {
    const { maxStreams } = options;
    this.sender = new ResponseSender(
      socket,
      options.accountOf(socket),
      (stream) => this.#onResponseSent(stream),
      () => this.#onFlushed(),
    );
    this.#received = new ReceivedMemory(this.sender.account);
    this.sender.write(
      settingsFrame([
        [Setting.MAX_CONCURRENT_STREAMS, maxStreams],
        [Setting.INITIAL_WINDOW_SIZE, STREAM_WINDOW_BYTES],
        [Setting.MAX_FRAME_SIZE, MAX_RECEIVED_FRAME_BYTES],
        [Setting.MAX_HEADER_LIST_SIZE, MAX_HEADER_LIST_BYTES],
      ]),
    );
    this.#bodies = new RequestBodies(this.sender, OF_STRANGERS.bodyBytes);
    const destroy = (): void => this.destroy();
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('drain', () => this.#onDrain());
    socket.on('error', destroy).on('end', destroy).on('close', destroy);
  }

  /** What the connection holds of requests, in bytes. */
  get heldBytes(): number {
    return this.#headerBytes + this.#bodies.heldBytes + this.#frames.heldBytes;
  }

  /** To be called now and then: ends what takes too long. `now`: milliseconds of a monotonic clock. */
  sweep(now: number): void {
    const state = {
      reading: this.#frames.state,
      isPaused: this.socket.isPaused(),
      lastId: this.#lastId,
      underWay: this.#streams.size,
      lastBytes: this.#isLeaving ? this.socket.writableLength : undefined,
    };
    const verdict = this.#deadlines.judge(state, now);
    if (verdict === 'late') this.destroy();
    else if (verdict === 'idle') this.drain();
  }

  /** The client has proved who it is. */
  trust(): void {
    if (this.#limits === OF_CLIENTS) return;
    trustConnection(this.socket);
    this.#limits = OF_CLIENTS;
    this.#bodies.grow(OF_CLIENTS.bodyBytes);
  }

  /** The client is to open another connection. What it has asked here is still answered, then this one ends. */
  drain(): void {
    if (this.#isDraining) return;
    // First, as the write may flush, and then nothing keeps a draining connection open.
    this.sender.write(goAwayFrame(this.#lastId, ErrorCode.NO_ERROR));
    this.#isDraining = true;
  }

  /** Ends the connection now. */
  destroy(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.socket.destroy();
    this.#giveUpAll();
    // The last bytes of those that were answered in this turn did not leave.
    for (const stream of this.#ended) stream.isAnswered = false;
    this.#tellEndedInTurns();
    this.options.onClose();
  }

  abort(stream: Http2ServerStream): void {
    this.#reset(stream, ErrorCode.INTERNAL_ERROR);
  }

  bodyTaken(stream: Http2ServerStream, bytes: number): void {
    this.#bodies.take(stream, bytes);
  }

  #onResponseSent(stream: Http2ServerStream): void {
    stream.isAnswered = true;
    // RFC 9113 (8.1): the client need not send the rest of its request.
    if (!stream.hasReceivedAll) this.#sendReset(stream.id, ErrorCode.NO_ERROR);
    this.#remove(stream);
  }

  #onFlushed(): void {
    // Those of a connection that has ended are told in their turn.
    if (!this.#isClosed) this.#tellEnded();
    if (this.#isDraining && this.#streams.size === 0) this.#leave();
  }

  /** Waits a moment for the client to close: what is closed with bytes unread may take the last frames with it. */
  #leave(): void {
    if (this.#isLeaving || this.#isClosed) return;
    this.#isLeaving = true;
    // From when the last answer is with the system: a slow client may need long for it.
    this.socket.end(() => setTimeout(() => this.destroy(), LINGER_MS).unref());
  }

  #onDrain(): void {
    this.sender.countUnsent();
    this.socket.resume();
    this.#pumpAll();
  }

  #tellEnded(): void {
    for (const stream of this.#takeEnded()) this.#tellEnd(stream);
  }

  /** Many connections may end at once, each with hundreds of requests, all of which are given up. */
  #tellEndedInTurns(): void {
    const { endings } = this.options;
    if (endings === undefined) return this.#tellEnded();
    for (const stream of this.#takeEnded()) endings.beginOrWait(this, () => this.#tellEnd(stream));
  }

  #takeEnded(): readonly Http2ServerStream[] {
    if (this.#ended.length === 0) return this.#ended;
    const ended = this.#ended;
    this.#ended = [];
    return ended;
  }

  #tellEnd(stream: Http2ServerStream): void {
    try {
      stream.tellEnd();
    } catch (error) {
      this.options.onFault(error);
    }
  }

  /** Nothing is sent on the stream any more. Its owners are told after the next flush. */
  #remove(stream: Http2ServerStream): void {
    if (!this.#streams.delete(stream.id)) return;
    this.#headerBytes -= stream.headerBytes;
    this.#countReceived();
    this.#bodies.forget(stream);
    this.#ended.push(stream);
    stream.close();
    this.sender.flushSoon();
  }

  /** As {@link #remove} of each, of which there may be hundreds. */
  #giveUpAll(): void {
    const streams = this.#streams.takeAll();
    if (streams.length === 0) return;
    for (const stream of streams) {
      this.#bodies.forget(stream);
      this.#ended.push(stream);
      stream.close();
    }
    this.#headerBytes = 0;
    this.#countReceived();
    this.sender.flushSoon();
  }

  /** Gives a stream up. */
  #reset(stream: Http2ServerStream, code: number): void {
    this.#sendReset(stream.id, code);
    this.#remove(stream);
  }

  #sendReset(streamId: number, code: number): void {
    this.#recentResets.add(streamId);
    this.sender.write(resetFrame(streamId, code));
  }

  /** Resets what the client got wrong. */
  #refuse(streamId: number, code: number): void {
    this.#spendReset();
    const stream = this.#streams.get(streamId);
    if (stream === undefined) this.#sendReset(streamId, code);
    else this.#reset(stream, code);
  }

  #spendReset(cost = WHOLE_RESET): void {
    if (!this.#resets.spend(cost)) throw new Http2Error(ErrorCode.ENHANCE_YOUR_CALM, 'too many requests are given up');
  }

  #receive(chunk: Buffer): void {
    this.#guard(() => this.#frames.receive(chunk));
    this.#countReceived();
  }

  /** Bodies count with their requests. */
  #countReceived(): void {
    this.#received.count(this.#headerBytes + this.#frames.heldBytes);
  }

  /** What is thrown within ends the connection. */
  #guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      if (!(error instanceof Http2Error)) this.options.onFault(error);
      this.#fail(error instanceof Http2Error ? error.code : ErrorCode.INTERNAL_ERROR);
    }
  }

  /** Says why, gives up all streams, and ends the connection. Nothing of what the client still sends is looked at. */
  #fail(code: number): void {
    if (this.#isClosed || this.#isLeaving) return;
    this.sender.write(goAwayFrame(this.#lastId, code));
    this.sender.flush();
    this.#isLeaving = true;
    this.socket.end();
    setTimeout(() => this.destroy(), LINGER_MS).unref();
    this.#giveUpAll();
    this.#tellEndedInTurns();
  }

  #takeFrame(type: number, flags: number, streamId: number, payload: Buffer): void {
    if (this.#isClosed || this.#isLeaving) return;
    switch (type) {
      case FrameType.DATA:
        return this.#onData(flags, streamId, payload);
      case FrameType.HEADERS:
        return this.#onHeaders(flags, streamId, contentOf(type, flags, payload));
      case FrameType.CONTINUATION:
        return this.#onContinuation(flags, streamId, payload);
      case FrameType.PRIORITY:
        if (streamId === 0) throw protocolError('a PRIORITY of the connection');
        return checkLength('PRIORITY', payload, PRIORITY_BYTES);
      case FrameType.RST_STREAM:
        return this.#onReset(streamId, payload);
      case FrameType.SETTINGS:
        return this.#onSettings(flags, streamId, payload);
      case FrameType.PUSH_PROMISE:
        throw protocolError('the client pushes');
      case FrameType.PING:
        return this.#onPing(flags, streamId, payload);
      case FrameType.GOAWAY:
        // It opens no more streams, and closes the connection itself.
        return checkGoAway(streamId, payload);
      case FrameType.WINDOW_UPDATE:
        return this.#onWindowUpdate(streamId, payload);
      default: // RFC 9113 (4.1): unknown ones are ignored
    }
  }

  /** Undefined for one that has ended, or came after the GOAWAY: what was under way then still arrives. */
  #stream(id: number): Http2ServerStream | undefined {
    const isExpected = id <= this.#lastId || this.#isDraining;
    if (id % 2 === 0 || !isExpected) throw protocolError(`a frame for stream ${id}, which nobody opened`);
    return this.#streams.get(id);
  }

  #onData(flags: number, streamId: number, payload: Buffer): void {
    const stream = this.#stream(streamId);
    const data = contentOf(FrameType.DATA, flags, payload);
    this.#bodies.receive(payload.length);
    if (stream === undefined) {
      this.#bodies.release(payload.length);
      return this.#checkUnderWay(streamId);
    }
    if (stream.hasReceivedAll) throw new Http2Error(ErrorCode.STREAM_CLOSED, 'a body goes on after its end');
    this.#bodies.receiveFor(stream, payload.length);
    if (payload.length > data.length) this.bodyTaken(stream, payload.length - data.length);
    if (stream.bodyLeft !== undefined) {
      stream.bodyLeft -= data.length;
      if (stream.bodyLeft < 0) return this.#refuse(streamId, ErrorCode.PROTOCOL_ERROR);
    }
    if (!stream.hasUsefulBody) this.#bodies.drop(stream, data.length);
    else if (data.length > 0) stream.request.push(data);
    if ((flags & Flag.END_STREAM) !== 0) this.#onBodyEnd(stream);
  }

  /** A body or trailers of a stream that has ended: they may have been under way when we reset it, or came after the GOAWAY. */
  #checkUnderWay(streamId: number): void {
    if (streamId <= this.#lastId && !this.#recentResets.has(streamId)) {
      throw new Http2Error(ErrorCode.STREAM_CLOSED, 'a stream goes on after its end');
    }
  }

  #onBodyEnd(stream: Http2ServerStream): void {
    if (stream.isClosed) return;
    if (stream.bodyLeft !== undefined && stream.bodyLeft > 0) {
      return this.#refuse(stream.id, ErrorCode.PROTOCOL_ERROR);
    }
    stream.hasReceivedAll = true;
    stream.request.pushEnd();
  }

  #onHeaders(flags: number, streamId: number, bytes: Buffer): void {
    if (streamId % 2 === 0) throw protocolError('a client opens streams with odd numbers');
    const block = this.#frames.blocks.begin(flags, streamId, bytes);
    if (block !== undefined) this.#onBlock(block);
  }

  #onContinuation(flags: number, streamId: number, bytes: Buffer): void {
    const block = this.#frames.blocks.goOn(flags, streamId, bytes);
    if (block !== undefined) this.#onBlock(block);
  }

  #onBlock(block: HeaderBlock): void {
    const { streamId, isLast, bytes } = block;
    if (streamId > this.#lastId) return this.#open(block);
    const stream = this.#streams.get(streamId);
    const fault = readTrailers(bytes, this.#table);
    if (stream === undefined) return this.#checkUnderWay(streamId);
    if (stream.hasReceivedAll) throw new Http2Error(ErrorCode.STREAM_CLOSED, 'headers after the end of a stream');
    if (fault === 'too large') this.#refuse(streamId, ErrorCode.ENHANCE_YOUR_CALM);
    else if (fault === 'malformed' || !isLast) this.#refuse(streamId, ErrorCode.PROTOCOL_ERROR);
    else this.#onBodyEnd(stream);
  }

  #open({ streamId, isLast, bytes }: HeaderBlock): void {
    const isFull = this.#streams.size >= this.options.maxStreams;
    const head = readRequestHead(bytes, this.#table, isFull ? 0 : this.#limits.headerBytes - this.#headerBytes);
    // The client was told with the GOAWAY that this one will not be looked at.
    if (this.#isDraining) return;
    this.#lastId = streamId;
    if (head === 'malformed') return this.#refuse(streamId, ErrorCode.PROTOCOL_ERROR);
    if (head === 'no room') return this.#refuse(streamId, ErrorCode.REFUSED_STREAM);
    const known = head === 'too large' ? UNREADABLE : head;
    const stream = new Http2ServerStream(this, streamId, known, isLast);
    this.#streams.add(stream);
    this.#headerBytes += known.bytes;
    if (head === 'too large') {
      this.#spendReset();
      stream.response.writeHead(431, { 'Content-Type': 'text/plain; charset=utf-8' });
      stream.response.end('431 Request Header Fields Too Large');
      return;
    }
    if (isLast && (stream.bodyLeft ?? 0) > 0) return this.#refuse(streamId, ErrorCode.PROTOCOL_ERROR);
    if (known.headers.expect === '100-continue') stream.sendHead(encodeHeaders(CONTINUE), false);
    this.options.onRequest(stream);
  }

  #onReset(streamId: number, payload: Buffer): void {
    checkLength('RST_STREAM', payload, 4);
    const stream = this.#stream(streamId);
    if (stream === undefined) return;
    this.#spendReset(stream.response.headersSent ? WATCH_RESET : WHOLE_RESET);
    this.#remove(stream);
  }

  #onWindowUpdate(streamId: number, payload: Buffer): void {
    const bytes = windowIncrement(payload);
    if (streamId === 0) {
      this.sender.growWindow(bytes);
      this.#pumpSoon();
      return;
    }
    const stream = this.#stream(streamId);
    if (stream === undefined) return;
    this.sender.growStreamWindow(stream, bytes);
    this.#pump(stream);
  }

  /** Once in this turn, however often the client says how much it takes. */
  #pumpSoon(): void {
    if (this.#isPumpDue) return;
    this.#isPumpDue = true;
    setImmediate(() => {
      this.#isPumpDue = false;
      this.#guard(() => {
        for (const stream of this.#streams) this.sender.checkWindow(stream);
        this.#pumpAll();
      });
    });
  }

  #pumpAll(): void {
    for (const stream of [...this.#streams]) this.#pump(stream);
  }

  #pump(stream: Http2ServerStream): void {
    if (stream.waiting.length === 0) return;
    this.sender.pump(stream);
    if (!stream.isClosed && !stream.isHeldBack) stream.response.emit('drain');
  }

  #onSettings(flags: number, streamId: number, payload: Buffer): void {
    if (isSettingsAck(flags, streamId, payload)) return;
    this.#frames.haveSettings();
    applySettings(payload, this.sender);
    this.sender.write(SETTINGS_ACK);
    this.#pumpSoon();
  }

  #onPing(flags: number, streamId: number, payload: Buffer): void {
    if (isPingRequest(flags, streamId, payload)) this.sender.write(pingAck(payload));
  }
}
