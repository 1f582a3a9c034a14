import type { TLSSocket } from 'node:tls';
import type { LoadRequest, Target } from './job';
import type { LoadConnection, LoadProtocol, LoadResponse, ResponseSink, Waiting } from './load-connection';
import { ResponseReader } from './response-reader';
import { openTls } from './tls-socket';

/** The bytes of a request. `body` is text. */
function encodeRequest({ host, port }: Target, { method, path, headers = {}, body = '' }: LoadRequest): Buffer {
  const lines = [
    `${method} ${path} HTTP/1.1`,
    `Host: ${host}:${port}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(body === '' ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]),
  ];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`);
}

/** One kept-alive connection with one request under way at a time. */
class Http1Connection implements LoadConnection {
  private waiting: Waiting | undefined;
  private sink: ResponseSink = {};

  static async open(target: Target): Promise<Http1Connection> {
    return new Http1Connection(await openTls(target, 'http/1.1'));
  }

  private constructor(private readonly socket: TLSSocket) {
    const reader = new ResponseReader({
      onHead: (status) => this.sink.onHead?.(status),
      onBody: (piece) => this.sink.onBody?.(piece),
      onEnd: (response) => {
        const { waiting } = this;
        this.waiting = undefined;
        waiting?.resolve(response);
      },
    });
    socket.on('data', (data: Buffer) => reader.push(data));
    socket.on('error', (error: Error) => this.fail(error));
    socket.on('close', () => this.fail(new Error('the server closed the connection')));
  }

  send(bytes: Buffer, sink: ResponseSink = {}): Promise<LoadResponse> {
    this.sink = sink;
    return new Promise((resolve, reject) => {
      this.waiting = { resolve, reject };
      this.socket.write(bytes);
    });
  }

  private fail(error: Error): void {
    const { waiting } = this;
    this.waiting = undefined;
    waiting?.reject(error);
  }

  close(): void {
    this.socket.destroy();
  }
}

export const http1: LoadProtocol = {
  clientsPerConnection: 1,
  encodeRequest,
  open: (target) => Http1Connection.open(target),
};
