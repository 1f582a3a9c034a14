import { once } from 'node:events';
import { Agent, createServer as createTlsServer, request, type RequestOptions, type Server } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls, createSecureContext, type TlsOptions } from 'node:tls';
import { Registry } from 'prom-client';
import { permissiveServer } from '../../../test/support/permissive-server';
import { authority, servingKeys, tls } from '../../../test/support/serving-keys';
import { loadBuiltinSchema } from '../../api/schema/builtin-schema';
import { RequestMetrics } from '../../observability/request-metrics';
import { createAuthority } from '../../pki/authority';
import { textResponse } from '../response/api-response';
import { createServer } from '../server';
import { DeferredTlsHandshake } from './deferred-tls-handshake';

const REFUSAL = 'HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n';

interface Served extends AsyncDisposable {
  readonly server: Server;
  readonly handshakes: DeferredTlsHandshake;
  readonly port: number;
  /** The connections so far. */
  readonly accepted: Socket[];
  /** Those that TLS was given, each with the bytes that had come. */
  readonly letIn: { readonly socket: Socket; readonly waitingBytes: number }[];
  readonly faults: () => number;
}

/** A server that sends back what it gets, behind deferred handshakes. */
async function serve(options: { readonly handshakeLimitMs?: number; readonly tls?: TlsOptions } = {}): Promise<Served> {
  const { tls: ownTls, ...handshakeOptions } = options;
  const echo = (asked: IncomingMessage, response: ServerResponse): void => {
    response.setHeader('X-Client', `${asked.socket.remoteAddress} ${asked.socket.remotePort}`);
    asked.pipe(response);
  };
  const server = createTlsServer({ ...tls, ...ownTls }, echo);
  const accepted: Socket[] = [];
  const letIn: Served['letIn'] = [];
  let faults = 0;
  server.on('connection', (socket: Socket) => letIn.push({ socket, waitingBytes: socket.readableLength }));
  const handshakes = new DeferredTlsHandshake({ ...handshakeOptions, onFault: () => faults++ });
  handshakes.attach(server);
  server.on('connection', (socket: Socket) => accepted.push(socket));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    server,
    handshakes,
    port: (server.address() as AddressInfo).port,
    accepted,
    letIn,
    faults: () => faults,
    [Symbol.asyncDispose]: async () => {
      for (const socket of accepted) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await sleep(5);
}

interface Response {
  readonly client: string | undefined;
  readonly bytes: Buffer;
  readonly localPort: number | undefined;
}

async function post(port: number, body: string | Buffer, options: RequestOptions = {}): Promise<Response> {
  const asked = request({
    port,
    host: '127.0.0.1',
    servername: 'localhost',
    ca: authority.certificatePem,
    method: 'POST',
    // An agent would connect by itself.
    ...(options.createConnection === undefined && { agent: false }),
    ...options,
  });
  asked.end(body);
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  const { localPort } = response.socket;
  return { client: response.headers['x-client'] as string | undefined, bytes: await buffer(response), localPort };
}

/** A connection on which the client has not said anything yet, and the server knows of it. */
async function silentClient(
  { port, accepted }: Served,
  options: { readonly allowHalfOpen?: boolean } = {},
): Promise<Socket> {
  const before = accepted.length;
  const socket = connect({ port, host: '127.0.0.1', ...options });
  await once(socket, 'connect');
  await until(() => accepted.length > before);
  return socket;
}

/** Resolves also when it fails. */
function closed(socket: Socket): Promise<unknown> {
  return new Promise((resolve) => socket.on('close', resolve));
}

/** All that comes until the server has ended its side. */
async function textFrom(socket: Socket): Promise<string> {
  const pieces: Buffer[] = [];
  socket.on('data', (piece) => pieces.push(piece));
  await once(socket, 'end');
  return Buffer.concat(pieces).toString();
}

/** Hands on what is written one byte at a time, each when the server has read the last one. */
function byteByByte(socket: Socket, served: Socket): Duplex {
  let sent = 0;
  const send = async (bytes: Buffer): Promise<void> => {
    for (const byte of bytes) {
      socket.write(Uint8Array.of(byte));
      sent++;
      while (served.bytesRead < sent && !served.destroyed) await new Promise(setImmediate);
    }
  };
  const slow = new Duplex({
    read: () => undefined,
    write: (bytes: Buffer, _encoding, done) => void send(bytes).then(() => done(), done),
  });
  socket.on('data', (bytes) => slow.push(bytes)).on('end', () => slow.push(null));
  return slow;
}

describe('a client that speaks TLS', () => {
  it('is served also when its bytes come one by one', async () => {
    await using served = await serve();
    const socket = await silentClient(served);
    const slow = byteByByte(socket, served.accepted[0]!);
    const createConnection = () => connectTls({ socket: slow, servername: 'localhost', ca: authority.certificatePem });
    expect((await post(served.port, 'hello', { createConnection })).bytes.toString()).toBe('hello');
    expect(served.letIn.map(({ waitingBytes }) => waitingBytes)).toEqual([1]);
    expect(served.faults()).toBe(0);
    socket.destroy();
  });

  it('is given to TLS with its first bytes, and may be silent from then on', async () => {
    await using served = await serve();
    const client = await silentClient(served);
    expect(served.letIn).toEqual([]);
    expect(served.accepted[0]!.timeout).toBeGreaterThan(0);
    client.write(Uint8Array.of(22, 3, 1));
    await until(() => served.letIn.length === 1);
    expect(served.letIn).toEqual([{ socket: served.accepted[0], waitingBytes: 3 }]);
    expect(served.letIn[0]!.socket.timeout).toBe(0);
    served.handshakes.destroy();
    expect(served.letIn[0]!.socket.destroyed).toBe(true);
    client.destroy();
  });

  it('has no more to do with the deferral once its handshake is done', async () => {
    await using served = await serve({ handshakeLimitMs: 300 });
    const client = connectTls({ port: served.port, host: '127.0.0.1', rejectUnauthorized: false });
    await once(client, 'secureConnect');
    await sleep(600);
    served.handshakes.destroy();
    expect(served.accepted[0]!.destroyed).toBe(false);
    client.destroy();
  });

  it('is left when its handshake takes longer than the limit, however many bytes it sends', async () => {
    await using served = await serve({ handshakeLimitMs: 300 });
    const client = await silentClient(served);
    // The beginning of a long first message, bit by bit.
    client.write(Uint8Array.of(22, 3, 1, 64, 0, 1, 0, 63, 252));
    client.on('error', () => undefined);
    const trickle = setInterval(() => client.write(Uint8Array.of(0)), 50);
    await closed(client);
    clearInterval(trickle);
    expect(served.accepted[0]!.destroyed).toBe(true);
  });

  it('is not waited for when it ends in the midst of its first message', async () => {
    await using served = await serve();
    const client = await silentClient(served);
    const left = closed(served.accepted[0]!);
    client.resume().end(Uint8Array.of(22, 3, 1));
    await left;
    expect(served.letIn).toEqual([{ socket: served.accepted[0], waitingBytes: 3 }]);
  });

  it('can send and get megabytes', async () => {
    await using served = await serve();
    const body = Buffer.alloc(5_000_000, 'a body in which no piece may go astray; ');
    const { bytes } = await post(served.port, body);
    expect(bytes.equals(body)).toBe(true);
  });

  it('is known by its address', async () => {
    await using served = await serve();
    const { client, localPort } = await post(served.port, '');
    expect(localPort).toBeGreaterThan(0);
    expect(client).toBe(`127.0.0.1 ${localPort}`);
  });

  it('gets the certificate of the name that it asks for', async () => {
    const another = createAuthority('another-ca', new Date());
    const { certificatePem: cert, privateKeyPem: key } = servingKeys(another);
    const names: string[] = [];
    const SNICallback: TlsOptions['SNICallback'] = (name, proceed) => {
      names.push(name);
      proceed(null, createSecureContext({ cert, key }));
    };
    await using served = await serve({ tls: { SNICallback } });
    expect((await post(served.port, 'hello', { ca: another.certificatePem })).bytes.toString()).toBe('hello');
    expect(names).toEqual(['localhost']);
  });
});

describe('clients that come all at once', () => {
  const CLIENTS = 200;

  it('are all taken before the handshakes of most begin, and the one that came last is not the last to be served', async () => {
    // However slow the machine, no time passes: nothing is let in because it has waited for long.
    jest.spyOn(performance, 'now').mockReturnValue(performance.now());
    try {
      await using served = await serve();
      const letInBefore: number[] = [];
      served.server.prependListener('connection', () => letInBefore.push(served.letIn.length));
      const clients = Array.from({ length: CLIENTS }, () => connect({ port: served.port, host: '127.0.0.1' }));
      // The beginning of a TLS record.
      for (const client of clients) client.on('error', () => undefined).write(Uint8Array.of(22, 3, 1));
      await until(() => served.letIn.length === CLIENTS);
      expect(letInBefore).toHaveLength(CLIENTS);
      expect(letInBefore.at(-1)).toBeLessThan(CLIENTS / 10);
      const order = served.letIn.map(({ socket }) => served.accepted.indexOf(socket));
      expect(order.indexOf(CLIENTS - 1)).toBeLessThan(CLIENTS / 2);
      for (const client of clients) client.destroy();
    } finally {
      jest.restoreAllMocks();
    }
  });
});

describe('a client that says nothing', () => {
  it('is left after the limit', async () => {
    await using served = await serve({ handshakeLimitMs: 20 });
    const client = await silentClient(served);
    expect(await textFrom(client)).toBe('');
    await until(() => served.faults() === 1);
    expect(served.letIn).toEqual([]);
  });

  it.each([
    ['ends the connection', (client: Socket) => client.end()],
    ['resets it', (client: Socket) => client.resetAndDestroy()],
  ])('and %s leaves nothing behind', async (_, leave) => {
    await using served = await serve();
    const client = await silentClient(served, { allowHalfOpen: true });
    const left = closed(served.accepted[0]!);
    leave(client);
    await left;
    expect(served.faults()).toBe(1);
    expect(served.letIn).toEqual([]);
    client.destroy();
  });

  it('is left at once by a server that ends all, which is no fault of it', async () => {
    await using served = await serve();
    const clients = [await silentClient(served), await silentClient(served)];
    const ends = clients.map(textFrom);
    const end = once(served.server.close(), 'close');
    served.handshakes.destroy();
    expect(await Promise.all(ends)).toEqual(['', '']);
    await end;
    expect(served.faults()).toBe(0);
  });

  it('is left soon by a server that closes, which is no fault of it', async () => {
    await using served = await serve();
    const client = await silentClient(served);
    const end = once(served.server.close(), 'close');
    served.handshakes.drain();
    expect(await textFrom(client)).toBe('');
    await end;
    expect(served.faults()).toBe(0);
  });

  it('is served by a server that closes when it had just connected', async () => {
    await using served = await serve();
    const client = await silentClient(served);
    const end = once(served.server.close(), 'close');
    served.handshakes.drain();
    const createConnection = () =>
      connectTls({ socket: client, servername: 'localhost', ca: authority.certificatePem });
    const headers = { connection: 'close' };
    expect((await post(served.port, 'hello', { createConnection, headers })).bytes.toString()).toBe('hello');
    await end;
  });
});

describe('a client that speaks plain HTTP', () => {
  it.each(['GET', 'HEAD', 'POST', 'PUT', 'OPTIONS', 'PATCH', 'DELETE'])('is told so (%s)', async (method) => {
    await using served = await serve();
    const client = await silentClient(served);
    client.write(`${method} /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    expect(await textFrom(client)).toBe(REFUSAL);
    await until(() => served.accepted[0]!.destroyed);
    expect(served.faults()).toBe(0);
    expect(served.letIn).toEqual([]);
  });

  it('hears it also in the midst of a large request', async () => {
    await using served = await serve();
    const client = await silentClient(served, { allowHalfOpen: true });
    client.end(Buffer.concat([Buffer.from('POST / HTTP/1.1\r\n\r\n'), Buffer.alloc(8_000_000)]));
    const [text] = await Promise.all([textFrom(client), once(client, 'finish')]);
    expect(text).toBe(REFUSAL);
    await until(() => served.accepted[0]!.destroyed);
    expect(served.faults()).toBe(0);
  });

  it('cannot keep its connection open', async () => {
    await using served = await serve();
    const client = await silentClient(served, { allowHalfOpen: true });
    const left = closed(served.accepted[0]!);
    client.write('GET / HTTP/1.1\r\n\r\n');
    expect(await textFrom(client)).toBe(REFUSAL);
    await left;
    expect(client.writableEnded).toBe(false);
    client.destroy();
  });

  it('does not keep a server from closing', async () => {
    await using served = await serve();
    const client = await silentClient(served, { allowHalfOpen: true });
    client.write('GET / HTTP/1.1\r\n\r\n');
    expect(await textFrom(client)).toBe(REFUSAL);
    expect(served.accepted[0]!.destroyed).toBe(false);
    const end = once(served.server.close(), 'close');
    served.handshakes.destroy();
    expect(served.accepted[0]!.destroyed).toBe(true);
    await end;
    client.destroy();
  });

  it('is TLS to the server when its first bytes are too few to know', async () => {
    await using served = await serve();
    const client = await silentClient(served);
    client.on('error', () => undefined);
    client.write('GET');
    await until(() => served.letIn.length === 1);
    expect(served.letIn[0]!.waitingBytes).toBe(3);
    client.end(' / HTTP/1.1\r\n\r\n');
    await closed(served.accepted[0]!);
    expect(served.faults()).toBe(0);
  });
});

describe('an API server', () => {
  async function start() {
    const registry = new Registry();
    const server = createServer({
      ...permissiveServer,
      catalogue: { schema: loadBuiltinSchema(), resolve: () => undefined, hasBuiltInGroup: () => false },
      nonResourceRoutes: [{ path: '/healthz', handler: () => textResponse(200, 'ok') }],
      metrics: new RequestMetrics(registry),
      tls,
    });
    const { port } = await server.listen();
    const errors = async (): Promise<number | undefined> =>
      (await registry.getSingleMetric('apiserver_tls_handshake_errors_total')!.get()).values[0]?.value;
    const healthz = async (options: RequestOptions = {}): Promise<string> =>
      (await post(port, '', { method: 'GET', path: '/healthz', ...options })).bytes.toString();
    return { server, port, errors, healthz };
  }

  it('counts each connection once that never came to TLS, and no other, but for plain HTTP', async () => {
    const { server, port, errors, healthz } = await start();
    const say = async (bytes: string): Promise<void> => {
      const client = connect(port, '127.0.0.1');
      client.on('error', () => undefined);
      client.resume().end(bytes);
      await closed(client);
    };
    for (const bytes of ['', 'GET / HTTP/1.1\r\n\r\n', '\x16\x03garbage']) await say(bytes);
    while ((await errors()) !== 2) await sleep(5);
    expect(await healthz()).toBe('ok');
    await server.close();
    expect(await errors()).toBe(2);
  });

  it('does not wait for its grace to end when its clients are idle or silent', async () => {
    const { server, port, errors, healthz } = await start();
    const silent = connect(port, '127.0.0.1');
    await once(silent, 'connect');
    const agent = new Agent({ keepAlive: true });
    // Accepted after the silent one, so that the server knows of both.
    expect(await healthz({ agent })).toBe('ok');
    const ended = textFrom(silent);
    await server.close(3_600_000);
    expect(await ended).toBe('');
    expect(await errors()).toBe(0);
    agent.destroy();
  });
});
