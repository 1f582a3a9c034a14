import compression from 'compression';
import express, { type Express, type Request } from 'express';
import { rateLimit } from 'express-rate-limit';
import helmet from 'helmet';
import multer from 'multer';
import { gunzipSync } from 'node:zlib';
import { startApiServer, type ApiServer, type RequestUser } from '../../src';
import { VersionedClient, type HttpVersion } from '../support/both-versions';
import { until } from '../support/until';

/** Routes of others beside the API, with the middleware that people use, over both versions of HTTP. */

const LARGE = Buffer.alloc(3 * 1024 * 1024, 'abcdefghij');
const PIECE = Buffer.alloc(64 * 1024, 'x');

const seen = { aborted: 0, late: 0, written: 0, waited: 0, streams: 0, ended: 0 };

function addRoutes(app: Express): void {
  app.get('/reports', (request, response) => {
    const { user } = request as Request & { user: RequestUser };
    response.json({ user, token: request.get('authorization') ?? null, raw: request.rawHeaders.join(' ') });
  });
  app.get('/reports/throws', () => {
    throw new Error('the cause');
  });
  app.get('/reports/rejects', async () => Promise.reject(new Error('the cause')));
  app.get('/reports/breaks', (_request, response) => {
    response.write('half');
    throw new Error('too late');
  });
  app.get('/healthz', (_request, response) => void response.send('mine'));
  app.get('/late', (_request, response) => {
    response.on('close', () => {
      response.status(200).json({ too: 'late' });
      response.write('more');
      seen.late++;
    });
  });
  app.get('/items/:id', (request, response) => void response.send(request.params.id));
  const within = express.Router();
  within.get('/a', (_request, response) => void response.type('text').send('a'));
  app.use('/within', helmet(), within);
  app.get('/large', compression(), (_request, response) => void response.type('text').send(LARGE));
  app.get(
    '/limited',
    rateLimit({ windowMs: 60_000, limit: 2, validate: false }),
    (_request, response) => void response.send('ok'),
  );
  app.post('/echo', express.json({ limit: '1mb' }), (request, response) => void response.json(request.body));
  app.post('/raw', (request, response) => {
    let bytes = 0;
    request.on('data', (piece: Buffer) => (bytes += piece.length));
    request.on('end', () => void response.json({ bytes }));
    request.on('aborted', () => seen.aborted++);
  });
  app.post('/upload', multer({ limits: { fileSize: 4 * 1024 * 1024 } }).single('file'), (request, response) => {
    response.json({ bytes: request.file?.size, name: request.file?.originalname });
  });
  app.get('/endless', (_request, response) => {
    response.type('text');
    const more = (): void => {
      while (!response.destroyed && seen.written < 1000) {
        seen.written++;
        if (response.write(PIECE)) continue;
        seen.waited++;
        response.once('drain', more);
        return;
      }
    };
    response.on('close', () => seen.ended++);
    more();
  });
  app.get('/events', (_request, response) => {
    response.set('Content-Type', 'text/event-stream');
    response.flushHeaders();
    response.write('data: first\n\n');
    seen.streams++;
    response.on('close', () => seen.streams--);
  });
}

let server: ApiServer<'alice' | 'bob'>;
beforeAll(async () => {
  server = await startApiServer({
    extend: (app: Express) => addRoutes(app),
    users: { alice: ['reporters'], bob: [] },
    objects: [
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRole',
        metadata: { name: 'reports' },
        rules: [{ nonResourceURLs: ['/reports'], verbs: ['get'] }],
      },
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRoleBinding',
        metadata: { name: 'reports' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'reports' },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'reporters' }],
      },
    ],
  });
});
afterAll(() => server.stop());

