import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { seededRandom } from '../history/simulated-run';
import { describeWithEtcd } from '../support/etcd-server';
import { Cluster, Run } from './support/cluster';
import { freePorts } from '../support/free-ports';
import { ServerProcess } from './support/server-process';
import { runTraffic } from './support/traffic';

/** Longer than the test may take. */
const LONG_MS = 120_000;
const SEED = Number(process.env['STERNPOST_SEED'] ?? Date.now() % 100_000);

describeWithEtcd(`one replica of several processes (seed ${SEED})`, () => {
  let cluster: Cluster;
  let replica: ServerProcess;

  beforeAll(async () => {
    cluster = await Cluster.start({ replicas: 1, flags: ['--workers=3'] });
    replica = cluster.replicas[0]!;
  }, 90_000);

  afterAll(async () => {
    await (cluster as Cluster | undefined)?.[Symbol.asyncDispose]();
  });

  it('is one server to its clients, outlives one of its processes, and ends when told to', async () => {
    // A connection each, so that every process gets some.
    const https = Array.from({ length: 9 }, () => cluster.client(0));
    const serving = (): ReadonlySet<number> =>
      new Set([...replica.log.matchAll(/"worker":(\d+),"msg":"a worker serves"/g)].map(([, pid]) => Number(pid)));
    const untilServing = async (count: number): Promise<void> => {
      for (const deadline = Date.now() + 10_000; serving().size < count; await delay(50)) {
        if (Date.now() > deadline) throw new Error(`only ${serving().size} processes have served: ${replica.log}`);
      }
    };
    const run = await Run.start(cluster, https[0]!, 'workers');
    const random = seededRandom(SEED);
    const traffic = async (name: string): Promise<void> => {
      const signal = AbortSignal.timeout(1_500);
      const clients = https.map((http, i) => run.recorder(`${name}-${i}`, http));
      await Promise.all(clients.map((client) => runTraffic(client, { random, signal, callsPerSecond: 20 })));
    };
    /** The requests for ConfigMaps that a process says all have served, asked over each connection in turn. */
    const counted = async (): Promise<readonly number[]> => {
      const counts: number[] = [];
      for (const http of https) counts.push(requestsIn(await http.text('/metrics')));
      return counts;
    };
    for (const [i, http] of https.entries()) run.watch({ name: `watcher-${i}`, https: [http], after: 'state' });
    await untilServing(3);
    await traffic('before');
    expect(run.log.failures).toEqual([]);
    const [first, ...others] = await counted();
    expect(first).toBeGreaterThanOrEqual(run.log.calls.length);
    expect(others).toEqual(others.map(() => first));
    const victim = [...serving()][1]!;
    // It takes no turn any more, so that one of the connections is on its way to it when it ends.
    process.kill(victim, 'SIGSTOP');
    const probes = Array.from({ length: 9 }, () => replica.probe('/readyz', LONG_MS));
    const answered = new Set<number>();
    for (const [i, probe] of probes.entries()) void probe.then(() => answered.add(i));
    for (const deadline = Date.now() + 10_000; answered.size < 8; await delay(50)) {
      if (Date.now() > deadline) throw new Error(`only ${answered.size} connections are served by the others`);
    }
    process.kill(victim, 'SIGKILL');
    expect((await Promise.all(probes)).sort()).toEqual([0, 200, 200, 200, 200, 200, 200, 200, 200]);
    await traffic('after');
    await untilServing(4);
    expect(await replica.probe('/readyz')).toBe(200);
    for (const count of await counted()) expect(count).toBeGreaterThan(first!);
    expect(await run.problems()).toEqual([]);
    for (const http of https) http[Symbol.dispose]();
    expect(await replica.kill('SIGTERM')).toBe(0);
    for (const pid of serving()) expect(() => process.kill(pid, 0)).toThrow();
  }, 60_000);

  it('ends when told to before its processes serve', async () => {
    // Long before they serve, and when the first one does.
    for (const sign of ['"msg":"registry loaded"', '"msg":"a worker serves"']) {
      await replica.kill('SIGTERM');
      replica.launch();
      while (!replica.log.includes(sign)) await delay(5);
      expect(await replica.kill('SIGTERM')).toBe(0);
    }
  }, 60_000);
});

/** The finished requests for ConfigMaps, watches left out, in Prometheus' text form. */
function requestsIn(text: string): number {
  return text
    .split('\n')
    .filter((line) => line.startsWith('apiserver_request_total{') && line.includes('resource="configmaps"'))
    .filter((line) => !line.includes('verb="WATCH"'))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}

describe('a server with several processes', () => {
  it('refuses the embedded store, which belongs to one process', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sternpost-workers-'));
    const [port] = await freePorts(1);
    await using server = new ServerProcess({ dataDir: folder, port: port!, flags: ['--workers=2'] });
    await expect(server.start()).rejects.toThrow('--workers needs --etcd-servers');
    await rm(folder, { recursive: true });
  }, 30_000);
});
