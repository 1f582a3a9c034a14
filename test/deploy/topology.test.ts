import { setTimeout as delay } from 'node:timers/promises';
import { seededRandom } from '../history/simulated-run';
import { Cluster, Run } from '../replicas/support/cluster';
import { HttpClient } from '../replicas/support/http-client';
import { runTraffic } from '../replicas/support/traffic';
import { hasEtcd } from '../support/etcd-server';
import { Haproxy, hasHaproxy } from './haproxy';

const SEED = Number(process.env['STERNPOST_SEED'] ?? Date.now() % 100_000);
/** STERNPOST_LOAD multiplies clients and calls: with 8, 64 clients ask for 500 requests a second, and 192 watches are open (two cores get through 140 a second). */
const LOAD = Number(process.env['STERNPOST_LOAD'] ?? 1);
/** The file of the command of an older build (`dist/cli/main.js`): the replicas are upgraded from it. */
const OLDER = process.env['STERNPOST_UPGRADE_FROM'];
const CLIENTS = 8 * LOAD;
const WATCHES_PER_CLIENT = 3;

const describeTopology = hasEtcd && hasHaproxy ? describe : describe.skip;

describeTopology(`the topology of deploy/compose.yaml: three etcd, three replicas, HAProxy (seed ${SEED})`, () => {
  it(`is ${OLDER === undefined ? 'restarted' : 'upgraded'} replica by replica without a failed call, a refused connection or a lost event`, async () => {
    // Longer than HAProxy takes to see that a replica is not ready: two checks, a second apart.
    const flags = ['--shutdown-delay-duration=5s'];
    await using cluster = await Cluster.start({
      replicas: 3,
      etcdMembers: 3,
      healthPorts: true,
      flags,
      command: OLDER,
    });
    await using haproxy = await Haproxy.start(
      cluster.replicas.map(({ port }) => port),
      cluster.healthPorts,
    );
    const clients = Array.from({ length: CLIENTS }, () => new HttpClient(haproxy.port, cluster.credentials()));
    const run = await Run.start(cluster, clients[0]!, 'topology');
    const random = seededRandom(SEED);
    const stop = new AbortController();
    const watchers = clients.flatMap((http, i) =>
      Array.from({ length: WATCHES_PER_CLIENT }, (_, n) =>
        run.watch({ name: `watcher-${i}-${n}`, https: [http], after: 'state' }),
      ),
    );
    const working = clients.map((http, i) =>
      runTraffic(run.recorder(`writer-${i}`, http), { random, signal: stop.signal, callsPerSecond: 8 }),
    );
    for (const replica of cluster.replicas) {
      await delay(300);
      expect(await replica.kill('SIGTERM')).toBe(0);
      replica.upgrade();
      await replica.start();
      // As a Deployment's minReadySeconds: HAProxy takes two checks to send it connections.
      await delay(2_500);
    }
    stop.abort();
    await Promise.all(working);
    expect(await run.problems()).toEqual([]);
    expect(run.log.calls.length).toBeGreaterThan(100);
    expect(run.log.failures).toEqual([]);
    expect(watchers.flatMap(({ refusals }) => refusals)).toEqual([]);
    for (const http of clients) http[Symbol.dispose]();
  }, 180_000);
});
