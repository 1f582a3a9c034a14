import { once } from 'node:events';
import { request, type ClientRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { CONFIG_MAPS, catalogueOf } from '../../test/support/served-over-http';
import { permissiveServer } from '../../test/support/permissive-server';
import { RegistryFixture } from '../../test/support/registry-fixture';
import { configMap } from '../api/kinds/core/config-map';
import { createServer, type ApiServer } from './server';
import { http1LimitsFor } from './transport/http1-connections';

/** What becomes of connections of HTTP/1.1 when a server closes. */

const REQUEST_TIMEOUT_MS = 60_000;
/** Far longer than a test has. */
const GRACE_MS = 3_600_000;

let fixture: RegistryFixture;
let server: ApiServer;
let port: number;

beforeEach(async () => {
  fixture = await RegistryFixture.open();
  server = createServer({
    ...permissiveServer,
    catalogue: catalogueOf(fixture, [configMap]),
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
    http1Limits: { ...http1LimitsFor(REQUEST_TIMEOUT_MS), lastSilenceMs: 100 },
    authenticate: () => ({ name: 'alice', groups: [] }),
  });
  ({ port } = await server.listen());
});
afterEach(async () => {
  await server.close(0);
  await fixture.close();
});

function send(method: string, path: string, body?: object): ClientRequest {
  const headers = { authorization: 'Bearer alice', 'content-type': 'application/json' };
  return request({ port, host: '127.0.0.1', agent: false, method, path, headers }).end(
    body === undefined ? undefined : JSON.stringify(body),
  );
}

async function responseTo(sent: ClientRequest): Promise<IncomingMessage> {
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return response;
}

it('a connection that has never asked anything does not keep the server from closing', async () => {
  const silent = connect(port, '127.0.0.1');
  await once(silent, 'connect');
  // Whoever is answered has come later than it.
  await textOf(await responseTo(send('GET', CONFIG_MAPS)));
  const ended = once(silent, 'close');
  await server.close(GRACE_MS);
  silent.resume();
  await ended;
});

it('a watch whose client is behind ends behind an event, not in the middle of one', async () => {
  const response = await responseTo(send('GET', `${CONFIG_MAPS}?watch=true`));
  response.socket.pause();
  const large = 'x'.repeat(900_000);
  // More than what the system takes for a client that does not read.
  const names = Array.from({ length: 12 }, (_, index) => `large-${index}`);
  for (const name of names) {
    const created = await responseTo(send('POST', CONFIG_MAPS, { metadata: { name }, data: { large } }));
    expect(created.statusCode).toBe(201);
    await textOf(created);
  }
  const closed = server.close(GRACE_MS);
  await new Promise((resolve) => setTimeout(resolve, 200));
  // Rejects when the response is cut.
  expect((await textOf(response)).endsWith('}\n')).toBe(true);
  await closed;
});
