import { once } from 'node:events';
import { createServer, type Http2Server, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { GrpcChannel, type GrpcStream } from './grpc-channel';
import { GrpcCode, GrpcError } from './grpc-error';
import { frame } from './grpc-frames';

type Answer = (stream: ServerHttp2Stream, path: string) => void;

/** A server of gRPC that answers as the test says. */
class Peer implements AsyncDisposable {
  readonly sessions = new Set<ServerHttp2Session>();
  calls = 0;
  readonly #server: Http2Server;

  private constructor(answer: Answer) {
    this.#server = createServer();
    this.#server.on('session', (session) => this.sessions.add(session));
    this.#server.on('stream', (stream, headers) => {
      this.calls++;
      stream.on('error', () => undefined);
      answer(stream, String(headers[':path']));
    });
  }

  static async start(answer: Answer, port = 0): Promise<Peer> {
    const peer = new Peer(answer);
    peer.#server.listen(port, '127.0.0.1');
    await once(peer.#server, 'listening');
    return peer;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const session of this.sessions) session.destroy();
    await closed;
  }
}

const OK_HEADERS = { ':status': 200, 'content-type': 'application/grpc' };

/** Answers with these messages, then a status. */
function respond(stream: ServerHttp2Stream, bytes: readonly Buffer[], trailers: Record<string, string>): void {
  stream.respond(OK_HEADERS, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers(trailers));
  for (const part of bytes) stream.write(part);
  stream.end();
}

describe('a gRPC channel', () => {
  const channels: GrpcChannel[] = [];
  const channelTo = (port: number): GrpcChannel => {
    const channel = new GrpcChannel(`http://127.0.0.1:${port}`, undefined);
    channels.push(channel);
    return channel;
  };
  const call = (channel: GrpcChannel, timeoutMs = 5_000, signal?: AbortSignal): Promise<Buffer> =>
    channel.unary('/s/M', Buffer.from('question'), timeoutMs, signal);

  afterEach(() => {
    for (const channel of channels.splice(0)) channel.close();
  });

  it('brings questions there and answers back', async () => {
    await using peer = await Peer.start((stream, path) => {
      stream.once('data', (sent: Buffer) => {
        respond(stream, [frame(Buffer.from(`${path} ${sent.subarray(5).toString()}`))], { 'grpc-status': '0' });
      });
    });
    const channel = channelTo(peer.port);
    const answers = await Promise.all([call(channel), call(channel)]);
    expect(answers.map(String)).toEqual(['/s/M question', '/s/M question']);
    expect(peer.sessions.size).toBe(1);
  });

  it('rejects with the status of the server', async () => {
    await using peer = await Peer.start((stream) =>
      stream.respond(
        { ...OK_HEADERS, 'grpc-status': '8', 'grpc-message': 'etcdserver: mvcc: database space exceeded%21' },
        { endStream: true },
      ),
    );
    await expect(call(channelTo(peer.port))).rejects.toMatchObject({
      code: 8,
      message: 'etcdserver: mvcc: database space exceeded!',
      isUnsent: false,
    });
  });

  it('does not take an answer without a status for one', async () => {
    await using peer = await Peer.start((stream) => {
      stream.respond(OK_HEADERS);
      stream.end(frame(Buffer.from('half')));
    });
    await expect(call(channelTo(peer.port))).rejects.toMatchObject({ code: GrpcCode.unavailable, isUnsent: false });
  });

  it('rejects what is no gRPC', async () => {
    await using peer = await Peer.start((stream) => respond(stream, [Buffer.from('<html>')], { 'grpc-status': '0' }));
    await expect(call(channelTo(peer.port))).rejects.toThrow(GrpcError);
  });

  it('gives up at the deadline, and when the caller does', async () => {
    await using peer = await Peer.start(() => undefined);
    const channel = channelTo(peer.port);
    await expect(call(channel, 50)).rejects.toMatchObject({ code: GrpcCode.deadlineExceeded });
    const leaving = new AbortController();
    const answer = call(channel, 5_000, leaving.signal);
    leaving.abort(new Error('the client left'));
    await expect(answer).rejects.toThrow('the client left');
  });

  it('says that nothing was sent when nobody listens, and connects again later', async () => {
    const gone = await Peer.start(() => undefined);
    const { port } = gone;
    await gone[Symbol.asyncDispose]();
    const channel = channelTo(port);
    await expect(call(channel)).rejects.toMatchObject({ code: GrpcCode.unavailable, isUnsent: true });
    // Too soon for another attempt: the same answer, at once.
    await expect(call(channel)).rejects.toMatchObject({ code: GrpcCode.unavailable, isUnsent: true });
    await using peer = await Peer.start(
      (stream) => respond(stream, [frame(Buffer.from('back'))], { 'grpc-status': '0' }),
      port,
    );
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(String(await call(channel))).toBe('back');
    expect(peer.calls).toBe(1);
  });

  it('fails calls under way when the connection breaks: they may have had their effect', async () => {
    await using peer = await Peer.start((stream) => stream.session?.destroy());
    await expect(call(channelTo(peer.port))).rejects.toMatchObject({ code: GrpcCode.unavailable, isUnsent: false });
  });

  it('opens another connection when the server says goodbye', async () => {
    await using peer = await Peer.start((stream) =>
      respond(stream, [frame(Buffer.from('answer'))], { 'grpc-status': '0' }),
    );
    const channel = channelTo(peer.port);
    await call(channel);
    const [first] = peer.sessions;
    const left = once(first!, 'close');
    first!.close();
    await left;
    expect(String(await call(channel))).toBe('answer');
    expect(peer.sessions.size).toBe(2);
  });

  describe('with a stream', () => {
    const collect = async (stream: GrpcStream, count: number): Promise<string[]> => {
      const received: string[] = [];
      for await (const messages of stream) {
        received.push(...messages.map(String));
        if (received.length >= count) break;
      }
      return received;
    };

    it('carries messages both ways until it is cancelled', async () => {
      await using peer = await Peer.start((stream) => {
        stream.respond(OK_HEADERS);
        stream.on('data', (sent: Buffer) => stream.write(sent));
      });
      const stream = channelTo(peer.port).open('/s/Stream', {});
      stream.write(Buffer.from('one'));
      stream.write(Buffer.from('two'));
      expect(await collect(stream, 2)).toEqual(['one', 'two']);
    });

    it('ends with the error of the server', async () => {
      await using peer = await Peer.start((stream) =>
        respond(stream, [frame(Buffer.from('one'))], { 'grpc-status': '14', 'grpc-message': 'no leader' }),
      );
      const received: string[] = [];
      const reading = async (): Promise<void> => {
        for await (const messages of channelTo(peer.port).open('/s/Stream', {})) received.push(...messages.map(String));
      };
      await expect(reading()).rejects.toMatchObject({ code: 14, message: 'no leader' });
      expect(received).toEqual(['one']);
    });

    it('ends when the channel is closed', async () => {
      await using peer = await Peer.start((stream) => stream.respond(OK_HEADERS));
      const channel = channelTo(peer.port);
      const reading = collect(channel.open('/s/Stream', {}), 1);
      setTimeout(() => channel.close(), 50);
      await expect(reading).rejects.toThrow(GrpcError);
    });
  });
});
