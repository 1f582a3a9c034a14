import { once } from 'node:events';
import { connect } from 'node:net';
import type { IncomingMessage } from 'node:http';
import { CONFIG_MAPS, servedOverHttp, type Response } from '../../test/support/served-over-http';
import { MaxInFlight } from '../flowcontrol/max-in-flight';

const maxInFlight = new MaxInFlight({ readOnly: 1, mutating: 1 });
const { open, send, metrics, port } = servedOverHttp({
  maxInFlight,
  requestTimeoutMs: 60_000,
  authenticate: ({ bearerToken }) => ({
    name: bearerToken ?? 'alice',
    groups: bearerToken === 'admin' ? ['system:masters'] : [],
  }),
});

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** A read that lasts until it is let go. */
async function slowRead(path = '/slow'): Promise<{ response: Promise<IncomingMessage | undefined> }> {
  const response = open('GET', path).catch(() => undefined);
  await until(() => maxInFlight.readOnly.taken === 1);
  return { response: response };
}

describe('a server with as many requests as it may have', () => {
  let held: Awaited<ReturnType<typeof slowRead>>;
  let refused: Response;
  beforeAll(async () => {
    held = await slowRead('/slow?timeout=2s');
    refused = await send('GET', CONFIG_MAPS);
  });

  it('turns the next one away, in words for people and a header for programs', async () => {
    expect(refused).toMatchObject({
      status: 429,
      text: 'Too many requests, please try again later.\n',
      headers: {
        'retry-after': '1',
        'content-type': 'text/plain; charset=utf-8',
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-cache, private',
      },
    });
    const text = await metrics.metrics();
    expect(text).toMatch(/apiserver_request_terminations_total\{verb="LIST".*resource="configmaps".*code="429"\} 1/);
  });

  it('serves administrators, probes, watches and the other kind of requests all the same', async () => {
    expect((await send('GET', CONFIG_MAPS, { headers: { authorization: 'Bearer admin' } })).status).toBe(200);
    expect((await send('GET', '/healthz')).status).toBe(200);
    expect((await send('GET', `${CONFIG_MAPS}?watch=1&timeoutSeconds=1`)).status).toBe(200);
    expect((await send('POST', CONFIG_MAPS, { body: { metadata: { name: 'written' } } })).status).toBe(201);
    expect(maxInFlight.mutating.taken).toBe(0);
  });

  it('has a place again when a deadline has ended a request', async () => {
    const response = await held.response;
    expect(response?.statusCode).toBe(504);
    response?.resume();
    await until(() => maxInFlight.readOnly.taken === 0);
    expect((await send('GET', CONFIG_MAPS)).status).toBe(200);
  });
});

it('gets a place back exactly once, also from clients that are gone and from requests that fail', async () => {
  const { request } = await import('node:http');
  for (let index = 0; index < 3; index++) {
    const client = request({ port: port(), host: '127.0.0.1', path: '/slow', agent: false });
    client.on('error', () => undefined).end();
    await until(() => maxInFlight.readOnly.taken === 1);
    client.destroy();
    await until(() => maxInFlight.readOnly.taken === 0);
  }
  for (const path of ['/broken', '/unanswerable', '/api/v1/made-up', `${CONFIG_MAPS}/missing`]) {
    await send('GET', path).catch(() => undefined);
    await until(() => maxInFlight.readOnly.taken === 0);
  }
  expect((await send('GET', CONFIG_MAPS)).status).toBe(200);
  await until(() => maxInFlight.readOnly.taken === 0);
});

describe('a place that waits for its client', () => {
  const settled = () => new Promise((resolve) => setTimeout(resolve, 50));

  it('is free while a body is on its way, and taken again when it has come', async () => {
    const { request } = await import('node:http');
    const upload = request({ port: port(), host: '127.0.0.1', path: CONFIG_MAPS, method: 'POST', agent: false });
    upload.setHeader('content-type', 'application/json');
    upload.write('{"metadata":{"name":"late"');
    await settled();
    expect(maxInFlight.mutating.taken).toBe(0);
    expect((await send('POST', CONFIG_MAPS, { body: { metadata: { name: 'meanwhile' } } })).status).toBe(201);

    // Somebody else has the only place when the body is whole.
    expect(maxInFlight.mutating.acquire()).toBe(true);
    upload.end('}}');
    const [response] = (await once(upload, 'response')) as [IncomingMessage];
    maxInFlight.mutating.release();
    expect(response.statusCode).toBe(429);
    expect(response.headers['retry-after']).toBe('1');
    response.resume();
    await until(() => maxInFlight.mutating.taken === 0);
  });

  it('is free while a response is not read', async () => {
    const body = { metadata: { name: 'large' }, data: { text: 'x'.repeat(1_000_000) } };
    expect((await send('POST', CONFIG_MAPS, { body })).status).toBe(201);
    const sockets = await Promise.all(
      Array.from({ length: 5 }, async () => {
        const socket = connect(port(), '127.0.0.1').pause();
        socket.write(`GET ${CONFIG_MAPS}/large HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(10));
        await settled();
        return socket;
      }),
    );
    // The system takes the first responses; while it does, the place may be taken.
    let status = 0;
    while (status !== 200) ({ status } = await send('GET', `${CONFIG_MAPS}/written`));
    for (const socket of sockets) socket.destroy();
  });
});
