import { once } from 'node:events';
import { connect, type ClientHttp2Session, type ClientHttp2Stream, type IncomingHttpHeaders } from 'node:http2';
import type { SecureClientSessionOptions } from 'node:http2';
import type { Sent } from './served-over-http';
import { authority } from './serving-keys';

export interface Http2Response {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- answers are looked into freely
  readonly body: any;
}

/** Node's own HTTP/2 on one connection: somebody else's reading of the standard. */
export class Http2Client {
  /** The codes of the GOAWAYs so far. */
  readonly sentAway: number[] = [];

  private constructor(readonly session: ClientHttp2Session) {
    session.on('goaway', (code: number) => this.sentAway.push(code));
    // Told to whoever waits for an answer.
    session.on('error', () => undefined);
  }

  static async connect(port: number, options: SecureClientSessionOptions = {}): Promise<Http2Client> {
    const session = connect(`https://localhost:${port}`, {
      ca: authority.certificatePem,
      host: '127.0.0.1',
      servername: 'localhost',
      ...options,
    });
    const client = new Http2Client(session);
    await once(session, 'connect');
    return client;
  }

  /** Sends a request; its answer is the caller's to read. */
  ask(method: string, path: string, { body, headers }: Sent = {}): ClientHttp2Stream {
    const stream = this.session.request(
      { ':method': method, ':path': path, ...headers },
      { endStream: body === undefined },
    );
    if (body !== undefined) {
      stream.end(typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body));
    }
    return stream;
  }

  async send(method: string, path: string, sent: Sent = {}): Promise<Http2Response> {
    return responseOf(this.ask(method, path, sent));
  }

  /** Resolves when the connection has ended, whoever ended it. */
  async closed(): Promise<void> {
    if (!this.session.destroyed) await once(this.session, 'close');
  }

  destroy(): void {
    this.session.destroy();
  }

  [Symbol.dispose](): void {
    this.destroy();
  }
}

/** Rejects when the stream ends before its answer, which Node does not always take for an error. */
export async function responseOf(stream: ClientHttp2Stream): Promise<Http2Response> {
  const pieces: Buffer[] = [];
  // From the beginning: what nobody listens for may be dropped when the stream closes.
  stream.on('data', (piece: Buffer) => pieces.push(piece));
  const ended = new Promise<void>((resolve, reject) => {
    stream.on('end', resolve).on('error', reject);
    stream.on('close', () => reject(new Error('the answer broke off')));
  });
  const headers = await new Promise<IncomingHttpHeaders & { ':status': number }>((resolve, reject) => {
    stream.on('response', (fields) => resolve(fields as IncomingHttpHeaders & { ':status': number }));
    stream.on('error', reject).on('close', () => reject(new Error('there is no answer')));
    ended.catch(reject);
  });
  await ended;
  const bytes = Buffer.concat(pieces);
  let body: unknown;
  try {
    body = JSON.parse(bytes.toString());
  } catch {
    body = undefined;
  }
  return { status: headers[':status'], headers, bytes, body };
}
