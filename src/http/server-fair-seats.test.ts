import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { CONFIG_MAPS, servedOverHttp } from '../../test/support/served-over-http';
import { PriorityAndFairness } from '../flowcontrol/priority-and-fairness';

/** Seats of priority and fairness over HTTP: all of them are catch-all's, for which nobody waits. */

const fairness = new PriorityAndFairness({ limits: { readOnly: 2, mutating: 0 }, waitLimitMs: 10_000 });
const { send, open, port, metrics } = servedOverHttp({
  fairness,
  authenticate: ({ bearerToken }) => ({
    name: bearerToken ?? 'alice',
    groups: bearerToken === 'admin' ? ['system:masters'] : ['system:authenticated'],
  }),
});
const executing = (): number => fairness.readOnly.taken + fairness.mutating.taken;

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}

describe('a server with priority and fairness', () => {
  it('turns away what finds no seat, but for administrators and probes', async () => {
    const held = [1, 2].map(() => open('GET', '/slow?timeout=1s'));
    await until(() => executing() === 2);
    const refused = await send('GET', CONFIG_MAPS);
    expect(refused).toMatchObject({
      status: 429,
      text: 'Too many requests, please try again later.\n',
      headers: { 'retry-after': '1', 'content-type': 'text/plain; charset=utf-8' },
    });
    expect((await send('GET', CONFIG_MAPS, { headers: { authorization: 'Bearer admin' } })).status).toBe(200);
    expect((await send('GET', '/healthz')).status).toBe(200);
    expect(await metrics.metrics()).toMatch(
      /apiserver_request_terminations_total\{.*resource="configmaps".*code="429"\} 1/,
    );
    for (const response of held) (await response).resume();
    await until(() => executing() === 0);
  });

  it('has a watch keep its seat until it has begun, and other requests that last none', async () => {
    const watches = await Promise.all([1, 2, 3].map(() => open('GET', `${CONFIG_MAPS}?watch=1&timeoutSeconds=20`)));
    expect(watches.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200]);
    expect(executing()).toBe(0);
    for (const watch of watches) watch.destroy();
  });

  it('gives the seat of a body that is on its way to others', async () => {
    const upload = request({ port: port(), host: '127.0.0.1', path: CONFIG_MAPS, method: 'POST', agent: false });
    upload.setHeader('content-type', 'application/json');
    upload.write('{"metadata":{"name":"late"');
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(executing()).toBe(0);
    upload.end('}}');
    const [answer] = (await once(upload, 'response')) as [IncomingMessage];
    answer.resume();
    expect(answer.statusCode).toBe(201);
    await until(() => executing() === 0);
  });

  it('takes a list for work until it is handed over, or its client takes its time', async () => {
    for (let n = 0; n < 12; n++) {
      const body = { metadata: { name: `large-${n}` }, data: { text: 'x'.repeat(1_000_000) } };
      expect((await send('POST', CONFIG_MAPS, { body })).status).toBe(201);
    }
    const socket = connect(port(), '127.0.0.1').pause();
    socket.write(`GET ${CONFIG_MAPS} HTTP/1.1\r\nHost: a\r\n\r\n`);
    await until(() => executing() === 1);
    // The client does not read: the system's buffers are full, and a second later the seat is free.
    await until(() => executing() === 0);
    expect(socket.destroyed).toBe(false);
    socket.destroy();
  }, 20_000);

  it('has all seats back from clients that leave and requests that fail', async () => {
    for (const path of ['/broken', '/unanswerable', `${CONFIG_MAPS}/missing`])
      await send('GET', path).catch(() => undefined);
    const client = request({ port: port(), host: '127.0.0.1', path: '/slow', agent: false });
    client.on('error', () => undefined).end();
    await until(() => executing() === 1);
    client.destroy();
    await until(() => executing() === 0);
    const level = fairness.levels.find(({ name }) => name === 'catch-all');
    expect(level).toMatchObject({ executing: 0, waiting: 0, seatsInUse: 0 });
  });
});
