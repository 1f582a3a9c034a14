import { setTimeout as delay } from 'node:timers/promises';
import { TOKEN_FIELD, type Version } from '../history/history';
import { seededRandom } from '../history/simulated-run';
import { leaderOf } from '../support/etcd-cluster';
import { describeWithEtcd, type EtcdServer } from '../support/etcd-server';
import { Cluster, Run } from './support/cluster';
import type { HttpClient } from './support/http-client';
import type { Recorder } from './support/recorder';
import { runTraffic } from './support/traffic';

const SEED = Number(process.env['STERNPOST_SEED'] ?? Date.now() % 100_000);

describeWithEtcd(`two replicas on an etcd of three members (seed ${SEED})`, () => {
  let cluster: Cluster;
  let https: readonly HttpClient[] = [];

  beforeAll(async () => {
    cluster = await Cluster.start({ replicas: 2, etcdMembers: 3 });
    https = cluster.replicas.map((_, i) => cluster.client(i));
  }, 90_000);

  afterAll(async () => {
    for (const http of https) http[Symbol.dispose]();
    await (cluster as Cluster | undefined)?.[Symbol.asyncDispose]();
  });

  const faults: readonly (readonly [string, (leader: EtcdServer) => Promise<void>])[] = [
    [
      'is killed and comes back',
      async (leader) => {
        await leader.kill();
        await delay(2_000);
        await leader.run();
      },
    ],
    [
      'stops for a while, and wakes up deposed',
      async (leader) => {
        leader.pause();
        await delay(2_000);
        leader.resume();
      },
    ],
  ];

  it.each(faults)(
    'lose nothing and invent nothing when its leader %s',
    async (name, fault) => {
      const run = await Run.start(cluster, https[0]!, name.split(' ')[0]!);
      const random = seededRandom(SEED);
      const stop = new AbortController();
      const watchers = https.map((http, i) => run.watch({ name: `watcher-${i}`, https: [http], after: 'state' }));
      const working = [...https, ...https].map((http, i) =>
        runTraffic(run.recorder(`writer-${i}`, http), { random, signal: stop.signal, callsPerSecond: 40 }),
      );
      await delay(500);
      await fault(await leaderOf(cluster.etcdMembers));
      await Promise.all(cluster.replicas.map((replica) => replica.untilReady()));
      const before = run.log.calls.length;
      await delay(500);
      stop.abort();
      await Promise.all(working);
      expect(run.log.calls.length).toBeGreaterThan(before);
      expect(await run.problems()).toEqual([]);
      expect(watchers.flatMap(({ refusals }) => refusals).filter(({ code }) => code === 410)).toEqual([]);
    },
    60_000,
  );

  it('go on while one of its members hangs, whichever it is', async () => {
    const run = await Run.start(cluster, https[0]!, 'hangs');
    const clients = https.map((http, i) => run.recorder(`client-${i}`, http));
    const watchers = https.map((http, i) => run.watch({ name: `watcher-${i}`, https: [http], after: 'state' }));
    await clients[0]!.create('a', { [TOKEN_FIELD]: 'first' });
    for (const [i, member] of cluster.etcdMembers.entries()) {
      member.pause();
      for (const client of clients) expect(await untilAnswered(() => client.get('a'))).toBeDefined();
      let attempt = 0;
      const write = (client: Recorder): Promise<Version | undefined> =>
        client.patch('a', { [TOKEN_FIELD]: `${client.name}-${i}-${attempt++}` });
      const versions = await Promise.all(clients.map((client) => untilAnswered(() => write(client))));
      const newest = Math.max(...versions.map(({ revision }) => revision));
      for (const watcher of watchers) expect(await watcher.until(newest)).toBe(true);
      member.resume();
    }
    expect(await run.problems()).toEqual([]);
  }, 60_000);
});

/** Asks again while there is no answer, for less than etcd's own timeouts. */
async function untilAnswered<T>(ask: () => Promise<T | undefined>): Promise<T> {
  for (const deadline = Date.now() + 6_000; ;) {
    const response = await ask().catch(() => undefined);
    if (response !== undefined) return response;
    if (Date.now() > deadline) throw new Error('nobody answers');
    await delay(50);
  }
}
