import { request } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';
import { seededRandom } from '../history/simulated-run';
import { describeWithEtcd } from '../support/etcd-server';
import { Cluster, Run } from './support/cluster';
import { runTraffic } from './support/traffic';

const SEED = Number(process.env['STERNPOST_SEED'] ?? Date.now() % 100_000);
const CLOCK = 'its clock jumps, at SIGUSR2, first ahead and then back';
const JUMP_PAUSE_MS = 700;
/** Longer than a server believes what it has found out about a token. */
const PATIENCE_MS = 25_000;

/** The status of a request with nothing but this token: 401 when it is not believed, else 403. */
function statusWith(token: string, cluster: Cluster): Promise<number> {
  const { ca } = cluster.credentials();
  const headers = { Authorization: `Bearer ${token}` };
  const options = {
    host: '127.0.0.1',
    port: cluster.replicas[0]!.port,
    path: '/api/v1/nodes',
    ca,
    headers,
    agent: false,
  };
  return new Promise((resolve, reject) => {
    const sent = request(options, (response) => resolve(response.resume().statusCode ?? 0));
    sent.on('error', reject).end();
  });
}

describeWithEtcd(`a replica whose clock jumps (seed ${SEED})`, () => {
  it('loses nothing, stays among the live ones, and believes no token for longer', async () => {
    await using cluster = await Cluster.start({ replicas: 1 });
    const [replica] = cluster.replicas;
    await replica!.kill();
    await replica!.start({ bug: CLOCK });
    using http = cluster.client(0);
    const run = await Run.start(cluster, http, 'clock');
    const accounts = '/api/v1/namespaces/clock/serviceaccounts';
    await http.send('POST', accounts, { metadata: { name: 'guest' } });
    const { body } = await http.send('POST', `${accounts}/guest/token`, { spec: {} });
    const { token } = (body as { readonly status?: { readonly token: string } }).status!;
    expect(await statusWith(token, cluster)).toBe(403);

    const random = seededRandom(SEED);
    const stop = new AbortController();
    run.watch({ name: 'stayer', https: [http], after: 'state' });
    run.watch({ name: 'wanderer', https: [http], after: 'state', streamSeconds: 3 });
    const working = Array.from({ length: 4 }, (_, i) =>
      runTraffic(run.recorder(`writer-${i}`, http), { random, signal: stop.signal, callsPerSecond: 40 }),
    );
    for (let jump = 0; jump < 2; jump++) {
      await delay(JUMP_PAUSE_MS);
      replica!.signal('SIGUSR2');
      const event = {
        metadata: { name: `event-${jump}` },
        involvedObject: { kind: 'Pod', namespace: 'clock', name: 'p' },
      };
      expect((await http.send('POST', '/api/v1/namespaces/clock/events', event)).status).toBe(201);
    }
    await delay(JUMP_PAUSE_MS);
    stop.abort();
    await Promise.all(working);
    expect(await run.problems()).toEqual([]);
    expect(run.log.failures).toEqual([]);

    expect((await http.send('DELETE', `${accounts}/guest`)).status).toBe(200);
    for (const deadline = Date.now() + PATIENCE_MS; (await statusWith(token, cluster)) !== 401; await delay(100)) {
      if (Date.now() > deadline) throw new Error('the token of an account that is gone is still believed');
    }
    for (const jump of [0, 1]) {
      expect((await http.send('GET', `/api/v1/namespaces/clock/events/event-${jump}`)).status).toBe(200);
    }
    const { body: endpoints } = await http.send('GET', '/api/v1/namespaces/default/endpoints/kubernetes');
    expect(endpoints.subsets?.[0]?.addresses).toEqual([expect.objectContaining({ ip: '192.0.2.1' })]);
  }, 90_000);
});
