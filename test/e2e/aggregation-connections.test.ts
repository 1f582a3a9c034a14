import { once } from 'node:events';
import { createServer, request as httpsRequest } from 'node:https';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { startApiServer, type ApiServer } from '../../src';
import { createAuthority } from '../../src/pki/authority';
import { adminClient } from '../support/admin-client';
import { AggregatedApis, API_SERVICES, emptyList } from '../support/aggregated-apis';
import { Http2Client } from '../support/http2-client';
import { Kubectl } from '../support/kubectl';
import { RawClient } from '../support/raw-client';
import { authority, servingKeys } from '../support/serving-keys';
import { until } from '../support/until';

/** What passes between clients and API servers behind this one: over HTTP/2, as upgraded connections, and when nothing comes. */

let front: ApiServer;
let apis: AggregatedApis;
let raw: RawClient;
let kubectl: Kubectl;

beforeAll(async () => {
  front = await startApiServer({});
  apis = new AggregatedApis(adminClient(front));
  raw = new RawClient(front);
  kubectl = new Kubectl(front.kubeconfig);
}, 60_000);

afterAll(async () => {
  raw?.close();
  kubectl?.remove();
  apis?.close();
  await front?.stop();
}, 60_000);

const bearer = () => ({ authorization: `Bearer ${front.token}` });

describe('a client over HTTP/2', () => {
  const GROUP = 'two.example.io';
  const THINGS = `/apis/${GROUP}/v1/things`;
  let client: Http2Client;
  const seen: { readonly method: string; readonly headers: IncomingMessage['headers']; readonly body: string }[] = [];
  let sendMore = (): void => undefined;

  beforeAll(async () => {
    const port = await apis.backend('two', (request, response) => {
      const { method = '', url = '', headers } = request;
      if (url.includes('watch=1')) {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.write('{"type":"ADDED"}\n');
        sendMore = () => void response.end('{"type":"MODIFIED"}\n');
        return;
      }
      let body = '';
      request.on('data', (piece) => (body += String(piece)));
      request.on('end', () => {
        if (url.startsWith(THINGS)) seen.push({ method, headers, body });
        response.setHeader('content-type', 'application/json');
        response.setHeader('x-of-backend', 'yes');
        response.end(url.startsWith(THINGS) ? `{"method":"${method}"}` : emptyList(GROUP));
      });
    });
    await apis.settled(await apis.register(GROUP, port), 'True');
    client = await Http2Client.connect(Number(new URL(front.url).port), { ca: front.certificateAuthority });
  });

  afterAll(() => client?.destroy());

  it('reads and writes there, in the words of HTTP/1.1', async () => {
    const got = await client.send('GET', THINGS, { headers: bearer() });
    expect(got).toMatchObject({ status: 200, body: { method: 'GET' } });
    expect(got.headers['x-of-backend']).toBe('yes');
    const body = JSON.stringify({ text: 'x'.repeat(100_000) });
    const headers = { ...bearer(), 'content-type': 'application/json' };
    await expect(client.send('POST', THINGS, { headers, body })).resolves.toMatchObject({ body: { method: 'POST' } });
    await expect(client.send('DELETE', THINGS, { headers })).resolves.toMatchObject({ body: { method: 'DELETE' } });
    expect(seen.map(({ method }) => method)).toEqual(['GET', 'POST', 'DELETE']);
    expect(seen[1]?.body).toBe(body);
    for (const { headers: told } of seen) {
      expect(Object.keys(told).filter((name) => name.startsWith(':'))).toEqual([]);
      expect(told['authorization']).toBeUndefined();
      expect(told['x-remote-user']).toBeDefined();
    }
  });

  it('gets each event of a watch when it comes', async () => {
    const stream = client.ask('GET', `${THINGS}?watch=1`, { headers: bearer() });
    stream.setEncoding('utf8');
    const [first] = (await once(stream, 'data')) as [string];
    expect(first).toContain('ADDED');
    sendMore();
    const [second] = (await once(stream, 'data')) as [string];
    expect(second).toContain('MODIFIED');
    await once(stream, 'end');
  });
});

