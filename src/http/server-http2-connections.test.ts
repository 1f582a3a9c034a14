import { once } from 'node:events';
import { constants } from 'node:http2';
import { Agent, request as httpsRequest } from 'node:https';
import { connect as connectTcp } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { responseOf, Http2Client } from '../../test/support/http2-client';
import { permissiveServer } from '../../test/support/permissive-server';
import { authority, clientKeys, servingKeys, tls } from '../../test/support/serving-keys';
import { PacedStarts } from '../async/paced-starts';
import { loadBuiltinSchema } from '../api/schema/builtin-schema';
import type { Credentials } from '../authn/credentials';
import { createAuthority } from '../pki/authority';
import type { RequestContext } from './request/context';
import { textResponse, type ApiResponse } from './response/api-response';
import { StartsByCost } from './transport/starts-by-cost';
import { createServer, type ApiServer, type ServerOptions } from './server';

const stranger = createAuthority('another-ca', new Date());

/** A request to /wait that is under way. */
interface Waiting {
  readonly signal: AbortSignal;
  readonly response: () => void;
}

interface Served extends AsyncDisposable {
  readonly server: ApiServer;
  readonly port: number;
  readonly waiting: Waiting[];
  readonly seen: Credentials[];
  readonly connect: (options?: Parameters<typeof Http2Client.connect>[1]) => Promise<Http2Client>;
}

/** A server of its own for each test, as most of them end it. */
async function serve(options: Partial<ServerOptions> = {}): Promise<Served> {
  const waiting: Waiting[] = [];
  const seen: Credentials[] = [];
  const wait = ({ signal }: RequestContext): Promise<ApiResponse> =>
    new Promise((resolve, reject) => {
      const abort = (): void => reject(signal.reason as Error);
      signal.addEventListener('abort', abort, { once: true });
      const response = (): void => {
        signal.removeEventListener('abort', abort);
        resolve(textResponse(200, 'waited'));
      };
      waiting.push({ signal, response: response });
    });
  const server = createServer({
    ...permissiveServer,
    catalogue: { schema: loadBuiltinSchema(), resolve: () => undefined, hasBuiltInGroup: () => false },
    nonResourceRoutes: [
      { path: '/healthz', handler: () => textResponse(200, 'ok') },
      { path: '/wait', handler: wait },
    ],
    authenticate: async (credentials) => {
      seen.push(credentials);
      return { name: 'someone', groups: [] };
    },
    tls,
    http2: { maxStreamsPerConnection: 100, goAwayChance: 0 },
    ...options,
  });
  const { port } = await server.listen();
  const clients: Http2Client[] = [];
  return {
    server,
    port,
    waiting,
    seen,
    connect: async (how) => {
      const client = await Http2Client.connect(port, how);
      clients.push(client);
      return client;
    },
    [Symbol.asyncDispose]: async () => {
      for (const client of clients) client.destroy();
      await server.close(1_000).catch(() => undefined);
    },
  };
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await sleep(5);
}

/** What the server chose by ALPN. */
async function chosen(port: number, offered?: string[]): Promise<TLSSocket['alpnProtocol']> {
  const socket = connectTls({
    port,
    host: '127.0.0.1',
    servername: 'localhost',
    ca: authority.certificatePem,
    ...(offered === undefined ? {} : { ALPNProtocols: offered }),
  });
  await once(socket, 'secureConnect');
  const { alpnProtocol } = socket;
  socket.destroy();
  return alpnProtocol;
}

function overHttp1(port: number, agent: Agent): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { port, host: '127.0.0.1', servername: 'localhost', path: '/healthz', agent };
    httpsRequest({ ...options, ca: authority.certificatePem }, (response) => {
      response.on('data', (text) => resolve(`${response.httpVersion} ${String(text)}`));
    })
      .on('error', reject)
      .end();
  });
}

describe('the version of HTTP', () => {
  it('is 2 for clients that offer it, and 1.1 for others', async () => {
    await using served = await serve();
    const { port } = served;
    expect(await chosen(port, ['h2', 'http/1.1'])).toBe('h2');
    expect(await chosen(port, ['http/1.1', 'h2'])).toBe('h2');
    expect(await chosen(port, ['http/1.1'])).toBe('http/1.1');
    expect(await chosen(port)).toBe(false);
  });

  it('is 1.1 only where HTTP/2 is turned off', async () => {
    await using served = await serve({ http2: undefined as never });
    expect(await chosen(served.port, ['h2', 'http/1.1'])).toBe('http/1.1');
    await expect(chosen(served.port, ['h2'])).rejects.toThrow();
  });

  it.each([
    ['that only', ['http/1.1']],
    ['nothing', []],
  ])('1.1 is served beside it to those who offer %s', async (_, offered) => {
    await using served = await serve();
    const agent = new Agent({ ALPNProtocols: offered });
    const client = await served.connect();
    expect(await overHttp1(served.port, agent)).toBe('1.1 ok');
    expect((await client.send('GET', '/healthz')).bytes.toString()).toBe('ok');
    agent.destroy();
  });
});

