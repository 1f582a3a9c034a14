import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { HttpResponse } from '../transport/exchange';

/**
 * The `socket` of a request that shares its connection with others: it tells what the connection tells, and what ends it ends the
 * request alone.
 */
export class StreamSocket extends EventEmitter {
  destroyed = false;
  readable = true;
  writable = true;

  constructor(
    private readonly connection: Socket,
    private readonly response: HttpResponse,
  ) {
    super();
  }

  get encrypted(): boolean {
    return this.connection instanceof TLSSocket;
  }

  get authorized(): boolean {
    return this.connection instanceof TLSSocket && this.connection.authorized;
  }

  get remoteAddress(): string | undefined {
    return this.connection.remoteAddress;
  }

  get remotePort(): number | undefined {
    return this.connection.remotePort;
  }

  get remoteFamily(): string | undefined {
    return this.connection.remoteFamily;
  }

  get localAddress(): string | undefined {
    return this.connection.localAddress;
  }

  get localPort(): number | undefined {
    return this.connection.localPort;
  }

  getPeerCertificate(detailed?: boolean): object {
    return this.connection instanceof TLSSocket ? this.connection.getPeerCertificate(detailed === true) : {};
  }

  /** Not 0 while the response has ended and not all of it is handed to the system. */
  get writableLength(): number {
    return this.response.writableEnded && !this.response.writableFinished ? 1 : 0;
  }

  /** Requests have the server's deadline. */
  setTimeout(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  cork(): void {}
  uncork(): void {}
  ref(): void {}
  unref(): void {}
  pause(): void {}
  resume(): void {}

  /** The connection speaks for others, too: only the response writes. */
  write(): never {
    throw new Error('the connection is shared: write to the response');
  }

  end(): this {
    return this.destroy();
  }

  destroy(error?: Error): this {
    if (this.destroyed) return this;
    this.response.destroy(error);
    this.over();
    return this;
  }

  /** The request is over. */
  over(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.readable = false;
    this.writable = false;
    process.nextTick(() => this.emit('close', false));
  }
}
