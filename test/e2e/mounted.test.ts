import compression from 'compression';
import express from 'express';
import helmet from 'helmet';
import { createServer, request as httpRequest, type IncomingMessage, type Server } from 'node:http';
import { createSecureServer } from 'node:http2';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { startApiServer, type ApiServer } from '../../src';
import { VersionedClient } from '../support/both-versions';
import { tls } from '../support/serving-keys';
import { until } from '../support/until';

/** A whole Kubernetes API in a server of others. */

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const json = { 'content-type': 'application/json' };

let api: ApiServer;
beforeAll(async () => {
  api = await startApiServer();
});
afterAll(() => api.stop());

interface Listening {
  listen(port: number, host: string, listening: () => void): unknown;
  address(): AddressInfo | string | null;
  close(closed: () => void): unknown;
}

async function listening(server: Listening): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

function configMap(name: string, value = 'b'): string {
  return JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { a: value } });
}

function open(port: number, method: string, path: string, headers: Record<string, string> = {}, body?: string) {
  return new Promise<IncomingMessage>((resolve, reject) => {
    const authorization = `Bearer ${api.token}`;
    const options = { port, method, path, agent: false, headers: { authorization, ...headers } } as const;
    httpRequest(options, resolve).on('error', reject).end(body);
  });
}

async function send(port: number, method: string, path: string, headers?: Record<string, string>, body?: string) {
  const response = await open(port, method, path, headers, body);
  const pieces: Buffer[] = [];
  for await (const piece of response) pieces.push(piece as Buffer);
  const bytes = Buffer.concat(pieces);
  const text = (response.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes).toString();
  return { status: response.statusCode, headers: response.headers, text };
}

describe('the API mounted in an Express application', () => {
  let server: Server;
  let port: number;
  let seen: { readonly authorization: string | undefined; readonly url: string } | undefined;
  beforeAll(async () => {
    const app = express();
    app.use(helmet(), compression({ threshold: 0 }));
    app.use((request, response, next) => {
      response.on('finish', () => (seen = { authorization: request.get('authorization'), url: request.originalUrl }));
      next();
    });
    app.get('/own', (_request, response) => void response.send('own'));
    app.use('/parsed', express.json(), api.handler);
    app.use('/k8s', api.handler);
    app.use(api.handler);
    server = createServer(app);
    server.on('upgrade', api.upgrade);
    port = await listening(server);
  });
  afterAll(() => new Promise<void>((resolve) => void server.close(() => resolve())));

  it('answers beside its routes, behind its middleware', async () => {
    expect((await send(port, 'GET', '/own')).text).toBe('own');
    const { status, headers } = await send(port, 'GET', '/readyz');
    expect(status).toBe(200);
    expect(headers['x-frame-options']).toBe('SAMEORIGIN');
    expect((await send(port, 'GET', '/nowhere')).status).toBe(404);
  });

  it('writes, reads and lists, compressed by them or by us', async () => {
    expect((await send(port, 'POST', CONFIG_MAPS, json, configMap('one'))).status).toBe(201);
    const large = 'x'.repeat(300_000);
    expect((await send(port, 'POST', CONFIG_MAPS, json, configMap('large', large))).status).toBe(201);
    for (const encoding of ['identity', 'gzip']) {
      const one = await send(port, 'GET', `${CONFIG_MAPS}/one`, { 'accept-encoding': encoding });
      expect(JSON.parse(one.text)).toMatchObject({ data: { a: 'b' } });
      const list = await send(port, 'GET', CONFIG_MAPS, { 'accept-encoding': encoding });
      expect((JSON.parse(list.text) as { items: readonly unknown[] }).items.length).toBeGreaterThan(1);
    }
  });

  it('answers below a path', async () => {
    expect((await send(port, 'GET', '/k8s/version')).status).toBe(200);
    expect((await send(port, 'POST', `/k8s${CONFIG_MAPS}`, json, configMap('below'))).status).toBe(201);
    expect(seen?.url).toBe(`/k8s${CONFIG_MAPS}`);
  });

  it('asks who it is, and leaves the request of the application as it was', async () => {
    const { status } = await send(port, 'GET', CONFIG_MAPS, { authorization: '' });
    expect(status).toBe(403);
    await send(port, 'GET', CONFIG_MAPS);
    expect(seen?.authorization).toBe(`Bearer ${api.token}`);
  });

  it('says what is wrong when a body was parsed before it came', async () => {
    const { status, text } = await send(port, 'POST', `/parsed${CONFIG_MAPS}`, json, configMap('parsed'));
    expect(status).toBe(500);
    expect(JSON.parse(text)).toMatchObject({
      kind: 'Status',
      message: expect.stringContaining('belongs before body parsers') as string,
    });
    expect((await send(port, 'GET', `/parsed${CONFIG_MAPS}/one`)).status).toBe(200);
  });

  it.each(['identity', 'gzip'])('sends the events of a watch as they come, %s', async (encoding) => {
    const path = `${CONFIG_MAPS}?watch=1&fieldSelector=metadata.name%3Dwatched-${encoding}`;
    const watch = await open(port, 'GET', path, { 'accept-encoding': encoding });
    expect(watch.headers['content-encoding']).toBe(encoding === 'gzip' ? 'gzip' : undefined);
    let received = 0;
    watch.on('data', (piece: Buffer) => (received += piece.length)).on('error', () => undefined);
    await send(port, 'POST', CONFIG_MAPS, json, configMap(`watched-${encoding}`));
    await until(
      async () => received,
      (bytes) => bytes > 0,
    );
    watch.destroy();
  });

  it('hands over connections for other protocols', async () => {
    const upgrade = {
      connection: 'upgrade',
      upgrade: 'websocket',
      origin: 'http://localhost',
      'sec-websocket-version': '13',
    };
    const headers = { ...upgrade, 'sec-websocket-key': Buffer.alloc(16).toString('base64') };
    const code = await new Promise<number | undefined>((resolve, reject) => {
      const authorization = `Bearer ${api.token}`;
      const path = `${CONFIG_MAPS}?watch=1`;
      const request = httpRequest({ port, path, agent: false, headers: { authorization, ...headers } });
      request.on('upgrade', (response, socket) => {
        socket.destroy();
        resolve(response.statusCode);
      });
      request.on('response', ({ statusCode }) => resolve(statusCode)).on('error', reject);
      request.end();
    });
    expect(code).toBe(101);
  });
});