describe('who asks over HTTP/2', () => {
  it('is proved by the token of each request', async () => {
    await using served = await serve();
    const client = await served.connect();
    for (const token of ['one', 'two']) {
      await client.send('GET', '/healthz', { headers: { authorization: `Bearer ${token}` } });
    }
    await client.send('GET', '/healthz');
    expect(served.seen.map(({ bearerToken }) => bearerToken)).toEqual(['one', 'two', undefined]);
    expect(served.seen.map(({ clientCertificate }) => clientCertificate)).toEqual([undefined, undefined, undefined]);
  });

  it.each([
    ['that the server trusts', authority, true],
    ['of another authority', stranger, false],
  ])('is proved by the certificate of the connection %s', async (_, issuer, trusted) => {
    await using served = await serve();
    const { certificatePem: cert, privateKeyPem: key } = clientKeys('alice', ['dev', 'ops'], issuer);
    const client = await served.connect({ cert, key });
    await Promise.all([client.send('GET', '/healthz'), client.send('GET', '/healthz')]);
    const expected = { trusted, commonName: 'alice', organizations: ['dev', 'ops'] };
    expect(served.seen.map(({ clientCertificate }) => clientCertificate)).toMatchObject([expected, expected]);
  });

  it('may say it in several headers of one name', async () => {
    await using served = await serve();
    const client = await served.connect();
    const headers = { 'x-remote-group': ['a', 'b, c'] as unknown as string };
    await client.send('GET', '/healthz', { headers });
    expect(served.seen[0]!.headers.values('x-remote-group')).toEqual(['a', 'b, c']);
  });
});

describe('requests of one connection', () => {
  it('are given up one by one', async () => {
    await using served = await serve();
    const { waiting } = served;
    const client = await served.connect();
    const streams = [1, 2, 3].map(() => client.ask('GET', '/wait'));
    await until(() => waiting.length === 3);
    streams[1]!.close(constants.NGHTTP2_CANCEL);
    await until(() => waiting[1]!.signal.aborted);
    expect(waiting.map(({ signal }) => signal.aborted)).toEqual([false, true, false]);
    const responses = [streams[0]!, streams[2]!].map(responseOf);
    for (const { response } of waiting) response();
    expect((await Promise.all(responses)).map(({ bytes }) => bytes.toString())).toEqual(['waited', 'waited']);
    expect(waiting[2]!.signal.aborted).toBe(false);
  });

  it('share no signal while they are under way, whichever ended before them', async () => {
    await using served = await serve();
    const { waiting } = served;
    const client = await served.connect();
    let cancelled = 0;
    for (let round = 0; round < 10; round++) {
      waiting.length = 0;
      const streams = Array.from({ length: 4 }, () => client.ask('GET', '/wait'));
      await until(() => waiting.length === 4);
      expect(new Set(waiting.map(({ signal }) => signal)).size).toBe(4);
      expect(waiting.map(({ signal }) => signal.aborted)).toEqual([false, false, false, false]);
      const given = round % 4;
      streams[given]!.close(constants.NGHTTP2_CANCEL);
      await until(() => waiting[given]!.signal.aborted);
      cancelled++;
      const rest = streams.filter((_, index) => index !== given).map(responseOf);
      for (const { response: answer } of waiting) answer();
      expect((await Promise.all(rest)).map(({ status }) => status)).toEqual([200, 200, 200]);
      expect(waiting.filter(({ signal }) => signal.aborted)).toHaveLength(1);
    }
    expect(cancelled).toBe(10);
  });

  it('are all given up with the connection', async () => {
    await using served = await serve();
    const client = await served.connect();
    for (let asked = 0; asked < 3; asked++) client.ask('GET', '/wait').on('error', () => undefined);
    await until(() => served.waiting.length === 3);
    client.destroy();
    await until(() => served.waiting.every(({ signal }) => signal.aborted));
  });

  it('wait for each other when there are more than the server takes', async () => {
    await using served = await serve({ http2: { maxStreamsPerConnection: 2, goAwayChance: 0 } });
    const client = await served.connect();
    await client.send('GET', '/healthz');
    const answers = Array.from({ length: 10 }, () => client.send('GET', '/healthz'));
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(answers.map(() => 200));
  });
});

