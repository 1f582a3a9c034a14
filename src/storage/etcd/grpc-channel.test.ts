import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import {
  constants,
  createSecureServer,
  createServer,
  type Http2Server,
  type SecureServerOptions,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeTestCertificates } from '../../../test/support/certificates';
import { until } from '../../../test/support/until';
import { GrpcChannel, type GrpcStream } from './grpc-channel';
import { GrpcCode, GrpcError } from './grpc-error';
import { messagePrefix } from './grpc-frames';

type Response = (stream: ServerHttp2Stream, path: string) => void;

/** A server of gRPC, on Node's HTTP/2, that answers as the test says. */
class Peer implements AsyncDisposable {
  readonly sessions = new Set<ServerHttp2Session>();
  calls = 0;
  readonly #server: Http2Server;

  private constructor(response: Response, options: SecureServerOptions) {
    this.#server = options.key === undefined ? createServer(options) : createSecureServer(options);
    this.#server.on('session', (session) => this.sessions.add(session));
    this.#server.on('stream', (stream, headers) => {
      this.calls++;
      stream.on('error', () => undefined);
      response(stream, String(headers[':path']));
    });
  }

  static async start(response: Response, port = 0, options: SecureServerOptions = {}): Promise<Peer> {
    const peer = new Peer(response, options);
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

const frame = (message: Buffer): Buffer => Buffer.concat([messagePrefix(message.length), message]);

const echo: Response = (stream) => {
  const parts: Buffer[] = [];
  stream.on('data', (part: Buffer) => parts.push(part));
  stream.on('end', () => respond(stream, parts, { 'grpc-status': '0' }));
};

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
    const responses = await Promise.all([call(channel), call(channel)]);
    expect(responses.map(String)).toEqual(['/s/M question', '/s/M question']);
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
    const response = call(channel, 5_000, leaving.signal);
    leaving.abort(new Error('the client left'));
    await expect(response).rejects.toThrow('the client left');
  });

  it('tells the server of calls that were given up', async () => {
    const codes: number[] = [];
    await using peer = await Peer.start((stream) => stream.on('close', () => codes.push(stream.rstCode)));
    const channel = channelTo(peer.port);
    await expect(call(channel, 50)).rejects.toThrow('the deadline has passed');
    const leaving = new AbortController();
    const answer = call(channel, 5_000, leaving.signal);
    while (peer.calls < 2) await new Promise((resolve) => setTimeout(resolve, 5));
    leaving.abort(new Error('the client left'));
    await expect(answer).rejects.toThrow('the client left');
    await expect(call(channel, 5_000, leaving.signal)).rejects.toThrow('the client left');
    while (codes.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(codes).toEqual([constants.NGHTTP2_CANCEL, constants.NGHTTP2_CANCEL]);
    expect(peer.calls).toBe(2);
  });

  it('leaves nothing behind on a signal', async () => {
    await using peer = await Peer.start(echo);
    const { signal } = new AbortController();
    const listened = jest.spyOn(signal, 'addEventListener');
    await call(channelTo(peer.port), 5_000, signal);
    expect(listened).not.toHaveBeenCalled();
  });

  it('gives up only the calls whose callers do', async () => {
    const open: ServerHttp2Stream[] = [];
    await using peer = await Peer.start((stream) => open.push(stream));
    const channel = channelTo(peer.port);
    const leaving = new AbortController();
    const calls = [call(channel), call(channel, 5_000, leaving.signal), call(channel, 5_000, leaving.signal)];
    while (open.length < 3) await new Promise((resolve) => setTimeout(resolve, 5));
    leaving.abort(new Error('the client left'));
    const left = await Promise.allSettled(calls.slice(1));
    expect(left.map((one) => one.status)).toEqual(['rejected', 'rejected']);
    echo(open[0]!, '');
    expect(String(await calls[0])).toBe('question');
  });

  it('gives up a call that waits for its turn', async () => {
    await using peer = await Peer.start(() => undefined, 0, { settings: { maxConcurrentStreams: 1 } });
    const channel = channelTo(peer.port);
    const first = call(channel, 1_000);
    while (peer.calls < 1) await new Promise((resolve) => setTimeout(resolve, 5));
    const leaving = new AbortController();
    const waiting = call(channel, 5_000, leaving.signal);
    leaving.abort(new Error('the client left'));
    await expect(waiting).rejects.toThrow('the client left');
    await expect(first).rejects.toThrow('the deadline has passed');
    expect(peer.calls).toBe(1);
  });

  it('takes a message whose memory is used again at once', async () => {
    await using peer = await Peer.start(echo);
    const channel = channelTo(peer.port);
    const message = Buffer.alloc(200_000);
    const answers = ['a', 'b', 'c'].map((letter) => channel.unary('/s/M', message.fill(letter), 5_000, undefined));
    message.fill('x');
    expect((await Promise.all(answers)).map((answer) => new Set(answer.toString()))).toEqual(
      ['a', 'b', 'c'].map((letter) => new Set(letter)),
    );
  });

  it.each([
    ['default', {}],
    ['small', { initialWindowSize: 1_000 }],
  ])('brings large messages both ways through %s windows', async (_, settings) => {
    await using peer = await Peer.start(echo, 0, { settings });
    const channel = channelTo(peer.port);
    const sent = [1_500_000, 3, 400_000].map((length, index) => Buffer.alloc(length, index));
    const answers = await Promise.all(sent.map((message) => channel.unary('/s/M', message, 30_000, undefined)));
    expect(answers.map((answer, index) => answer.equals(sent[index]!))).toEqual([true, true, true]);
  });

  it('takes answers that are larger than all windows', async () => {
    const large = Buffer.alloc(20 * 1024 * 1024, 'x');
    const answer: Response = (stream) => respond(stream, [frame(large)], { 'grpc-status': '0' });
    await using peer = await Peer.start(answer, 0, { maxSessionMemory: 100 });
    const channel = channelTo(peer.port);
    const answers = await Promise.all([call(channel, 30_000), call(channel, 30_000)]);
    expect(answers.map((answer) => answer.equals(large))).toEqual([true, true]);
  });

  it('waits its turn when the server limits the calls', async () => {
    let [open, most] = [0, 0];
    const answer: Response = (stream) => {
      most = Math.max(most, ++open);
      stream.on('close', () => open--);
      setTimeout(() => echo(stream, ''), 2);
    };
    await using peer = await Peer.start(answer, 0, { settings: { maxConcurrentStreams: 3 } });
    const channel = channelTo(peer.port);
    await call(channel);
    const answers = await Promise.all(Array.from({ length: 20 }, () => call(channel)));
    expect(answers.map(String)).toEqual(Array(20).fill('question'));
    expect(most).toBe(3);
  });

  it('says that a call was not sent when the server refuses it', async () => {
    await using peer = await Peer.start((stream) => stream.close(constants.NGHTTP2_REFUSED_STREAM));
    await expect(call(channelTo(peer.port))).rejects.toMatchObject({ code: GrpcCode.unavailable, isUnsent: true });
  });

  it('tells the status of a server that is none of gRPC', async () => {
    await using peer = await Peer.start((stream) => {
      stream.respond({ ':status': 404 });
      stream.end();
    });
    await expect(call(channelTo(peer.port))).rejects.toMatchObject({
      code: GrpcCode.unavailable,
      message: 'the stream ended (HTTP status 404)',
      isUnsent: false,
    });
  });

  it('says so when the server speaks no HTTP/2', async () => {
    const server = createTcpServer((socket) =>
      socket
        .resume()
        .on('error', () => undefined)
        .end('HTTP/1.1 400 Bad Request\r\n\r\n'),
    );
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const answer = call(channelTo((server.address() as AddressInfo).port));
    await expect(answer).rejects.toThrow('the server does not speak HTTP/2');
    await once(server.close(), 'close');
  });

  // Each with digits beside it, whose short codes make Huffman's shorter than the text.
  it('understands headers in the code of Huffman, and very long ones', async () => {
    const characters = Array.from({ length: 0xff - 0x20 }, (_, index) => String.fromCharCode(0x20 + index));
    const printable = characters.filter((character) => character !== '%' && character !== '\x7f');
    const messages = printable.map((character) => `0000000${character}0000000`);
    messages.push(messages.join('').repeat(10));
    await using peer = await Peer.start((stream) => {
      const trailers = { 'grpc-status': '5', 'grpc-message': messages[peer.calls - 1] };
      stream.respond({ ...OK_HEADERS, ...trailers }, { endStream: true });
    });
    const channel = channelTo(peer.port);
    const answers = await Promise.allSettled(messages.map(() => call(channel)));
    const received = answers.map((answer) => (answer.status === 'rejected' ? (answer.reason as Error).message : ''));
    expect(received).toEqual(messages);
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

  it('lets calls finish while the server says goodbye', async () => {
    const open: ServerHttp2Stream[] = [];
    await using peer = await Peer.start((stream) => open.push(stream));
    const answer = (stream: ServerHttp2Stream | undefined): void => stream && echo(stream, '');
    const channel = channelTo(peer.port);
    const early = call(channel);
    while (open.length < 1) await new Promise((resolve) => setTimeout(resolve, 5));
    const left = new Promise((resolve) => open[0]!.session!.once('close', resolve));
    open[0]!.session!.close();
    await new Promise((resolve) => setTimeout(resolve, 20));
    const late = call(channel);
    while (open.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
    answer(open[1]);
    expect(String(await late)).toBe('question');
    answer(open[0]);
    expect(String(await early)).toBe('question');
    await left;
    expect(peer.sessions.size).toBe(2);
  });

  describe('over TLS', () => {
    let folder: string;
    let pem: { readonly ca: Buffer; readonly certificate: Buffer; readonly key: Buffer };

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'sternpost-grpc-'));
      const { ca, certificate, key } = await writeTestCertificates(folder, writeFile);
      pem = { ca: await readFile(ca), certificate: await readFile(certificate), key: await readFile(key) };
    });

    afterAll(() => rm(folder, { recursive: true }));

    const start = (): Promise<Peer> => {
      const { ca, certificate: cert, key } = pem;
      return Peer.start(echo, 0, { ca, cert, key, requestCert: true, rejectUnauthorized: true });
    };
    const secureChannelTo = (port: number, tls: Partial<typeof pem> | (() => typeof pem)): GrpcChannel => {
      const channel = new GrpcChannel(`https://127.0.0.1:${port}`, tls);
      channels.push(channel);
      return channel;
    };

    it('shows its certificate', async () => {
      await using peer = await start();
      const message = Buffer.alloc(300_000, 'x');
      const answer = await secureChannelTo(peer.port, pem).unary('/s/M', message, 5_000, undefined);
      expect(answer.equals(message)).toBe(true);
      expect([...peer.sessions].map(({ alpnProtocol }) => alpnProtocol)).toEqual(['h2']);
    });

    it('shows the one that there is when a connection is opened', async () => {
      await using peer = await start();
      const others = await writeTestCertificates(folder, (file, text) => writeFile(`${file}.other`, text));
      const foreign = {
        ca: pem.ca,
        certificate: await readFile(`${others.certificate}.other`),
        key: await readFile(`${others.key}.other`),
      };
      let shown: typeof pem = foreign;
      const channel = secureChannelTo(peer.port, () => shown);
      await expect(call(channel)).rejects.toMatchObject({ code: GrpcCode.unavailable });
      shown = pem;
      await until(
        () => call(channel),
        (answer) => String(answer) === 'question',
      );
    });

    it('fails without one', async () => {
      await using peer = await start();
      await expect(call(secureChannelTo(peer.port, { ca: pem.ca }))).rejects.toMatchObject({
        code: GrpcCode.unavailable,
      });
      expect(peer.calls).toBe(0);
    });

    it('sends nothing to a server that it does not trust', async () => {
      await using peer = await start();
      const { key, certificate } = pem;
      await expect(call(secureChannelTo(peer.port, { key, certificate }))).rejects.toMatchObject({
        code: GrpcCode.unavailable,
        isUnsent: true,
      });
      expect(peer.calls).toBe(0);
    });
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

    it('carries more than all windows, and ends quietly when the server does', async () => {
      const part = frame(Buffer.alloc(100_000, 'x'));
      await using peer = await Peer.start((stream) => respond(stream, Array(300).fill(part), { 'grpc-status': '0' }));
      const received = await collect(channelTo(peer.port).open('/s/Stream', {}), Infinity);
      expect(received.length).toBe(300);
      expect(new Set(received.map(({ length }) => length))).toEqual(new Set([100_000]));
    });

    it('tells the server when it is cancelled, and says nothing more', async () => {
      const codes: number[] = [];
      await using peer = await Peer.start((stream) => {
        stream.respond(OK_HEADERS);
        stream.write(frame(Buffer.from('one')));
        stream.on('close', () => codes.push(stream.rstCode));
      });
      const stream = channelTo(peer.port).open('/s/Stream', {});
      expect(await collect(stream, 1)).toEqual(['one']);
      stream.cancel();
      stream.write(Buffer.from('ignored'));
      while (codes.length < 1) await new Promise((resolve) => setTimeout(resolve, 5));
      expect(codes).toEqual([constants.NGHTTP2_CANCEL]);
      await expect(collect(stream, 1)).rejects.toThrow(GrpcError);
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
