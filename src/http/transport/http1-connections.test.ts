import { once } from 'node:events';
import { createServer as createTlsServer } from 'node:https';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { permissiveServer } from '../../../test/support/permissive-server';
import { catalogueOf, CONFIG_MAPS, servedOverHttp } from '../../../test/support/served-over-http';
import { tls } from '../../../test/support/serving-keys';
import { configMap } from '../../api/kinds/core/config-map';
import { http1LimitsFor, http1Options, watchConnections, type Http1Limits } from './http1-connections';
import { textResponse } from '../response/api-response';
import { createServer, type ApiServer, type ServerOptions } from '../server';

const { fixture, send } = servedOverHttp();

const LARGE = '/api/v1/namespaces/large/configmaps';

/** A server with what is to be said about one test; everybody may do all. */
function serverWith(options: Partial<ServerOptions>): ApiServer {
  return createServer({
    catalogue: catalogueOf(fixture(), [configMap]),
    ...permissiveServer,
    nonResourceRoutes: [
      { path: '/healthz', handler: () => textResponse(200, 'ok') },
      { path: '/large', handler: () => textResponse(200, 'x'.repeat(8_000_000)) },
      { path: '/slow', handler: async () => (await sleep(500), textResponse(200, 'late')) },
    ],
    ...options,
  });
}

it('leaves an upload the time that requests have, and five minutes at least', () => {
  expect(http1LimitsFor(60_000)).toMatchObject({ requestHeadMs: 32_000, requestMs: 300_000, idleMs: 90_000 });
  expect(http1LimitsFor(600_000).requestMs).toBe(600_000);
});

const QUICK: Http1Limits = { requestHeadMs: 200, requestMs: 400, idleMs: 200, checkMs: 20, lastSilenceMs: 200 };

/** TCP connections of this process, both ends. */
function openSockets(): number {
  return process.getActiveResourcesInfo().filter((type) => type === 'TCPSocketWrap').length;
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await sleep(10);
}

/** All that comes until the server ends its side; the client's stays open. */
async function responseTo(port: number, ...sent: readonly string[]): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  let text = '';
  socket.on('error', () => undefined).on('data', (piece) => (text += String(piece)));
  const ended = new Promise((resolve) => socket.on('end', resolve).on('close', resolve));
  for (const piece of sent) {
    socket.write(piece);
    await sleep(20);
  }
  await ended;
  socket.destroy();
  return text;
}

