import { setTimeout as delay } from 'node:timers/promises';
import { TOKEN_FIELD } from '../history/history';
import { seededRandom } from '../history/simulated-run';
import { describeWithEtcd } from '../support/etcd-server';
import { Cluster, Run } from './support/cluster';
import type { Recorder } from './support/recorder';
import { runTraffic } from './support/traffic';

const SEED = Number(process.env['STERNPOST_SEED'] ?? Date.now() % 100_000);
/** Long enough for a bookmark, and for so many calls; but no test waits for ever. */
const RUN_MS = 1_500;
const CALLS = 200;
const LONGEST_RUN_MS = 15_000;
const MAX_RUNS = 4;
/** How long a watcher may be silent about the last event; a bug may keep it from ever coming. */
const PATIENCE_MS = 1_500;

/** See sabotage.js; each with what the checker has to say. */
const BUGS: readonly (readonly [bug: string, problem: RegExp])[] = [
  ['its watches drop an event now and then', /watch .* left out/],
  ['its watches give an event twice now and then', /gave a [A-Z]+ of revision (\d+) after \1/],
  ['its bookmarks run ahead of events', /left out|bookmark/],
  ['it takes what it remembers for the newest state', /not linearizable/],
  ['it takes what it loads at its start for a newer state', /list .*/],
  ['its updates overwrite what others have written meanwhile', /insisted on|left something else behind/],
  ['it forgets a write that it has acknowledged', /is lost/],
  ['its store loses a deletion that a compaction meets', /left out|is not the state/],
];

describeWithEtcd(`the tests of replicas, given one with a bug (seed ${SEED})`, () => {
  let cluster: Cluster;

  beforeAll(async () => {
    // The last one has the bugs, and lags behind.
    cluster = await Cluster.start({ replicas: 2, lagMs: 30 });
  }, 90_000);

  afterAll(async () => {
    await (cluster as Cluster | undefined)?.[Symbol.asyncDispose]();
  });

  /** What the checker says of some traffic through a replica with the bug. */
  const problemsWith = async (bug: string, name: string, seed: number): Promise<string> => {
    const replica = cluster.replicas[1]!;
    const https = cluster.replicas.map((_, i) => cluster.client(i));
    const run = await Run.start(cluster, https[0]!, name);
    const random = seededRandom(seed);
    const stop = new AbortController();
    const working = [...https, ...https, ...https].map((http, i) =>
      runTraffic(run.recorder(`client-${i}`, http), { random, signal: stop.signal, callsPerSecond: 60 }),
    );
    const newObjects = createUntil(stop.signal, run.recorder('sower', https[0]!));
    await replica.kill();
    await replica.start({ bug });
    for (const [i, streamSeconds] of [60, 3, 3].entries()) {
      run.watch({ name: `watcher-${i}`, https: [https[1]!], after: 'state', streamSeconds });
    }
    const [calls, started] = [run.log.calls.length, performance.now()];
    const lasted = (): number => performance.now() - started;
    while (lasted() < RUN_MS || (run.log.calls.length < calls + CALLS && lasted() < LONGEST_RUN_MS)) await delay(100);
    stop.abort();
    await Promise.all([...working, newObjects]);
    await run.recorder('reader', https[1]!).list();
    const problems = await run.problems({ patienceMs: PATIENCE_MS, keep: false });
    for (const http of https) http[Symbol.dispose]();
    return problems.join('\n');
  };

  it.each(BUGS)(
    'notice that %s',
    async (bug, problem) => {
      let problems = '';
      // Some bugs need two clients at one object in the same moment, which may not happen in a run.
      for (let attempt = 0; attempt < MAX_RUNS && !problem.test(problems); attempt++) {
        const number = BUGS.findIndex(([name]) => name === bug);
        problems = await problemsWith(bug, `bug-${number}-${attempt}`, SEED + attempt);
      }
      expect(problems).toMatch(problem);
    },
    120_000,
  );
});

/** Objects that nobody touches again: a replica that has missed one does not learn of it later. */
async function createUntil(signal: AbortSignal, client: Recorder): Promise<void> {
  for (let i = 0; !signal.aborted; i++) {
    await client.create(`once-${i}`, { [TOKEN_FIELD]: `once-${i}` });
    await delay(10);
  }
}