describe('the API as the listener of a server with TLS of its own', () => {
  it('does not take the certificates of its clients for users', async () => {
    const server = createTlsServer(tls, api.handler);
    const port = await listening(server);
    const client = new VersionedClient(`https://127.0.0.1:${port}`, 'HTTP/1.1');
    expect((await client.send('GET', CONFIG_MAPS, { token: api.token })).status).toBe(200);
    expect((await client.send('GET', CONFIG_MAPS)).status).toBe(403);
    client.close();
    await new Promise<void>((resolve) => void server.close(() => resolve()));
  });

  it('speaks the HTTP/2 of Node.js', async () => {
    const server = createSecureServer(tls, api.handler as unknown as Parameters<typeof createSecureServer>[1]);
    const port = await listening(server);
    const client = new VersionedClient(`https://127.0.0.1:${port}`, 'HTTP/2');
    const { token } = api;
    expect((await client.send('POST', CONFIG_MAPS, { token, headers: json, body: configMap('two') })).status).toBe(201);
    expect((await client.send('GET', `${CONFIG_MAPS}/two`, { token })).status).toBe(200);
    expect((await client.send('GET', '/readyz')).text).toBe('ok');
    client.close();
    await new Promise<void>((resolve) => void server.close(() => resolve()));
  });
});

describe('a mounted API whose server stops', () => {
  it('ends its watches, and refuses what comes later', async () => {
    const own = await startApiServer();
    const server = createServer(own.handler);
    const port = await listening(server);
    const headers = { authorization: `Bearer ${own.token}` };
    const watch = await open(port, 'GET', `${CONFIG_MAPS}?watch=1`, headers);
    const ended = new Promise((resolve) => watch.resume().once('end', resolve));
    await own.stop();
    await ended;
    expect((await send(port, 'GET', '/readyz', headers)).status).toBe(503);
    await new Promise<void>((resolve) => void server.close(() => resolve()));
  });
});
