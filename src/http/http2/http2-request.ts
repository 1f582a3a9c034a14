import { EventEmitter } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import type { HttpRequest } from '../exchange';
import type { RequestHead } from './request-head';

/** A request whose body the client sends as fast as it is taken. */
export class Http2Request extends EventEmitter implements HttpRequest {
  readonly httpVersion = '2.0';
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readableEnded: boolean;
  readonly #repeated: RequestHead['repeated'];
  #chunks: Buffer[] | undefined;
  #isFlowing = false;
  #hasAll: boolean;

  constructor(
    head: RequestHead,
    readonly socket: Socket,
    hasNoBody: boolean,
    private readonly stream: { bodyTaken(bytes: number): void },
  ) {
    super();
    this.method = head.method;
    this.url = head.url;
    this.headers = head.headers;
    this.#repeated = head.repeated;
    this.readableEnded = this.#hasAll = hasNoBody;
  }

  get headersDistinct(): NodeJS.Dict<string[]> {
    const distinct: NodeJS.Dict<string[]> = {};
    for (const [name, value] of Object.entries(this.headers)) {
      const values = this.#repeated?.get(name);
      distinct[name] = values === undefined ? [String(value)] : [...values];
    }
    return distinct;
  }

  override on(event: string, listener: (...values: never[]) => void): this {
    super.on(event, listener as (...values: unknown[]) => void);
    if (event === 'data') this.resume();
    return this;
  }

  resume(): this {
    if (this.#isFlowing || this.readableEnded) return this;
    this.#isFlowing = true;
    // Whoever listens for data listens for its end in the same turn.
    process.nextTick(() => this.#flow());
    return this;
  }

  /** Takes a piece of the body from the connection. */
  push(chunk: Buffer): void {
    (this.#chunks ??= []).push(chunk);
    if (this.#isFlowing) this.#flow();
  }

  /** The client has said all. */
  pushEnd(): void {
    this.#hasAll = true;
    if (this.#isFlowing) this.#flow();
  }

  #flow(): void {
    const chunks = this.#chunks;
    this.#chunks = undefined;
    for (const chunk of chunks ?? []) {
      this.emit('data', chunk);
      this.stream.bodyTaken(chunk.length);
    }
    if (!this.#hasAll || this.readableEnded) return;
    this.readableEnded = true;
    this.emit('end');
  }
}