describe.each<HttpVersion>(['HTTP/1.1', 'HTTP/2'])('a route of an extension over %s', (version) => {
  let client: VersionedClient;
  let token: string;
  beforeAll(() => {
    client = new VersionedClient(server.url, version);
    ({ token } = server);
  });
  afterAll(() => client.close());

  it('knows who asks and not what proved it', async () => {
    const { status, headers, text } = await client.send('GET', '/reports', { token: server.users.alice.token });
    expect(status).toBe(200);
    expect(headers['cache-control']).toBe('no-cache, private');
    expect(headers['x-powered-by']).toBeUndefined();
    const { user, token: shown, raw } = JSON.parse(text) as { user: RequestUser; token: unknown; raw: string };
    expect(user).toEqual({ name: 'alice', uid: '', groups: ['reporters', 'system:authenticated'], extra: {} });
    expect(shown).toBeNull();
    expect(raw.toLowerCase()).not.toContain('bearer');
  });

  it('is for those who may see it', async () => {
    const { status, text } = await client.send('GET', '/reports', { token: server.users.bob.token });
    expect(status).toBe(403);
    expect(JSON.parse(text)).toMatchObject({
      kind: 'Status',
      message: 'forbidden: User "bob" cannot get path "/reports"',
    });
    expect((await client.send('GET', '/reports')).status).toBe(403);
    expect((await client.send('GET', '/reports', { token: 'none' })).status).toBe(401);
    expect((await client.send('GET', '/reports/throws', { token: server.users.alice.token })).status).toBe(403);
  });

  it('is asked about as somebody else', async () => {
    const headers = { 'impersonate-user': 'carol', 'impersonate-group': 'reporters' };
    const { text } = await client.send('GET', '/reports', { token, headers });
    expect((JSON.parse(text) as { user: RequestUser }).user.name).toBe('carol');
  });

  it.each(['/reports/throws', '/reports/rejects'])('fails with a Status of code 500: %s', async (path) => {
    const { status, text } = await client.send('GET', path, { token });
    expect(status).toBe(500);
    expect(JSON.parse(text)).toMatchObject({ kind: 'Status', reason: 'InternalError', code: 500 });
    expect(text).not.toContain('the cause');
  });

  it('breaks off when it fails in the middle', async () => {
    const { stream } = await client.open('GET', '/reports/breaks', { token });
    const ending = new Promise<string>((resolve) => {
      stream
        .on('end', () => resolve('end'))
        .on('error', () => resolve('error'))
        .on('aborted', () => resolve('aborted'));
    });
    stream.resume();
    expect(await ending).not.toBe('end');
  });

  it('leaves unknown paths and those of the API server to it', async () => {
    const unknown = await client.send('GET', '/nowhere', { token });
    expect(unknown.status).toBe(404);
    const { paths } = JSON.parse(unknown.text) as { paths: readonly string[] };
    expect(paths).toEqual(expect.arrayContaining(['/apis', '/reports', '/within/a', '/events']));
    expect(paths).not.toContain('/items/:id');
    expect((await client.send('GET', '/healthz', { token })).text).toBe('ok');
    expect((await client.send('POST', '/reports', { token, body: '{}' })).status).toBe(404);
    expect((await client.send('GET', '/REPORTS', { token })).status).toBe(404);
    expect((await client.send('GET', '/reports/', { token })).status).toBe(404);
  });

  it('has parameters, routers and the headers of helmet', async () => {
    expect((await client.send('GET', '/items/a%20b', { token })).text).toBe('a b');
    const { text, headers } = await client.send('GET', '/within/a', { token });
    expect(text).toBe('a');
    expect(headers['content-security-policy']).toContain("default-src 'self'");
    expect((await client.send('GET', '/within/b', { token })).headers['x-frame-options']).toBe('SAMEORIGIN');
  });

  it('answers HEAD, and whether something is new', async () => {
    const { status, text, headers } = await client.send('HEAD', '/within/a', { token });
    expect([status, text, headers['content-length']]).toEqual([200, '', '1']);
    const conditional = { 'if-none-match': String(headers.etag) };
    expect((await client.send('GET', '/within/a', { token, headers: conditional })).status).toBe(304);
  });

  it('is compressed by compression', async () => {
    const { headers, stream } = await client.open('GET', '/large', { token, headers: { 'accept-encoding': 'gzip' } });
    const pieces: Buffer[] = [];
    for await (const piece of stream) pieces.push(piece as Buffer);
    expect(headers['content-encoding']).toBe('gzip');
    expect(headers['content-length']).toBeUndefined();
    expect(gunzipSync(Buffer.concat(pieces)).equals(LARGE)).toBe(true);
    expect((await client.send('GET', '/large', { token })).text).toHaveLength(LARGE.length);
  });

  it('is limited by express-rate-limit', async () => {
    const codes: number[] = [];
    for (let index = 0; index < 5; index++) codes.push((await client.send('GET', '/limited', { token })).status);
    expect(codes.at(-1)).toBe(429);
  });

  it('has its bodies parsed, and says what is wrong with them', async () => {
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ a: [1, 2, 3], b: 'ü'.repeat(10_000) });
    expect((await client.send('POST', '/echo', { token, headers, body })).text).toHaveLength(body.length);
    const bad = await client.send('POST', '/echo', { token, headers, body: '{"a":' });
    expect(bad.status).toBe(400);
    expect(JSON.parse(bad.text)).toMatchObject({ kind: 'Status', reason: 'BadRequest' });
    const large = JSON.stringify({ a: 'x'.repeat(2 * 1024 * 1024) });
    expect((await client.send('POST', '/echo', { token, headers, body: large })).status).toBe(413);
  });

  it('reads large bodies as they come', async () => {
    const { text } = await client.send('POST', '/raw', { token, body: LARGE });
    expect(JSON.parse(text)).toEqual({ bytes: LARGE.length });
  });

  it('takes files with multer', async () => {
    const boundary = 'edge';
    const body = Buffer.concat([
      Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\n\r\n`),
      LARGE,
      Buffer.from(`\r\n--${boundary}--\r\n`),
    ]);
    const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` };
    const { text } = await client.send('POST', '/upload', { token, headers, body });
    expect(JSON.parse(text)).toEqual({ bytes: LARGE.length, name: 'a.bin' });
  });

  it('learns that a client has gone in the middle of a body', async () => {
    seen.aborted = 0;
    await client.breakOff('POST', '/raw', { token, body: 'a beginning' });
    await until(
      async () => seen,
      () => seen.aborted === 1,
    );
  });

  it('has its time, and may answer when that is over as if it were not', async () => {
    seen.late = 0;
    const { status, text } = await client.send('GET', '/late?timeout=50ms', { token });
    expect(status).toBe(504);
    expect(JSON.parse(text)).toMatchObject({ kind: 'Status', reason: 'Timeout' });
    await until(
      async () => seen,
      () => seen.late === 1,
    );
  });

  it('waits for clients that read slowly, and learns that they have gone', async () => {
    Object.assign(seen, { written: 0, waited: 0, ended: 0 });
    const { stream, abort } = await client.open('GET', '/endless', { token });
    await until(
      async () => seen,
      () => seen.waited > 0,
    );
    expect(seen.written).toBeLessThan(1000);
    stream.on('error', () => undefined).resume();
    const before = seen.written;
    await until(
      async () => seen,
      () => seen.written > before,
    );
    abort();
    await until(
      async () => seen,
      () => seen.ended > 0,
    );
  });

  it('streams events until its client goes', async () => {
    const { headers, stream, abort } = await client.open('GET', '/events', { token });
    expect(headers['content-type']).toMatch('text/event-stream');
    const first = await new Promise<Buffer>((resolve) => stream.once('data', resolve));
    expect(first.toString()).toBe('data: first\n\n');
    stream.on('error', () => undefined);
    abort();
    await until(
      async () => seen,
      () => seen.streams === 0,
    );
  });
});

describe('a stream of events', () => {
  it('ends with the server', async () => {
    const own = await startApiServer({
      extend: (app) =>
        app.get('/events', (_request, response) => {
          response.set('Content-Type', 'text/event-stream').flushHeaders();
        }),
    });
    const client = new VersionedClient(own.url, 'HTTP/2');
    const { stream } = await client.open('GET', '/events', { token: own.token });
    stream.resume();
    const ended = new Promise((resolve) => stream.once('end', resolve));
    await own.stop();
    await ended;
    client.close();
  });
});

describe('an extension that cannot be added', () => {
  it('stops the start, and leaves nothing behind', async () => {
    const extend = (): never => {
      throw new Error('not today');
    };
    await expect(startApiServer({ extend })).rejects.toThrow('not today');
  });
});
