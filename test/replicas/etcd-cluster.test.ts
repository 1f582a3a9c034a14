import { setTimeout as delay } from 'node:timers/promises';
import { seededRandom } from '../history/simulated-run';
import { leaderOf } from '../support/etcd-cluster';
import { describeWithEtcd, type EtcdServer } from '../support/etcd-server';
import { Cluster, Run } from './support/cluster';
import type { HttpClient } from './support/http-client';
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
});
