import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import fc from 'fast-check';
import { permissiveServer } from '../../test/support/permissive-server';
import { catalogueOf, CONFIG_MAPS, servedOverHttp } from '../../test/support/served-over-http';
import { configMap } from '../api/kinds/core/config-map';
import { createServer } from './server';

const { open, send, metrics, port, fixture } = servedOverHttp();

describe('whatever is sent', () => {
  const mediaTypes = [
    'application/json',
    'application/yaml',
    'application/vnd.kubernetes.protobuf',
    'application/merge-patch+json',
    'application/json-patch+json',
    'application/strategic-merge-patch+json',
    'application/apply-patch+yaml',
  ];
  const body = fc.oneof(
    fc.string(),
    fc.json(),
    fc.uint8Array().map((bytes) => Buffer.concat([Buffer.from('k8s\0'), bytes])),
    fc
      .dictionary(fc.constantFrom('metadata', 'data', 'kind', 'apiVersion', 'op', 'path'), fc.jsonValue())
      .map((value) => JSON.stringify(value)),
  );

  it('is never the cause of a 5xx', async () => {
    await send('POST', CONFIG_MAPS, { body: { metadata: { name: 'victim' } } });
    const method = fc.constantFrom('POST', 'PUT', 'PATCH', 'DELETE');
    const query = fc.constantFrom(
      '',
      '?dryRun=All',
      '?fieldManager=m',
      '?fieldValidation=Strict',
      '?fieldManager=m&force=1',
    );
    await fc.assert(
      fc.asyncProperty(method, fc.constantFrom(...mediaTypes), query, body, async (verb, mediaType, search, bytes) => {
        const path = verb === 'POST' ? CONFIG_MAPS : `${CONFIG_MAPS}/victim`;
        const response = await send(verb, path + search, { body: bytes, headers: { 'content-type': mediaType } });
        expect({ ...response, status: Math.floor(response.status / 100) }).not.toMatchObject({ status: 5 });
      }),
      { numRuns: 300 },
    );
  });

  it('breaks no connection but its own', async () => {
    for (const garbage of ['GARBAGE\r\n\r\n', 'GET / HTTP/1.1\r\nHost: a\r\nX: \0\r\n\r\n', '\x16\x03\x01\x02\x00']) {
      const answer = await new Promise<string>((resolve) => {
        let text = '';
        const socket = connect(port(), '127.0.0.1', () => socket.end(garbage));
        socket.on('data', (piece) => (text += String(piece)));
        socket.on('close', () => resolve(text));
        socket.on('error', () => undefined);
      });
      expect(answer).toMatch(/^(HTTP\/1\.1 400 |$)/);
    }
    expect((await send('GET', '/healthz')).text).toBe('ok');
  });
});

describe('a large list', () => {
  const path = '/api/v1/namespaces/large/configmaps';

  it('comes whole, compressed for those who take it', async () => {
    const data = { k: 'x'.repeat(20_000) };
    for (let index = 0; index < 10; index++)
      await send('POST', path, { body: { metadata: { name: `l${index}` }, data } });
    const plain = await send('GET', path);
    expect(plain.body.items).toHaveLength(10);
    expect(Number(plain.headers['content-length'])).toBe(Buffer.byteLength(plain.text));
    const zipped = await open('GET', path, { headers: { 'accept-encoding': 'gzip' } });
    expect(zipped.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
    zipped.resume();
  });
});

it('counts what it served, by verb and resource', async () => {
  await send('GET', '/api/v1/made-up');
  const text = await metrics.metrics();
  expect(text).toMatch(/apiserver_request_total\{verb="LIST",version="v1",resource="configmaps",.*code="200"\}/);
  expect(text).not.toContain('made-up');
});

it('closes a connection that cannot be answered, and goes on', async () => {
  await expect(send('GET', '/unanswerable')).rejects.toThrow('socket hang up');
  expect((await send('GET', '/healthz')).text).toBe('ok');
});

it('closes while watches are open, and ends them', async () => {
  const own = createServer({
    catalogue: catalogueOf(fixture(), [configMap]),
    ...permissiveServer,
  });
  const address = await own.listen();
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    httpRequest({ port: address.port, host: '127.0.0.1', path: `${CONFIG_MAPS}?watch=1&resourceVersion=0` }, resolve)
      .on('error', reject)
      .end();
  });
  const ended = new Promise<boolean>((resolve) => response.resume().on('close', () => resolve(response.complete)));
  await own.close(2000);
  expect(await ended).toBe(true);
});
