import { once } from 'node:events';
import type { UserInfo } from '../../src/api/user';
import { MemoryBudget } from '../../src/memory/memory-budget';
import { Http2Client } from '../support/http2-client';
import { CONFIG_MAPS, servedOverHttp } from '../support/served-over-http';
import { tls } from '../support/serving-keys';
import { Attackers, get as getAs, post, settled, until } from './support/attackers';

/** Clients that ask for much, or send much, and take nothing. What that costs is read in the server's own books. */

const MIB = 1024 * 1024;
const LARGE_BYTES = 1_000_000;
const SMALL_OBJECTS = 400;
const SMALL_BYTES = 5_000;

const memory = new MemoryBudget(64 * MIB);
let authenticated = 0;
const { port } = servedOverHttp({
  tls,
  http2: { maxStreamsPerConnection: 250, goAwayChance: 0 },
  memory,
  authenticate: async ({ bearerToken }): Promise<UserInfo> => {
    if (bearerToken === 'attacker') authenticated++;
    return { name: bearerToken ?? 'honest', groups: [] };
  },
});

let honest: Http2Client;
const attackers = new Attackers(port);

beforeAll(async () => {
  honest = await Http2Client.connect(port());
  const data = { value: 'x'.repeat(LARGE_BYTES) };
  await honest.send('POST', CONFIG_MAPS, { body: { metadata: { name: 'large' }, data } });
  for (let from = 0; from < SMALL_OBJECTS; from += 50) {
    await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        honest.send('POST', '/api/v1/namespaces/b/configmaps', {
          body: { metadata: { name: `small-${from + index}` }, data: { value: 'y'.repeat(SMALL_BYTES) } },
        }),
      ),
    );
  }
}, 60_000);
afterAll(() => honest.destroy());

beforeEach(() => {
  authenticated = 0;
});
afterEach(async () => {
  attackers.leave();
  await until(() => memory.heldBytes === 0 && memory.openAccounts <= 1);
});

/** Until the server has stopped doing anything for a moment. */
const quiet = (): Promise<void> => settled(() => memory.heldBytes + authenticated);

const get = (path: string): string => getAs(path, 'attacker');

/** Honest clients beside the attackers. */
async function expectService(): Promise<void> {
  const large = await honest.send('GET', `${CONFIG_MAPS}/large`);
  expect(large.status).toBe(200);
  expect(large.body.data.value).toHaveLength(LARGE_BYTES);
  const list = await honest.send('GET', '/api/v1/namespaces/b/configmaps');
  expect(list.body.items).toHaveLength(SMALL_OBJECTS);
}

describe('answers that nobody reads', () => {
  it('are made one at a time for requests that were sent ahead over HTTP/1.1', async () => {
    await attackers.send('http/1.1', get(`${CONFIG_MAPS}/large`).repeat(1000));
    await quiet();
    // What the connection's buffers in the system hold, and one more.
    expect(authenticated).toBeLessThan(50);
    expect(memory.heldBytes).toBeLessThan(4 * MIB);
    await expectService();
  });

  it('cost a few blocks for each connection that asks for lists', async () => {
    for (let count = 0; count < 10; count++) {
      await attackers.send('http/1.1', get('/api/v1/namespaces/b/configmaps').repeat(100));
    }
    await quiet();
    expect(memory.heldBytes).toBeLessThan(10 * 2 * MIB);
    expect(memory.droppedAccounts).toBe(0);
    await expectService();
  });

  it.each([
    ['a large object', 10, `${CONFIG_MAPS}/large`, {}],
    ['a list', 10, '/api/v1/namespaces/b/configmaps', {}],
    ['an object that is printed for each', 2, `${CONFIG_MAPS}/large`, { accept: 'application/yaml' }],
    ['a compressed list', 4, '/api/v1/namespaces/b/configmaps', { 'accept-encoding': 'gzip' }],
    ['a small object', 10, '/api/v1/namespaces/b/configmaps/small-1', {}],
  ])(
    'are bounded for each connection over HTTP/2: %s',
    async (_what, connections, path, headers) => {
      for (let count = 0; count < connections; count++) await attackers.unread(path, 250, 'attacker', headers);
      await quiet();
      expect(memory.heldBytes).toBeGreaterThan(0);
      expect(memory.heldBytes).toBeLessThan(connections * (memory.connectionBytes + 2 * MIB));
      expect(memory.heldBytes).toBeLessThanOrEqual(memory.limitBytes);
      await expectService();
    },
    30_000,
  );
});

describe('watches that nobody reads', () => {
  it('hold a little of their initial events', async () => {
    for (let count = 0; count < 5; count++) {
      await attackers.unread('/api/v1/namespaces/b/configmaps?watch=1&resourceVersion=0', 250, 'attacker');
    }
    await quiet();
    expect(memory.heldBytes).toBeGreaterThan(0);
    expect(memory.heldBytes).toBeLessThan(5 * (memory.connectionBytes + MIB));
    await expectService();
  }, 30_000);
});

describe('bodies that never end', () => {
  const head = post(CONFIG_MAPS, 'attacker', 3_000_000);

  it('are dropped with their connections when they use up the memory for clients', async () => {
    const before = memory.droppedAccounts;
    const body = ' '.repeat(2_900_000);
    for (let count = 0; count < 30; count++) {
      await attackers.send('http/1.1', head, body);
      expect(memory.heldBytes).toBeLessThanOrEqual(memory.limitBytes);
    }
    await quiet();
    expect(memory.heldBytes).toBeLessThanOrEqual(memory.limitBytes);
    expect(memory.droppedAccounts).toBeGreaterThan(before);
    await expectService();
  }, 30_000);
});

describe('a client that sends requests ahead and reads', () => {
  it('gets all answers, in order', async () => {
    const count = 300;
    const paths = Array.from({ length: count }, (_, index) => `/api/v1/namespaces/b/configmaps/small-${index}`);
    const last = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';
    const socket = await attackers.send('http/1.1', paths.map(get).join(''), last);
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1'))).resume();
    await once(socket, 'close');
    const names = [...text.matchAll(/"name":"(small-\d+)"/g)].map(([, name]) => name);
    expect(names).toEqual(paths.map((path) => path.slice(path.lastIndexOf('/') + 1)));
    expect(text.endsWith('ok')).toBe(true);
  });

  it('may send a body ahead', async () => {
    const body = JSON.stringify({ metadata: { name: 'sent-ahead' }, data: { value: 'z'.repeat(500_000) } });
    const post =
      `POST ${CONFIG_MAPS} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${body.length}\r\n\r\n${body}`;
    const last = get(`${CONFIG_MAPS}/sent-ahead`).replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n');
    const socket = await attackers.send('http/1.1', get(`${CONFIG_MAPS}/large`).repeat(3) + post + last);
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1'))).resume();
    await once(socket, 'close');
    expect([...text.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, code]) => code)).toEqual([
      '200',
      '200',
      '200',
      '201',
      '200',
    ]);
  });
});
