import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { CONFIG_MAPS, catalogueOf } from '../../test/support/served-over-http';
import { permissiveServer } from '../../test/support/permissive-server';
import { RegistryFixture } from '../../test/support/registry-fixture';
import { configMap } from '../api/kinds/core/config-map';
import { createServer, type ApiServer } from './server';

/** The server's own limit of time, and the way down. Whom `slow` is allows is known only when the test says so. */

const LIMIT_MS = 150;

let fixture: RegistryFixture;
let server: ApiServer;
let port: number;
let allowSlow: () => void;
let slowAsked: Promise<void>;

beforeEach(async () => {
  fixture = await RegistryFixture.open();
  const allowed = new Promise<void>((resolve) => (allowSlow = resolve));
  let asked: () => void;
  slowAsked = new Promise<void>((resolve) => (asked = resolve));
  server = createServer({
    ...permissiveServer,
    catalogue: catalogueOf(fixture, [configMap]),
    requestTimeoutMs: LIMIT_MS,
    authenticate: ({ bearerToken }) => ({ name: bearerToken ?? 'alice', groups: [] }),
    authorize: ({ user }) => {
      const allow = { decision: 'allow', reason: '' } as const;
      if (user.name !== 'slow') return allow;
      asked();
      return allowed.then(() => allow);
    },
  });
  ({ port } = await server.listen());
});
afterEach(async () => {
  allowSlow();
  await server.close(1000);
  await fixture.close();
});

async function send(
  method: string,
  path: string,
  user: string,
  body?: object,
): Promise<IncomingMessage & { text: string }> {
  const text = body === undefined ? undefined : JSON.stringify(body);
  const headers = {
    authorization: `Bearer ${user}`,
    connection: 'keep-alive',
    ...(text === undefined ? {} : { 'content-type': 'application/json', 'content-length': text.length }),
  };
  const sent = request({ port, host: '127.0.0.1', agent: false, method, path, headers }).end(text);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  let answer = '';
  for await (const piece of response) answer += String(piece);
  return Object.assign(response, { text: answer });
}

it.each([
  ['GET', `${CONFIG_MAPS}/x`, undefined],
  ['POST', CONFIG_MAPS, { metadata: { name: 'late' } }],
])(
  'a %s that takes longer than the server lets it is told so in plain text, as kube-apiserver does',
  async (method, path, body) => {
    const { statusCode, headers, text } = await send(method, path, 'slow', body);
    expect([statusCode, headers['content-type'], headers.connection]).toEqual([
      504,
      'text/plain; charset=utf-8',
      undefined,
    ]);
    expect(text).toBe(
      '{"metadata":{},"status":"Failure","message":"Timeout: request did not complete within 150ms","reason":"Timeout","details":{},"code":504}\n',
    );
  },
);

it('one that takes longer than it said itself gets a Status', async () => {
  const { statusCode, headers, text } = await send('GET', `${CONFIG_MAPS}/x?timeout=50ms`, 'slow');
  expect([statusCode, headers['content-type']]).toEqual([504, 'application/json']);
  expect(JSON.parse(text)).toMatchObject({
    kind: 'Status',
    message: 'Timeout: request did not complete within requested timeout 50ms',
  });
});

it('what was answered for its time is not carried out any more, least of all without the conditions in its body', async () => {
  expect((await send('POST', CONFIG_MAPS, 'alice', { metadata: { name: 'kept' } })).statusCode).toBe(201);
  const conditions = { preconditions: { uid: 'another' } };
  expect((await send('DELETE', `${CONFIG_MAPS}/kept`, 'slow', conditions)).statusCode).toBe(504);
  allowSlow();
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect((await send('GET', `${CONFIG_MAPS}/kept`, 'alice')).statusCode).toBe(200);
});

it('a request that is under way when the server drains ends its connection with its answer', async () => {
  const response = send('GET', CONFIG_MAPS, 'slow');
  await slowAsked;
  server.drain();
  allowSlow();
  const { statusCode, headers } = await response;
  expect([statusCode, headers.connection]).toEqual([200, 'close']);
});

it('a body beyond every limit is told of the limit of all requests', async () => {
  const { statusCode, text } = await send('DELETE', `${CONFIG_MAPS}/x`, 'alice', { x: 'y'.repeat(3 * 1024 * 1024) });
  expect(statusCode).toBe(413);
  expect(text).toContain('Request entity too large: limit is 3145728');
});