it('no more of a connection is read while many of its requests wait to begin', async () => {
  await using served = await serve({ http2: { maxStreamsPerConnection: 250, goAwayChance: 0 } });
  const client = await served.connect();
  // No probe: those wait for nobody else.
  const path = '/nothing';
  await client.send('GET', path);
  const kept: (() => void)[] = [];
  const [busy, idle] = [new PacedStarts(), new PacedStarts()];
  jest.spyOn(busy, 'mayBegin').mockReturnValue(false);
  jest.spyOn(busy, 'wait').mockImplementation((_owner, begin) => void kept.push(begin));
  // All the others are asked about bytes that have come, which are more or fewer.
  const queues = jest.spyOn(StartsByCost.prototype, 'of');
  queues.mockImplementation((_costs, _nowMs, bytes) => (bytes === path.length ? busy : idle));
  try {
    const padding = { padding: 'x'.repeat(50) };
    const responses = Array.from({ length: 200 }, () => client.send('GET', path, { headers: padding }));
    await until(() => kept.length >= 16);
    await sleep(50);
    // Those of the last piece came together.
    expect(kept.length).toBeLessThan(150);
    let begun = 0;
    for (let most = 0; begun < 200; begun += most) {
      await until(() => kept.length > 0);
      most = kept.length;
      expect(most).toBeLessThan(150);
      for (const begin of kept.splice(0)) begin();
    }
    expect((await Promise.all(responses)).map(({ status }) => status)).toEqual(Array<number>(200).fill(404));
  } finally {
    queues.mockRestore();
  }
});

describe('a server that drains', () => {
  it('sends each client away with its next answer, and serves new ones once', async () => {
    await using served = await serve();
    const [idle, busy] = [await served.connect(), await served.connect()];
    await Promise.all([idle.send('GET', '/healthz'), busy.send('GET', '/healthz')]);
    served.server.drain();
    expect((await busy.send('GET', '/healthz')).bytes.toString()).toBe('ok');
    await busy.closed();
    expect(busy.sentAway).toEqual([constants.NGHTTP2_NO_ERROR]);
    expect(idle.sentAway).toEqual([]);
    const late = await served.connect();
    expect((await late.send('GET', '/healthz')).status).toBe(200);
    await late.closed();
  });

  it('lets what is under way finish', async () => {
    await using served = await serve();
    const client = await served.connect();
    const response = client.send('GET', '/wait');
    await until(() => served.waiting.length === 1);
    served.server.drain();
    await client.send('GET', '/healthz');
    await until(() => client.sentAway.length === 1);
    served.waiting[0]!.response();
    expect((await response).bytes.toString()).toBe('waited');
    await client.closed();
  });
});

describe('a server that closes', () => {
  it('does so at once when its connections are idle', async () => {
    const { server, connect } = await serve();
    const client = await connect();
    await client.send('GET', '/healthz');
    await Promise.all([server.close(60_000), client.closed()]);
    expect(client.sentAway).toEqual([constants.NGHTTP2_NO_ERROR]);
  });

  it('waits for what is under way', async () => {
    const { server, connect, waiting } = await serve();
    const client = await connect();
    const response = client.send('GET', '/wait');
    await until(() => waiting.length === 1);
    const closed = server.close(60_000);
    await until(() => client.sentAway.length === 1);
    waiting[0]!.response();
    expect((await response).bytes.toString()).toBe('waited');
    await closed;
  });

  it('does not wait for ever', async () => {
    const { server, connect, waiting } = await serve();
    const client = await connect();
    const answer = client.send('GET', '/wait');
    answer.catch(() => undefined);
    await until(() => waiting.length === 1);
    await server.close(100);
    expect(waiting[0]!.signal.aborted).toBe(true);
    await expect(answer).rejects.toThrow();
  });

  it('does not wait for a client that was about to connect', async () => {
    const { server, port } = await serve();
    const socket = connectTcp(port, '127.0.0.1');
    await once(socket, 'connect');
    // The server must know of it, or it refuses it.
    await sleep(50);
    const closed = server.close(60_000);
    const client = await Http2Client.connect(port, { socket });
    const winner = await Promise.race([closed.then(() => 'closed'), sleep(5_000, 'still open', { ref: false })]);
    client.destroy();
    await closed;
    expect(winner).toBe('closed');
  });
});

it('a chance of 1 sends every client away with its answer', async () => {
  await using served = await serve({ http2: { maxStreamsPerConnection: 100, goAwayChance: 1 } });
  for (let connections = 0; connections < 3; connections++) {
    const client = await served.connect();
    const response = await client.send('GET', '/healthz');
    expect(response).toMatchObject({ status: 200, bytes: Buffer.from('ok') });
    expect(response.headers).not.toHaveProperty('connection');
    await client.closed();
    expect(client.sentAway).toEqual([constants.NGHTTP2_NO_ERROR]);
  }
  const agent = new Agent({ keepAlive: true });
  expect(await overHttp1(served.port, agent)).toBe('1.1 ok');
  agent.destroy();
});

it('another certificate is for new connections, and open ones go on', async () => {
  await using served = await serve();
  const before = await served.connect();
  const { certificatePem, privateKeyPem } = servingKeys(stranger);
  served.server.setSecureContext({ ...tls, cert: certificatePem, key: privateKeyPem });
  await expect(served.connect()).rejects.toThrow();
  const after = await served.connect({ ca: stranger.certificatePem });
  for (const client of [before, after]) expect((await client.send('GET', '/healthz')).status).toBe(200);
  expect((after.session.socket as TLSSocket).alpnProtocol).toBe('h2');
});