describe('a request for another protocol', () => {
  const GROUP = 'upgraded.example.io';

  /** The connection, once it has been upgraded, or the status of a refusal. */
  function upgrade(path: string): Promise<{ socket: Duplex; protocol: string } | number> {
    return new Promise((resolve, reject) => {
      const headers = { ...bearer(), connection: 'Upgrade', upgrade: 'echo/1' };
      const asking = httpsRequest(new URL(path, front.url), { ca: front.certificateAuthority, headers });
      asking.on('upgrade', (answer, socket) => resolve({ socket, protocol: String(answer.headers.upgrade) }));
      asking.on('response', (answer) => {
        answer.resume();
        resolve(answer.statusCode ?? 0);
      });
      asking.on('error', reject).end();
    });
  }

  const connections = new Set<Duplex>();

  beforeAll(async () => {
    const keys = servingKeys(authority, 'upgraded.default.svc');
    const server = createServer({ cert: keys.certificatePem, key: keys.privateKeyPem }, (_, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(emptyList(GROUP));
    });
    server.on('upgrade', (request, socket: Duplex) => {
      if (request.url?.includes('/refused/') === true) {
        socket.end('HTTP/1.1 418 No\r\ncontent-length: 0\r\n\r\n');
        return;
      }
      connections.add(socket);
      socket.on('close', () => connections.delete(socket));
      const user = String(request.headers['x-remote-user']);
      socket.write(`HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: echo/1\r\n\r\n${user}\n`);
      socket.on('data', (piece: Buffer) => socket.write(piece.toString().toUpperCase()));
      socket.on('error', () => undefined);
    });
    await apis.settled(await apis.register(GROUP, await apis.listen(server)), 'True');
  });

  it('is passed on, and its connection from then on as well, until one side ends it', async () => {
    const answer = await upgrade(`/apis/${GROUP}/v1/namespaces/default/pods/a/exec?command=x`);
    if (typeof answer === 'number') throw new Error(`refused with ${answer}`);
    const { socket, protocol } = answer;
    expect(protocol).toBe('echo/1');
    let text = '';
    socket.on('data', (piece) => (text += String(piece)));
    socket.write('hello');
    await until(
      async () => text,
      (read) => read.endsWith('HELLO'),
    );
    expect(text).not.toMatch(/^undefined/);
    expect(connections.size).toBe(1);
    socket.destroy();
    await until(
      async () => connections.size,
      (size) => size === 0,
    );
  });

  it('is refused with the status that the other server refuses it with', async () => {
    await expect(upgrade(`/apis/${GROUP}/v1/namespaces/default/pods/refused/exec`)).resolves.toBe(418);
  });
});

describe('a server that does not answer', () => {
  it('to its checks is not available, and holds up nobody', async () => {
    let asked = 0;
    const port = await apis.backend('silent', () => (asked += 1));
    const name = await apis.register('silent.example.io', port);
    await until(
      async () => asked,
      (count) => count > 0,
    );
    // The check is still waiting.
    const groups = await raw.send('GET', '/apis');
    expect(groups.status).toBe(200);
    await expect(raw.sendText('GET', '/apis/silent.example.io/v1/things')).resolves.toMatchObject({ status: 503 });
    await expect(raw.send('GET', '/api/v1/namespaces/default')).resolves.toMatchObject({ status: 200 });
    const condition = await until(
      () => apis.availabilityOf(name),
      (found) => found?.reason === 'FailedDiscoveryCheck',
    );
    expect(condition?.message).toContain('failing or missing response from');
  }, 40_000);

  it('to a request is left alone when the time of the request is over, or its client gone', async () => {
    const GROUP = 'slow.example.io';
    const waiting = new Set<string>();
    const port = await apis.backend('slow', (request, response) => {
      const { url = '' } = request;
      if (!url.includes('/things')) {
        response.setHeader('content-type', 'application/json');
        response.end(emptyList(GROUP));
        return;
      }
      waiting.add(url);
      response.on('close', () => waiting.delete(url));
    });
    await apis.settled(await apis.register(GROUP, port), 'True');
    const answer = await raw.sendText('GET', `/apis/${GROUP}/v1/things?timeout=1s`);
    expect(answer.status).toBe(504);
    await until(
      async () => waiting.size,
      (size) => size === 0,
    );
    const asking = httpsRequest(new URL(`/apis/${GROUP}/v1/things`, front.url), {
      ca: front.certificateAuthority,
      headers: bearer(),
    });
    asking.on('error', () => undefined).end();
    await until(
      async () => waiting.size,
      (size) => size === 1,
    );
    await expect(raw.send('GET', '/api/v1/namespaces/default')).resolves.toMatchObject({ status: 200 });
    asking.destroy();
    await until(
      async () => waiting.size,
      (size) => size === 0,
    );
  }, 40_000);
});

