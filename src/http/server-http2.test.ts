import { once } from 'node:events';
import { constants, type ClientHttp2Stream } from 'node:http2';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { responseOf, Http2Client } from '../../test/support/http2-client';
import { CONFIG_MAPS, MERGE, servedOverHttp } from '../../test/support/served-over-http';
import { tls } from '../../test/support/serving-keys';

const { metrics, port } = servedOverHttp({ tls, http2: { maxStreamsPerConnection: 100, goAwayChance: 0 } });

let client: Http2Client;
beforeEach(async () => {
  client = await Http2Client.connect(port());
});
afterEach(() => client.destroy());

interface Event {
  readonly type: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- objects are looked into freely
  readonly object: any;
}

interface Watch {
  readonly stream: ClientHttp2Stream;
  /** Type and name of each event so far. */
  readonly seen: string[];
}

async function watch(path: string): Promise<Watch> {
  const stream = client.ask('GET', `${path}?watch=1`);
  const seen: string[] = [];
  let rest = '';
  stream.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop()!;
    for (const line of lines) {
      const { type, object } = JSON.parse(line) as Event;
      seen.push(`${type} ${object.metadata.name}`);
    }
  });
  await once(stream, 'response');
  return { stream, seen };
}

/** Until something is so. */
async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await sleep(10);
}

