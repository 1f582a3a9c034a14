import { once } from 'node:events';
import {
  createSecureServer,
  type Http2SecureServer,
  type SecureServerOptions,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import { createServer as createHttpsServer } from 'node:https';
import { createServer as createTcpServer, type AddressInfo, type Server } from 'node:net';
import { createSecureContext, createServer as createTlsServer } from 'node:tls';
import { authority, servingKeys, tls } from '../../test/support/serving-keys';
import { until } from '../../test/support/until';
import { createAuthority } from '../pki/authority';
import { askOverHttp2, type BackendAnswer } from './ask-over-http2';
import { BackendFailure } from './backend-failure';
import { Http2Connections } from './http2-connections';

const DIAL_TIMEOUT_MS = 300;

let connections: Http2Connections;
/** With their connections. */
let servers: { readonly server: Server; readonly sockets: Set<{ destroy: () => void }> }[];

beforeEach(() => {
  servers = [];
  connections = connectionsThatTrust(authority.certificatePem);
});

afterEach(async () => {
  connections.close();
  for (const { server, sockets } of servers) {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  }
});

function connectionsThatTrust(ca: string): Http2Connections {
  const connection = { secureContext: createSecureContext({ ca }), rejectUnauthorized: true };
  return new Http2Connections({ connection, dialTimeoutMs: DIAL_TIMEOUT_MS });
}

async function listen(server: Server, port = 0): Promise<number> {
  const sockets = new Set<{ destroy: () => void }>();
  server.on('connection', (socket: { destroy: () => void }) => sockets.add(socket));
  servers.push({ server, sockets });
  await once(server.listen(port, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

/** A backend, the connections that it has had, and the requests that are under way there. */
interface Peer {
  readonly port: number;
  readonly sessions: ServerHttp2Session[];
  readonly streams: Set<ServerHttp2Stream>;
}

async function peer(
  onStream: (stream: ServerHttp2Stream, path: string) => void,
  options: SecureServerOptions = {},
  port?: number,
): Promise<Peer> {
  const server: Http2SecureServer = createSecureServer({ key: tls.key, cert: tls.cert, ...options });
  const sessions: ServerHttp2Session[] = [];
  const streams = new Set<ServerHttp2Stream>();
  server.on('session', (session) => sessions.push(session));
  server.on('sessionError', () => undefined);
  server.on('stream', (stream, headers) => {
    streams.add(stream);
    stream.on('error', () => undefined).on('close', () => streams.delete(stream));
    onStream(stream, headers[':path'] ?? '');
  });
  return { port: await listen(server, port), sessions, streams };
}

function ask(port: number, path = '/', signal = new AbortController().signal): Promise<BackendAnswer | undefined> {
  const backend = { scheme: 'https', host: 'localhost', port, trust: 'kubelet' } as const;
  return askOverHttp2(connections, backend, path, { signal, workOwner: 'a', describeWork: () => ({}) });
}

/** Reads to the end. */
async function textOf(answer: BackendAnswer | undefined): Promise<string> {
  let text = '';
  for await (const piece of answer!.body as AsyncIterable<Buffer>) text += String(piece);
  return text;
}

const answerPath = (stream: ServerHttp2Stream, path: string): void => {
  stream.respond({ ':status': 200 });
  stream.end(path);
};

/** As a log that is followed. */
const answerEndlessly = (stream: ServerHttp2Stream): void => {
  stream.respond({ ':status': 200 });
  stream.write('line\n');
};

function askTimes(count: number, port: number): Promise<(BackendAnswer | undefined)[]> {
  return Promise.all(Array.from({ length: count }, () => ask(port)));
}

it('asks for a path, and passes on the status, where it leads and the body', async () => {
  const { port } = await peer((stream, path) => {
    stream.respond({ ':status': 404, location: '/elsewhere' });
    stream.end(`nothing at ${path}`);
  });
  const answer = await ask(port, '/containerLogs/ns/pod/main?follow=true');
  expect(answer).toMatchObject({ statusCode: 404, location: '/elsewhere' });
  expect(await textOf(answer)).toBe('nothing at /containerLogs/ns/pod/main?follow=true');
});

describe('requests at once', () => {
  it('share a connection, a hundred of them', async () => {
    const { port, sessions, streams } = await peer(answerEndlessly);
    const answers = await askTimes(100, port);
    expect([sessions.length, streams.size]).toEqual([1, 100]);
    await ask(port);
    expect([sessions.length, streams.size]).toEqual([2, 101]);
    answers[50]!.body.destroy();
    await until(
      () => Promise.resolve(streams.size),
      (left) => left === 100,
    );
    await ask(port);
    expect(sessions).toHaveLength(2);
  });

  it('are no more on a connection than the other end allows', async () => {
    const { port, sessions, streams } = await peer(answerEndlessly, { settings: { maxConcurrentStreams: 3 } });
    await askTimes(7, port);
    expect([sessions.length, streams.size]).toEqual([3, 7]);
  });

  it('wait on one connection where none is allowed for the moment', async () => {
    const { port, sessions } = await peer(answerPath, { settings: { maxConcurrentStreams: 0 } });
    const asked = ask(port, '/later');
    await until(
      () => Promise.resolve(sessions.length),
      (count) => count === 1,
    );
    await new Promise((resolve) => setTimeout(resolve, 50));
    sessions[0]!.settings({ maxConcurrentStreams: 10 });
    expect(await textOf(await asked)).toBe('/later');
    expect(sessions).toHaveLength(1);
  });

  it('do not wait for one whose body nobody reads', async () => {
    const { port, sessions } = await peer((stream, path) => {
      stream.respond({ ':status': 200 });
      if (path === '/flood') stream.write(Buffer.alloc(256 * 1024));
      else stream.end('whole');
    });
    const floods = await Promise.all(Array.from({ length: 20 }, () => ask(port, '/flood')));
    for (const flood of floods) flood!.body.pause();
    expect(await textOf(await ask(port))).toBe('whole');
    expect(sessions).toHaveLength(1);
  });
});

describe('a connection', () => {
  it('that the other end lets go of is used no more, and what is under way there goes on', async () => {
    const { port, sessions, streams } = await peer((stream, path) =>
      path === '/endless' ? answerEndlessly(stream) : answerPath(stream, path),
    );
    const endless = await ask(port, '/endless');
    sessions[0]!.goaway();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await textOf(await ask(port, '/next'))).toBe('/next');
    expect(sessions).toHaveLength(2);
    for (const stream of streams) stream.end('last\n');
    expect(await textOf(endless)).toBe('line\nlast\n');
  });

  it('that the other end closes when it is used again is replaced', async () => {
    let asked = 0;
    const { port, sessions } = await peer((stream, path) => {
      if (++asked === 2) stream.session!.destroy();
      else answerPath(stream, path);
    });
    expect(await textOf(await ask(port, '/first'))).toBe('/first');
    expect(await textOf(await ask(port, '/second'))).toBe('/second');
    expect([sessions.length, asked]).toEqual([2, 3]);
  });

  it('that is closed before its first answer is a failure', async () => {
    const { port } = await peer((stream) => stream.session!.destroy());
    await expect(ask(port)).rejects.toThrow(/^EOF$/);
  });

  it('ends with its last request when all are closed', async () => {
    const { port, sessions, streams } = await peer(answerEndlessly);
    const answer = await ask(port);
    connections.close();
    for (const stream of streams) stream.end('last\n');
    expect(await textOf(answer)).toBe('line\nlast\n');
    if (!sessions[0]!.destroyed) await once(sessions[0]!, 'close');
  });

  it('that nobody uses ends', async () => {
    const { port, sessions } = await peer(answerPath);
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask', 'performance'] });
    try {
      await textOf(await ask(port));
      await new Promise((resolve) => setImmediate(resolve));
      const closed = once(sessions[0]!, 'close');
      jest.advanceTimersByTime(89_000);
      expect(sessions[0]!.closed).toBe(false);
      jest.advanceTimersByTime(2_000);
      await closed;
    } finally {
      jest.useRealTimers();
    }
  });
});

describe('an abort', () => {
  it('before the answer ends the request on the other side', async () => {
    const { port, streams } = await peer(() => undefined);
    const controller = new AbortController();
    const asked = ask(port, '/', controller.signal);
    await until(
      () => Promise.resolve(streams.size),
      (count) => count === 1,
    );
    controller.abort();
    await expect(asked).rejects.toThrow(BackendFailure);
    await until(
      () => Promise.resolve(streams.size),
      (count) => count === 0,
    );
  });

  it('after it ends the body', async () => {
    const { port } = await peer(answerEndlessly);
    const controller = new AbortController();
    const { body } = (await ask(port, '/', controller.signal))!;
    const closed = once(body.resume(), 'close');
    controller.abort();
    await closed;
  });

  it('before the connection is made asks for nothing', async () => {
    let asked = 0;
    const { port } = await peer(() => (asked += 1));
    await expect(ask(port, '/', AbortSignal.abort())).rejects.toThrow(BackendFailure);
    expect(asked).toBe(0);
  });
});

describe('a backend', () => {
  it('that speaks HTTP/1.1 only is not asked, and is remembered as such', async () => {
    const server = createHttpsServer({ key: tls.key, cert: tls.cert });
    let dials = 0;
    server.on('connection', () => (dials += 1));
    const port = await listen(server);
    expect(await ask(port)).toBeUndefined();
    expect(await ask(port)).toBeUndefined();
    expect(dials).toBe(1);
  });

  it('that never comes to its answer is left', async () => {
    const { port } = await peer((stream) => {
      for (let count = 0; count < 10; count++) stream.additionalHeaders({ ':status': 103 });
    });
    await expect(ask(port)).rejects.toThrow('net/http: too many 1xx informational responses');
  });

  it('that never tells its settings is left', async () => {
    const port = await listen(
      createTlsServer({ key: tls.key, cert: tls.cert, ALPNProtocols: ['h2'] }, (socket) =>
        socket.on('error', () => undefined).resume(),
      ),
    );
    await expect(ask(port)).rejects.toThrow('context deadline exceeded');
  });

  it('that never answers a handshake is left', async () => {
    const port = await listen(createTcpServer((socket) => socket.on('error', () => undefined).resume()));
    await expect(ask(port)).rejects.toThrow('context deadline exceeded');
  });

  it('whose certificate is of another authority is not asked', async () => {
    let asked = 0;
    const { certificatePem: cert, privateKeyPem: key } = servingKeys(createAuthority('other', new Date()));
    const { port } = await peer(() => (asked += 1), { cert, key });
    await expect(ask(port)).rejects.toThrow('x509: certificate signed by unknown authority');
    expect(asked).toBe(0);
  });

  it('that is not there is a failure for all who wait, and is asked again by the next', async () => {
    const server = createTcpServer();
    const port = await listen(server);
    servers.pop();
    await new Promise((resolve) => server.close(resolve));
    const outcomes = await Promise.allSettled([ask(port), ask(port)]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await peer(answerPath, {}, port);
    expect(await textOf(await ask(port))).toBe('/');
  });
});
