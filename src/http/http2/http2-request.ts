import { EventEmitter } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import { GrowingBytes } from '../../memory/growing-bytes';
import type { HttpRequest } from '../transport/exchange';
import { newHeaders, type RequestHead } from './request-head';

/** A request whose body the client sends as fast as it is taken. */
export class Http2Request extends EventEmitter implements HttpRequest {
  readonly httpVersion = '2.0';
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readableEnded: boolean;
  readonly #repeated: RequestHead['repeated'];
  #distinct: NodeJS.Dict<string[]> | undefined;
  /** What came before there was a listener. */
  #early: GrowingBytes | undefined;
  #isFlowing = false;
  #hasAll: boolean;

  constructor(
    head: RequestHead,
    readonly socket: Socket,
    hasNoBody: boolean,
    private readonly stream: {
      readonly isClosed: boolean;
      bodyTaken(bytes: number): void;
      /** So many more bytes are kept until they are read; fewer when negative. */
      bodyKept(bytes: number): void;
      trustClient(): void;
    },
  ) {
    super();
    this.method = head.method;
    this.url = head.url;
    this.headers = head.headers;
    this.#repeated = head.repeated;
    this.readableEnded = this.#hasAll = hasNoBody;
  }

  /** The client is gone, or its request was answered before it had said all. */
  get destroyed(): boolean {
    return this.stream.isClosed && !this.readableEnded;
  }

  /** Made once, as some look at it for every name. */
  get headersDistinct(): NodeJS.Dict<string[]> {
    return (this.#distinct ??= distinctOf(this.headers, this.#repeated));
  }

  trustClient(): void {
    this.stream.trustClient();
  }

  override on(event: string, listener: (...values: never[]) => void): this {
    super.on(event, listener as (...values: unknown[]) => void);
    if (event === 'data') this.resume();
    return this;
  }

  resume(): this {
    if (this.#isFlowing || this.readableEnded) return this;
    this.#isFlowing = true;
    // A listener for data listens for its end in the same turn.
    process.nextTick(() => this.#flow());
    return this;
  }

  pause(): this {
    this.#isFlowing = false;
    return this;
  }

  /** Takes a piece of the body from the connection. */
  push(chunk: Buffer): void {
    if (this.#isFlowing && this.#early === undefined) this.#give(chunk);
    else {
      (this.#early ??= new GrowingBytes()).push(chunk);
      this.stream.bodyKept(chunk.length);
    }
  }

  /** The stream is closed: what was kept is dropped, and the body has no end any more. */
  forgetBody(): void {
    this.#leaveEarly()?.drop();
    this.#hasAll = false;
  }

  /** The client has said all. */
  pushEnd(): void {
    this.#hasAll = true;
    if (this.#isFlowing && this.#early === undefined) this.#flow();
  }

  #give(chunk: Buffer): void {
    this.emit('data', chunk);
    this.stream.bodyTaken(chunk.length);
  }

  /** What came before there was a listener: it is the caller's. */
  #leaveEarly(): GrowingBytes | undefined {
    const early = this.#early;
    if (early === undefined) return undefined;
    this.#early = undefined;
    this.stream.bodyKept(-early.length);
    return early;
  }

  #flow(): void {
    if (!this.#isFlowing) return;
    const early = this.#leaveEarly()?.take();
    if (early !== undefined) this.#give(early);
    if (!this.#hasAll || this.readableEnded || !this.#isFlowing) return;
    this.readableEnded = true;
    this.emit('end');
  }
}

function distinctOf(headers: IncomingHttpHeaders, repeated: RequestHead['repeated']): NodeJS.Dict<string[]> {
  const distinct = newHeaders() as unknown as NodeJS.Dict<string[]>;
  for (const [name, value] of Object.entries(headers)) {
    const values = repeated?.get(name);
    distinct[name] = values === undefined ? [String(value)] : [...values];
  }
  return distinct;
}
