import { LongRunningRequests, longRunningCost } from '../flowcontrol/long-running-requests';
import { Http2Client } from '../../test/support/http2-client';
import { CONFIG_MAPS, servedOverHttp } from '../../test/support/served-over-http';
import { tls } from '../../test/support/serving-keys';

const WATCHES = 8;
const longRunning = new LongRunningRequests(
  WATCHES * longRunningCost(true, false, { urlCharacters: 0, headerBytes: 0 }),
);
const { port } = servedOverHttp({
  tls,
  http2: { maxStreamsPerConnection: 250, goAwayChance: 0 },
  longRunning,
  authenticate: async ({ bearerToken = '' }) => ({
    name: bearerToken,
    groups: bearerToken === 'admin' ? ['system:masters'] : [],
  }),
});

it('watches that leave no room for those of others are refused with a 429, and come again when some have ended', async () => {
  const clients = {
    greedy: await Http2Client.connect(port()),
    modest: await Http2Client.connect(port()),
    admin: await Http2Client.connect(port()),
  };
  const watch = async (user: keyof typeof clients) => {
    const stream = clients[user].ask('GET', `${CONFIG_MAPS}?watch=1`, { headers: { authorization: `Bearer ${user}` } });
    stream.on('error', () => undefined).resume();
    return new Promise<number>((resolve) => stream.on('response', (head) => resolve(Number(head[':status']))));
  };
  const statuses = async (user: keyof typeof clients, count: number): Promise<number[]> => {
    const all: number[] = [];
    while (all.length < count) all.push(await watch(user));
    return all;
  };

  expect(await statuses('greedy', 6)).toEqual([200, 200, 200, 200, 429, 429]);
  expect(await statuses('modest', 3)).toEqual([200, 200, 429]);
  // Nothing else is refused.
  expect((await clients.greedy.send('GET', CONFIG_MAPS, { headers: { authorization: 'Bearer greedy' } })).status).toBe(
    200,
  );
  expect(await statuses('admin', 3)).toEqual([200, 200, 429]);

  const refused = await clients.greedy.send('GET', `${CONFIG_MAPS}?watch=1`, {
    headers: { authorization: 'Bearer greedy' },
  });
  expect([refused.status, refused.headers['retry-after'], refused.body.message]).toEqual([
    429,
    '1',
    'Too many watches, please try again later.',
  ]);

  for (const client of Object.values(clients)) client.destroy();
  while (longRunning.takenBytes > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(longRunning.users).toBe(0);
  clients.greedy = await Http2Client.connect(port());
  expect(await statuses('greedy', 1)).toEqual([200]);
  clients.greedy.destroy();
}, 20_000);

it('a watch with a long selector takes the room of several', async () => {
  const client = await Http2Client.connect(port());
  const terms = Array.from({ length: 800 }, (_, index) => `!k${index}`).join(',');
  const watch = async (query: string) => {
    const stream = client.ask('GET', `${CONFIG_MAPS}?watch=1${query}`, { headers: { authorization: 'Bearer greedy' } });
    stream.on('error', () => undefined).resume();
    return new Promise<number>((resolve) => stream.on('response', (head) => resolve(Number(head[':status']))));
  };
  expect(await watch(`&labelSelector=${terms}`)).toBe(429);
  expect(await watch(`&labelSelector=${terms.slice(0, 1_000)}x`)).toBe(200);
  expect([await watch(''), await watch(''), await watch('')]).toEqual([200, 429, 429]);
  client.destroy();
  while (longRunning.takenBytes > 0) await new Promise((resolve) => setTimeout(resolve, 5));
});
