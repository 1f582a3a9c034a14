import { setTimeout as delay } from 'node:timers/promises';
import { seededRandom } from '../history/simulated-run';
import { describeWithEtcd } from '../support/etcd-server';
import { Cluster, Run } from './support/cluster';
import { runTraffic } from './support/traffic';

const SEED = Number(process.env['STERNPOST_SEED'] ?? Date.now() % 100_000);

describeWithEtcd(`a rolling restart behind a balancer that asks /readyz (seed ${SEED})`, () => {
  it('fails no call and breaks no watch for good', async () => {
    await using cluster = await Cluster.start({
      replicas: 3,
      probes: true,
      flags: ['--shutdown-delay-duration=1s'],
    });
    const https = Array.from({ length: 8 }, () => cluster.client());
    const run = await Run.start(cluster, https[0]!, 'rolling');
    const random = seededRandom(SEED);
    const stop = new AbortController();
    const watchers = https.map((http, i) => run.watch({ name: `watcher-${i}`, https: [http], after: 'state' }));
    const working = https.map((http, i) =>
      runTraffic(run.recorder(`writer-${i}`, http), { random, signal: stop.signal, callsPerSecond: 30 }),
    );
    for (const replica of cluster.replicas) {
      await delay(300);
      expect(await replica.kill('SIGTERM')).toBe(0);
      await replica.start();
    }
    await delay(300);
    stop.abort();
    await Promise.all(working);
    expect(await run.problems()).toEqual([]);
    expect(run.log.failures).toEqual([]);
    expect(cluster.balancer.refused).toBe(0);
    expect(watchers.flatMap(({ refusals }) => refusals)).toEqual([]);
    for (const http of https) http[Symbol.dispose]();
  }, 90_000);
});