it('a server that goes away in the middle of a response leaves no whole one behind, and is used again when it is back', async () => {
  const GROUP = 'leaving.example.io';
  let isAway = false;
  const port = await apis.backend('leaving', (request, response) => {
    if (isAway) {
      response.destroy();
      return;
    }
    response.setHeader('content-type', 'application/json');
    if (request.url?.includes('/halves') !== true) {
      response.end(emptyList(GROUP));
      return;
    }
    response.setHeader('content-length', '1000');
    response.write('{"half":', () => response.destroy());
  });
  const name = await apis.register(GROUP, port);
  await apis.settled(name, 'True');
  await expect(raw.sendText('GET', `/apis/${GROUP}/v1/halves`)).rejects.toThrow();
  isAway = true;
  await expect(raw.sendText('GET', `/apis/${GROUP}/v1/things`)).resolves.toMatchObject({ status: 503 });
  // Whoever changes the APIService has it looked at.
  const change = { spec: { versionPriority: 11 } };
  await adminClient(front).patch(`${API_SERVICES}/${name}`, 'merge', change, new AbortController().signal);
  await apis.settled(name, 'False');
  await expect(raw.sendText('GET', `/apis/${GROUP}/v1/things`)).resolves.toMatchObject({ status: 503 });
  isAway = false;
  await apis.settled(name, 'True');
  await expect(raw.sendText('GET', `/apis/${GROUP}/v1/things`)).resolves.toMatchObject({ status: 200 });
}, 40_000);

it('a server whose certificate nobody vouches for is asked where its APIService says so, and not otherwise', async () => {
  const keys = servingKeys(createAuthority('unknown', new Date()), 'elsewhere');
  const start = (group: string): Promise<number> =>
    apis.backend(
      group.split('.')[0]!,
      (_, response) => {
        response.setHeader('content-type', 'application/json');
        response.end(emptyList(group));
      },
      keys,
    );
  const trusted = 'insecure.example.io';
  const other = 'secure.example.io';
  const insecure = { caBundle: undefined, insecureSkipTLSVerify: true };
  await apis.settled(await apis.register(trusted, await start(trusted), insecure), 'True');
  await expect(raw.send('GET', `/apis/${trusted}/v1/things`)).resolves.toMatchObject({ status: 200 });
  const refused = await apis.settled(await apis.register(other, await start(other)), 'False');
  expect(refused?.message).toContain('x509');
}, 60_000);

it('kubectl reads raw paths of another server', async () => {
  const GROUP = 'raw.example.io';
  const port = await apis.backend('raw', (request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(request.url === `/apis/${GROUP}/v1/things/a%20b?x=1` ? '{"a":"thing"}' : emptyList(GROUP));
  });
  await apis.settled(await apis.register(GROUP, port), 'True');
  await expect(kubectl.run(['get', '--raw', `/apis/${GROUP}/v1/things/a%20b?x=1`])).resolves.toMatchObject({
    code: 0,
    stdout: '{"a":"thing"}',
  });
  const groups = await kubectl.run(['get', '--raw', `/apis/${GROUP}`]);
  expect(JSON.parse(groups.stdout)).toMatchObject({ kind: 'APIGroup', name: GROUP });
  await expect(kubectl.run(['get', '--raw', `/apis/${GROUP}/v2`])).resolves.toMatchObject({ code: 1 });
}, 60_000);