async function openWatches(): Promise<number> {
  const text = await metrics.metrics();
  const lines = text.split('\n').filter((line) => /^apiserver_longrunning_requests\{.*verb="WATCH"/.test(line));
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}

describe('an object over HTTP/2', () => {
  it('is created, read, listed, changed and deleted', async () => {
    const created = await client.send('POST', CONFIG_MAPS, { body: { metadata: { name: 'c1' }, data: { k: 'v' } } });
    expect(created).toMatchObject({
      status: 201,
      headers: { 'content-type': 'application/json', 'cache-control': 'no-cache, private' },
      body: { kind: 'ConfigMap', metadata: { name: 'c1', namespace: 'a' }, data: { k: 'v' } },
    });
    const read = await client.send('GET', `${CONFIG_MAPS}/c1`);
    expect(read.body).toEqual(created.body);
    expect(Number(read.headers['content-length'])).toBe(read.bytes.length);
    expect((await client.send('GET', CONFIG_MAPS)).body).toMatchObject({ items: [{ metadata: { name: 'c1' } }] });
    const put = { metadata: { name: 'c1' }, data: { k: 'w' } };
    expect((await client.send('PUT', `${CONFIG_MAPS}/c1`, { body: put })).body.data).toEqual({ k: 'w' });
    const patch = { body: { data: { l: 'x' } }, headers: MERGE };
    expect((await client.send('PATCH', `${CONFIG_MAPS}/c1`, patch)).body.data).toEqual({ k: 'w', l: 'x' });
    expect((await client.send('DELETE', `${CONFIG_MAPS}/c1`)).body).toMatchObject({ status: 'Success' });
    expect(await client.send('GET', `${CONFIG_MAPS}/c1`)).toMatchObject({ status: 404, body: { reason: 'NotFound' } });
  });

  it('is asked for by many requests at a time', async () => {
    const names = Array.from({ length: 90 }, (_, index) => `many-${index}`);
    const body = (name: string) => ({ metadata: { name }, data: { name } });
    const created = await Promise.all(names.map((name) => client.send('POST', CONFIG_MAPS, { body: body(name) })));
    expect(created.map(({ status }) => status)).toEqual(names.map(() => 201));
    const read = await Promise.all(names.map((name) => client.send('GET', `${CONFIG_MAPS}/${name}`)));
    expect(read.map((response) => response.body.data.name as string)).toEqual(names);
  });

  it('is refused in the words that HTTP/1.1 has for it', async () => {
    const missing = await client.send('GET', '/apis/nowhere/v1/things');
    expect(missing).toMatchObject({ status: 404, headers: { 'content-type': 'text/plain; charset=utf-8' } });
    const wrong = await client.send('POST', CONFIG_MAPS, { body: 'no json' });
    expect(wrong).toMatchObject({ status: 400, body: { kind: 'Status', reason: 'BadRequest' } });
    expect(await client.send('GET', '/broken')).toMatchObject({ status: 500 });
    await expect(client.send('GET', '/unanswerable')).rejects.toThrow('NGHTTP2_INTERNAL_ERROR');
    expect((await client.send('GET', '/healthz')).bytes.toString()).toBe('ok');
  });

  it('has a head of its own for HEAD', async () => {
    const stream = client.ask('HEAD', '/healthz');
    const answer = await responseOf(stream);
    expect(Number(answer.headers['content-length'])).toBeGreaterThan(0);
    expect(answer.bytes).toHaveLength(0);
  });
});

describe('a body over HTTP/2', () => {
  it('of a megabyte is taken', async () => {
    const data = { k: 'x'.repeat(1_000_000) };
    const created = await client.send('POST', CONFIG_MAPS, { body: { metadata: { name: 'large' }, data } });
    expect(created.status).toBe(201);
    expect(created.body.data.k).toHaveLength(1_000_000);
  });

  it('comes with others at a time', async () => {
    const data = { k: 'x'.repeat(700_000) };
    const names = ['l1', 'l2', 'l3', 'l4'];
    const responses = await Promise.all(
      names.map((name) => client.send('POST', CONFIG_MAPS, { body: { metadata: { name }, data } })),
    );
    expect(responses.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
  });

  const large = Buffer.alloc(4 * 1024 * 1024, ' ');
  it.each([
    ['says its length', { 'content-length': String(large.length) }],
    ['does not say its length', {}],
  ])('that is too large and %s is refused, and others go on', async (_, headers) => {
    const refused = await client.send('POST', CONFIG_MAPS, { body: large, headers });
    expect(refused).toMatchObject({ status: 413, body: { reason: 'RequestEntityTooLarge' } });
    const small = { metadata: { generateName: 'after-' } };
    expect((await client.send('POST', CONFIG_MAPS, { body: small })).status).toBe(201);
    expect(client.sentAway).toEqual([]);
  });
});

describe('a list of megabytes over HTTP/2', () => {
  const path = '/api/v1/namespaces/megabytes/configmaps';
  // Of random letters, so that it stays large when it is compressed.
  const text = (): string => Array.from({ length: 100_000 }, () => Math.random().toString(36)[2]).join('');

  beforeAll(async () => {
    using writer = await Http2Client.connect(port());
    for (let index = 0; index < 50; index++) {
      const body = { metadata: { name: `m${index}` }, data: { k: text() } };
      expect((await writer.send('POST', path, { body })).status).toBe(201);
    }
  });

  it('comes whole, compressed for those who take it', async () => {
    const plain = await client.send('GET', path);
    expect(plain.body.items).toHaveLength(50);
    expect(Number(plain.headers['content-length'])).toBe(plain.bytes.length);
    const zipped = await client.send('GET', path, { headers: { 'accept-encoding': 'gzip' } });
    expect(zipped.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
    expect(zipped.bytes.length).toBeLessThan(plain.bytes.length);
    expect(gunzipSync(zipped.bytes).equals(plain.bytes)).toBe(true);
  });

  it.each([
    ['whole', 'identity'],
    ['compressed', 'gzip'],
  ])('comes %s to a client that reads slowly, and holds nobody else up', async (_, encoding) => {
    client.session.setLocalWindowSize(8 * 1024 * 1024);
    const slow = client.ask('GET', path, { headers: { 'accept-encoding': encoding } });
    await once(slow, 'response');
    const pieces: Buffer[] = [];
    let quick = 0;
    for await (const piece of slow) {
      pieces.push(piece as Buffer);
      if (pieces.length % 20 !== 0) continue;
      expect((await client.send('GET', `${path}/m${quick++ % 50}`)).status).toBe(200);
    }
    expect(quick).toBeGreaterThan(5);
    const all = Buffer.concat(pieces);
    const list = JSON.parse((encoding === 'gzip' ? gunzipSync(all) : all).toString()) as { items: unknown[] };
    expect(list.items).toHaveLength(50);
  });

  it('comes to several clients of one connection that share its window', async () => {
    const lists = await Promise.all([1, 2, 3].map(() => client.send('GET', path)));
    for (const { body } of lists) expect(body.items).toHaveLength(50);
  });

  it('may be given up in the middle', async () => {
    const stream = client.ask('GET', path);
    await once(stream, 'data');
    stream.close(constants.NGHTTP2_CANCEL);
    expect((await client.send('GET', '/healthz')).status).toBe(200);
  });
});

describe('watches over HTTP/2', () => {
  const path = (namespace: string): string => `/api/v1/namespaces/${namespace}/configmaps`;
  const create = (namespace: string, name: string) =>
    client.send('POST', path(namespace), { body: { metadata: { name } } });

  it('share a connection, and each has its events', async () => {
    const namespaces = ['w1', 'w2', 'w3'];
    const watches = await Promise.all(namespaces.map((namespace) => watch(path(namespace))));
    for (const namespace of namespaces) await create(namespace, `only-in-${namespace}`);
    await until(() => watches.every(({ seen }) => seen.length === 1));
    for (const namespace of namespaces) await client.send('DELETE', `${path(namespace)}/only-in-${namespace}`);
    await until(() => watches.every(({ seen }) => seen.length === 2));
    expect(watches.map(({ seen }) => seen)).toEqual(
      namespaces.map((namespace) => [`ADDED only-in-${namespace}`, `DELETED only-in-${namespace}`]),
    );
  });

  it('end when their client gives them up, and others go on', async () => {
    await until(async () => (await openWatches()) === 0);
    const [kept, ...left] = await Promise.all([1, 2, 3].map(() => watch(path('w4'))));
    expect(await openWatches()).toBe(3);
    for (const { stream } of left) stream.close(constants.NGHTTP2_CANCEL);
    await until(async () => (await openWatches()) === 1);
    await create('w4', 'later');
    await until(() => kept!.seen.length > 0);
    expect(kept!.seen).toEqual(['ADDED later']);
  });

  it('end with their connection', async () => {
    await Promise.all(['w5', 'w6'].map((namespace) => watch(path(namespace))));
    expect(await openWatches()).toBeGreaterThanOrEqual(2);
    client.destroy();
    await until(async () => (await openWatches()) === 0);
  });

  it('end after their time', async () => {
    const response = await client.send('GET', `${path('w7')}?watch=1&timeoutSeconds=1`);
    expect(response).toMatchObject({ status: 200, bytes: Buffer.alloc(0) });
  });
});
