import { connect, type ClientHttp2Session, type OutgoingHttpHeaders } from 'node:http2';
import { Agent, request as httpsRequest } from 'node:https';
import type { Readable } from 'node:stream';

export type HttpVersion = 'HTTP/1.1' | 'HTTP/2';

export interface Sent {
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

export interface Received {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly stream: Readable;
  /** Goes away without the rest. */
  readonly abort: () => void;
}

/** A client that speaks one version of HTTP over one connection, which it trusts. */
export class VersionedClient {
  readonly #url: URL;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 4, rejectUnauthorized: false });
  readonly #session: ClientHttp2Session | undefined;

  constructor(url: string, version: HttpVersion) {
    this.#url = new URL(url);
    if (version === 'HTTP/2') this.#session = connect(url, { rejectUnauthorized: false });
  }

  /** Resolves with the head of the answer. */
  open(method: string, path: string, { token, headers = {}, body }: Sent = {}): Promise<Received> {
    const all = { ...headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) };
    return this.#session === undefined
      ? this.#overOne(method, path, all, body)
      : this.#overTwo(method, path, all, body);
  }

  async send(
    method: string,
    path: string,
    sent: Sent = {},
  ): Promise<Omit<Received, 'stream' | 'abort'> & { readonly text: string }> {
    const { status, headers, stream } = await this.open(method, path, sent);
    const pieces: Buffer[] = [];
    for await (const piece of stream) pieces.push(piece as Buffer);
    return { status, headers, text: Buffer.concat(pieces).toString('utf8') };
  }

  /** Sends a body's beginning and goes away. */
  async breakOff(method: string, path: string, { token = '', body = '' }: Sent): Promise<void> {
    const headers = { authorization: `Bearer ${token}` };
    if (this.#session === undefined) {
      const { hostname, port } = this.#url;
      const request = httpsRequest({ agent: false, rejectUnauthorized: false, hostname, port, method, path, headers });
      request.on('error', () => undefined);
      await new Promise<void>((resolve) => request.write(body, () => resolve()));
      setTimeout(() => request.destroy(), 20);
    } else {
      // To close a stream, Node.js ends its body first.
      const session = connect(this.#url, { rejectUnauthorized: false }).on('error', () => undefined);
      const stream = session.request({ ':method': method, ':path': path, ...headers });
      stream.on('error', () => undefined);
      await new Promise<void>((resolve) => stream.write(body, () => resolve()));
      setTimeout(() => session.destroy(), 20);
    }
  }

  close(): void {
    this.#agent.destroy();
    this.#session?.destroy();
  }

  #overOne(
    method: string,
    path: string,
    headers: Readonly<Record<string, string>>,
    body?: string | Buffer,
  ): Promise<Received> {
    const { hostname, port } = this.#url;
    return new Promise((resolve, reject) => {
      const request = httpsRequest({ agent: this.#agent, hostname, port, method, path, headers }, (stream) => {
        const { statusCode: status = 0, headers: received } = stream;
        resolve({ status, headers: received, stream, abort: () => request.destroy() });
      });
      request.on('error', reject);
      request.end(body);
    });
  }

  #overTwo(
    method: string,
    path: string,
    headers: Readonly<Record<string, string>>,
    body?: string | Buffer,
  ): Promise<Received> {
    return new Promise((resolve, reject) => {
      const asked: OutgoingHttpHeaders = { ':method': method, ':path': path, ...headers };
      const stream = this.#session!.request(asked, { endStream: body === undefined });
      stream.on('response', (received) => {
        resolve({ status: received[':status'] ?? 0, headers: received, stream, abort: () => stream.close(8) });
      });
      stream.on('error', reject);
      if (body !== undefined) stream.end(body);
    });
  }
}