describe('a request that breaks the rules of HTTP/1.1', () => {
  let server: ApiServer;
  let port: number;
  beforeAll(async () => {
    server = serverWith({});
    ({ port } = await server.listen());
  });
  afterAll(() => server.close(0));

  const request = (...lines: readonly string[]): string => `${lines.join('\r\n')}\r\n\r\n`;
  const host = 'Host: a';
  const fields = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `X-${index}: y`);

  it.each([
    [
      'is of another version',
      request('GET / HTTP/2.0', host),
      '505 HTTP Version Not Supported: unsupported protocol version',
    ],
    [
      'is of an early version',
      request('GET / HTTP/0.9', host),
      '505 HTTP Version Not Supported: unsupported protocol version',
    ],
    [
      'is of a version to come',
      request('GET / HTTP/3.0', host),
      '505 HTTP Version Not Supported: unsupported protocol version',
    ],
    [
      'has a body in another encoding',
      request('PUT / HTTP/1.1', host, 'Transfer-Encoding: gzip, chunked'),
      '501 Not Implemented',
    ],
    ['has a body in no known encoding', request('PUT / HTTP/1.1', host, 'Transfer-Encoding: x'), '501 Not Implemented'],
    ['has no host', request('GET / HTTP/1.1'), '400 Bad Request'],
    ['names two hosts', request('GET / HTTP/1.1', host, 'HOST: b'), '400 Bad Request: too many Host headers'],
    ['names what is no host', request('GET / HTTP/1.1', 'Host: a/b'), '400 Bad Request: malformed Host header'],
    ['has a header without a name', request('GET / HTTP/1.1', host, ': x'), '400 Bad Request'],
    ['has white space before a colon', request('GET / HTTP/1.1', host, 'A : x'), '400 Bad Request'],
    ['has a folded header', request('GET / HTTP/1.1', host, 'A: x', ' y'), '400 Bad Request'],
    ['has a target without a slash', request('GET x HTTP/1.1', host), '400 Bad Request'],
    ['has a method that is none', request('G<T / HTTP/1.1', host), '400 Bad Request'],
    [
      'is framed twice',
      request('PUT / HTTP/1.1', host, 'Content-Length: 1', 'Transfer-Encoding: chunked'),
      '400 Bad Request',
    ],
    ['has two lengths', request('PUT / HTTP/1.1', host, 'Content-Length: 1', 'Content-Length: 2'), '400 Bad Request'],
    [
      'has more headers than are read',
      request('GET / HTTP/1.1', host, ...fields(2_001)),
      '431 Request Header Fields Too Large',
    ],
    [
      'has a header that is too large',
      request('GET / HTTP/1.1', host, `X: ${'y'.repeat(140_000)}`),
      '431 Request Header Fields Too Large',
    ],
    ['is TLS', '\x16\x03\x01\x02\x00', '400 Bad Request'],
  ])('and %s is refused, and its connection ends', async (_what, sent, status) => {
    const response = await responseTo(port, sent);
    expect(response.slice(0, response.indexOf('\r\n'))).toBe(`HTTP/1.1 ${status}`);
    expect(response).toMatch(/\r\nConnection: close\r\n/i);
  });

  it.each([
    ['a header of 100 kB', request('GET /healthz HTTP/1.1', host, `X: ${'y'.repeat(100_000)}`, 'Connection: close')],
    ['2,000 headers', request('GET /healthz HTTP/1.1', host, ...fields(1_998), 'Connection: close')],
    ['an address as its host', request('GET /healthz HTTP/1.1', 'Host: [::1]:6443', 'Connection: close')],
    [
      'a body in chunks',
      request('GET /healthz HTTP/1.1', host, 'Transfer-Encoding: Chunked', 'Connection: close') + '1\r\nx\r\n0\r\n\r\n',
    ],
    ['version 1.0 and no host', request('GET /healthz HTTP/1.0')],
  ])('is not one with %s', async (_what, sent) => {
    expect(await responseTo(port, sent)).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  });

  it('does not spoil the answer to the one before it, nor is its own taken for that to the next one', async () => {
    const slow = request('GET /slow HTTP/1.1', host);
    const answer = await responseTo(port, slow, 'GARBAGE\r\n\r\n', 'MORE\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\nlate/);
    expect(answer).not.toContain('400');
  });
});

describe('a request that comes while the answer before it is still being sent', () => {
  it('is read whole over TLS, in however many records it comes', async () => {
    const large = Buffer.alloc(4_000_000, 'x');
    const codes: (string | undefined)[] = [];
    const server = createTlsServer({ ...tls, ...http1Options(http1LimitsFor(60_000)) }, (request, response) => {
      if (request.method === 'GET') return void response.end(large);
      let bytes = 0;
      request.on('data', (piece: Buffer) => (bytes += piece.length)).on('end', () => response.end(`took ${bytes}`));
    });
    watchConnections(server, http1LimitsFor(60_000));
    server.on('clientError', ({ code }: NodeJS.ErrnoException) => codes.push(code));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const client = connectTls({ port: (server.address() as AddressInfo).port, rejectUnauthorized: false });
    await once(client, 'secureConnect');
    try {
      client.pause();
      client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
      await sleep(100);
      // Three records, which arrive together.
      client.write(`PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 40000\r\n\r\n${'y'.repeat(40_000)}`);
      await sleep(100);
      let end = '';
      client.on('data', (piece: Buffer) => (end = (end + piece.toString('latin1')).slice(-200)));
      client.on('close', () => (end += 'closed')).resume();
      await until(() => /took 40000$|closed$/.test(end));
      expect(end).toMatch(/took 40000$/);
      expect(codes).toEqual([]);
    } finally {
      client.destroy();
      server.close();
    }
  });

  it('fails without an answer where node:http cannot read it after all, so that its client repeats it', async () => {
    const server = createTlsServer(tls, () => undefined);
    watchConnections(server, http1LimitsFor(60_000));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const accepted = once(server, 'secureConnection') as Promise<[TLSSocket]>;
    const client = connectTls({ port: (server.address() as AddressInfo).port, rejectUnauthorized: false });
    let text = '';
    client.on('data', (piece) => (text += String(piece))).on('error', () => undefined);
    const [socket] = await accepted;
    server.emit('clientError', Object.assign(new Error('Parse Error: Paused'), { code: 'HPE_PAUSED' }), socket);
    await once(client, 'close');
    expect(text).toBe('');
    server.close();
  });
});

