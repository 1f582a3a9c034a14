import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { TOKEN_FIELD } from '../history/history';
import { seededRandom } from '../history/simulated-run';
import { describeWithEtcd } from '../support/etcd-server';
import { freePorts } from '../support/free-ports';
import { Cluster } from './support/cluster';
import { HttpClient } from './support/http-client';
import { Mirror, randomPlan } from './support/mirror';
import { Recorder, type CallLog } from './support/recorder';
import { credentialsOf, ServerProcess } from './support/server-process';
import { runTraffic } from './support/traffic';

const SEED = Number(process.env['STERNPOST_SEED'] ?? Date.now() % 100_000);
/** How many clients keep a copy at once. */
const MIRRORS = 40;
/** How long there is traffic before they begin, and while they do. */
const BEFORE_MS = 500;
const DURING_MS = 3_500;
/** Mostly long enough for a server that drops events to be found out; there are more rounds if not. */
const DURING_BUG_MS = 1_500;
const ROUNDS = 6;

/** Clients with random plans, while others write through all of `https`. What is wrong with their copies. */
async function mirrored(
  https: readonly HttpClient[],
  namespace: string,
  duringMs = DURING_MS,
): Promise<{ readonly problems: readonly string[]; readonly compared: number }> {
  const random = seededRandom(SEED);
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  await https[0]!.send('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
  const log: CallLog = { calls: [], failures: [] };
  const first = await new Recorder('first', https[0]!, path, log).create('e', { [TOKEN_FIELD]: 'first' });
  const stop = new AbortController();
  const working = [...https, ...https, ...https, ...https].map((http, i) =>
    runTraffic(new Recorder(`writer-${i}`, http, path, log), { random, signal: stop.signal, callsPerSecond: 25 }),
  );
  await delay(BEFORE_MS);
  const known = [
    first!.revision,
    ...log.calls.flatMap((call) =>
      call.kind === 'write' && call.outcome.type === 'done' ? (call.outcome.revision ?? []) : [],
    ),
  ];
  const mirrors = Array.from({ length: MIRRORS }, (_, i) => {
    const turned = [...https.slice(i % https.length), ...https.slice(0, i % https.length)];
    return new Mirror(randomPlan(random), turned, path, known[Math.floor(random() * known.length)]!);
  });
  const following = mirrors.map((mirror) => mirror.run(stop.signal));
  await delay(duringMs);
  stop.abort();
  await Promise.all([...working, ...following]);
  return {
    problems: mirrors.flatMap(({ problems }) => problems),
    compared: mirrors.reduce((sum, mirror) => sum + mirror.compared, 0),
  };
}

describeWithEtcd(`copies that clients of two replicas keep by lists and watches (seed ${SEED})`, () => {
  let cluster: Cluster;
  let https: readonly HttpClient[] = [];

  beforeAll(async () => {
    cluster = await Cluster.start({ replicas: 2, lagMs: 20 });
    https = cluster.replicas.map((_, i) => cluster.client(i, 15_000));
  }, 90_000);

  afterAll(async () => {
    for (const http of https) http[Symbol.dispose]();
    await (cluster as Cluster | undefined)?.[Symbol.asyncDispose]();
  });

  it('are what exact lists say, at every bookmark', async () => {
    const { problems, compared } = await mirrored(https, 'mirrored');
    expect(problems).toEqual([]);
    expect(compared).toBeGreaterThanOrEqual(2 * MIRRORS);
  }, 60_000);

  it('are found to be wrong when a replica drops events', async () => {
    await cluster.replicas[1]!.kill();
    await cluster.replicas[1]!.start({ bug: 'its watches drop an event now and then' });
    const problems: string[] = [];
    for (let round = 0; round < ROUNDS && problems.length === 0; round++) {
      problems.push(...(await mirrored(https, `bug-mirrored-${round}`, DURING_BUG_MS)).problems);
    }
    expect(problems.length).toBeGreaterThan(0);
  }, 60_000);
});

describe(`copies that clients of a server with the embedded store keep (seed ${SEED})`, () => {
  it('are what exact lists say, at every bookmark', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sternpost-mirrored-'));
    const [port] = await freePorts(1);
    await using server = new ServerProcess({ dataDir: folder, port: port!, flags: [] });
    await server.start();
    using http = new HttpClient(port!, credentialsOf(folder), 15_000);
    const { problems, compared } = await mirrored([http], 'mirrored');
    expect(problems).toEqual([]);
    expect(compared).toBeGreaterThanOrEqual(2 * MIRRORS);
    await server.kill();
    await rm(folder, { recursive: true });
  }, 60_000);
});
