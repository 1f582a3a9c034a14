import { once } from 'node:events';
import { connect as connectHttp2, type ClientHttp2Session, type Settings } from 'node:http2';
import { connect as connectTcp, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { frame, headers } from '../../../src/http2/wire.fixture';
import { FrameType, PREFACE } from '../../../src/http2/frames';

interface Connection {
  readonly destroyed: boolean;
  destroy(): unknown;
}

/** A SETTINGS frame that asks for nothing: with it, a connection of HTTP/2 has begun. */
export const HELLO = Buffer.concat([PREFACE, frame(FrameType.SETTINGS, 0, 0)]);

/** The whole head of a request over HTTP/2, from its encoded fields. */
export const head = headers;

/** A GET over HTTP/1.1 by the bearer of a token. */
export function get(path: string, token: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`;
}

/** The head of a POST over HTTP/1.1 whose body of so many bytes is to follow. */
export function post(path: string, token: string, bytes: number, contentType = 'application/json'): string {
  return (
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n` +
    `Content-Type: ${contentType}\r\nContent-Length: ${bytes}\r\n\r\n`
  );
}

/** Clients by hand that keep no rules: whatever they open is closed together. */
export class Attackers {
  readonly #connections: Connection[] = [];

  constructor(private readonly port: () => number) {}

  /** Those that the server has not ended. */
  get open(): number {
    return this.#connections.filter(({ destroyed }) => !destroyed).length;
  }

  /** A connection that says nothing, not even TLS. */
  async silent(): Promise<Socket> {
    const socket = this.#track(connectTcp({ port: this.port(), host: '127.0.0.1' }));
    await once(socket, 'connect');
    return socket.resume();
  }

  /** A connection that sends this, and reads nothing until somebody resumes it. */
  async send(protocol: 'http/1.1' | 'h2', ...sent: readonly (string | Uint8Array)[]): Promise<TLSSocket> {
    const socket = this.#track(
      connectTls({ port: this.port(), host: '127.0.0.1', ALPNProtocols: [protocol], rejectUnauthorized: false }),
    );
    await once(socket, 'secureConnect');
    socket.pause();
    for (const bytes of sent) socket.write(bytes);
    return socket;
  }

  /** A connection of HTTP/2 that keeps the protocol's rules, at least. */
  async session(settings: Settings = {}): Promise<ClientHttp2Session> {
    const session = connectHttp2(`https://127.0.0.1:${this.port()}`, { rejectUnauthorized: false, settings });
    this.#track(session);
    await once(session, 'connect');
    return session;
  }

  /** So many requests for one path, on a connection whose windows stay closed. */
  async unread(
    path: string,
    streams: number,
    token: string,
    more: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    const session = await this.session({ initialWindowSize: 0 });
    for (let count = 0; count < streams; count++) {
      const stream = session.request({ ':path': path, authorization: `Bearer ${token}`, ...more });
      stream.on('error', () => undefined).pause();
    }
  }

  leave(): void {
    for (const connection of this.#connections.splice(0)) connection.destroy();
  }

  /** Whatever happens to the connection is the server's doing. */
  #track<T extends Connection & NodeJS.EventEmitter>(connection: T): T {
    this.#connections.push(connection);
    connection.on('error', () => undefined);
    return connection;
  }
}

/** Until something is so; the test's own time limit ends what never is. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await sleep(20);
}

/** Until what the server says of itself has not changed for a moment. */
export async function settled(state: () => number | Promise<number>): Promise<void> {
  for (let last = NaN, quiet = 0; quiet < 10; quiet++) {
    await sleep(50);
    const now = await state();
    if (now !== last) quiet = 0;
    last = now;
  }
}