describe.each([
  ['plain HTTP', {}],
  ['TLS', { tls }],
])('over %s, a client that keeps the server waiting', (_what, options) => {
  const CLIENTS = 40;
  // More than the buffers of a connection hold.
  beforeAll(async () => {
    for (let index = 0; index < 10; index++) {
      const body = { metadata: { name: `of-${index}` }, data: { k: 'x'.repeat(900_000) } };
      await send('POST', LARGE, { body });
    }
  });
  let server: ApiServer;
  let port: number;
  let before: number;
  let clients: Socket[] = [];
  beforeEach(async () => {
    server = serverWith({ ...options, http1Limits: QUICK, requestTimeoutMs: 300 });
    ({ port } = await server.listen());
    before = openSockets();
  });
  afterEach(async () => {
    const closed = clients.filter((client) => !client.closed).map((client) => once(client, 'close'));
    for (const client of clients) client.destroy();
    await Promise.all(closed);
    clients = [];
    await server.close(0);
    await until(() => openSockets() <= before);
  });

  /** Never ends by itself, and does not read before it is told to. */
  async function client(sent: string): Promise<Socket> {
    const target = { port, host: '127.0.0.1', allowHalfOpen: true };
    const socket = 'tls' in options ? connectTls({ ...target, rejectUnauthorized: false }) : connect(target);
    socket.on('error', () => undefined);
    clients.push(socket);
    // On a busy machine a server in such a hurry leaves some in the middle of their handshakes.
    const opened = 'tls' in options ? 'secureConnect' : 'connect';
    await new Promise((resolve) => socket.once(opened, resolve).once('close', resolve));
    if (sent !== '' && socket.writable) socket.write(sent);
    return socket;
  }

  it.each([
    ['says nothing', '', true],
    ['sends half a head', 'GET / HTTP/1.1\r\nHost: a\r\nX: ', true],
    ['sends half a body', `POST ${CONFIG_MAPS} HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{`, true],
    ['sends nothing more after an answer', 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n', true],
    ['keeps its side open after a 400', 'GARBAGE\r\n\r\n', true],
    ['does not read its answer', 'GET /large HTTP/1.1\r\nHost: a\r\n\r\n', false],
    [
      'does not read what its watch has left at its end',
      `GET ${LARGE}?watch=1&resourceVersion=0&timeoutSeconds=1 HTTP/1.1\r\nHost: a\r\n\r\n`,
      false,
    ],
  ])('and %s is left, and no descriptor with it', async (_kind, sent, reads) => {
    for (let index = 0; index < CLIENTS; index++) {
      const socket = await client(sent);
      if (reads) socket.resume();
    }
    await until(() => openSockets() <= before + CLIENTS);
    // What is left are the clients' own ends, if those.
    expect(openSockets()).toBeLessThanOrEqual(before + CLIENTS);
  });

  it('and watches is not left', async () => {
    const socket = await client(`GET ${CONFIG_MAPS}?watch=1&resourceVersion=0 HTTP/1.1\r\nHost: a\r\n\r\n`);
    let hasEnded = false;
    socket
      .resume()
      .on('end', () => (hasEnded = true))
      .on('close', () => (hasEnded = true));
    await sleep(1_500);
    expect(hasEnded).toBe(false);
  });
});
