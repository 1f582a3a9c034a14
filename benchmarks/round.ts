import type { LoadClient } from './load/load-client';
import type { BenchmarkOptions } from './options';
import type { Results } from './report/results';
import * as audit from './scenarios/audit';
import * as firstWrites from './scenarios/first-writes';
import * as list from './scenarios/list';
import * as overload from './scenarios/overload';
import * as read from './scenarios/read';
import * as scale from './scenarios/scale';
import type { Context, Measure, Measured, Scenario, ScenarioTitle } from './scenarios/scenario';
import { setUp, setUpEmpty } from './scenarios/setup';
import * as watch from './scenarios/watch';
import * as webhook from './scenarios/webhook';
import * as write from './scenarios/write';
import type { RunningServer, ServerUnderTest } from './servers/api-servers';

/** Measured on one running server, in this order. */
const SHARED: readonly (readonly [family: string, scenarios: readonly Scenario[]])[] = [
  ['read', read.scenarios],
  ['list', list.scenarios],
  ['write', write.scenarios],
  ['webhook', webhook.scenarios],
  ['watch', watch.scenarios],
  ['overload', overload.scenarios],
];

interface Round {
  readonly options: BenchmarkOptions;
  /** Of the run. */
  readonly folder: string;
  readonly loads: readonly [load: LoadClient, listLoad: LoadClient];
  readonly results: Results;
  readonly round: number;
  readonly closers: (() => Promise<void> | void)[];
}

type Using = (
  dataDirectory: string,
  work: (running: RunningServer, context: Context) => Promise<void> | void,
  flags?: readonly string[],
) => Promise<void>;
type Note = (family: string, scenario: ScenarioTitle, measured: Measured & { readonly value: number }) => void;
type RunAll = (family: string, scenarios: readonly Scenario[], context: Context) => Promise<void>;

const REST_MS = 3000;
const DATA = 'data';

/**
 * One server's turn in a round: started anew (which is measured), set up, measured, stopped. Servers that share an etcd
 * find there what the one before has made; only one of them runs at a time.
 */
export async function measureServer(
  server: ServerUnderTest,
  { options, folder, loads: [load, listLoad], results, round, closers }: Round,
): Promise<void> {
  const record: Note = (family, scenario, result) =>
    results.add({ family, server: server.name, round, better: 'higher', ...scenario, ...result });

  /** Starts the server, and stops it after `work` or with the run. */
  const using: Using = async (dataDirectory, work, flags) => {
    const running = await server.start(dataDirectory, flags);
    closers.push(() => running.stop());
    try {
      await work(running, contextOf(running));
    } finally {
      await running.stop();
    }
  };
  const contextOf = (running: RunningServer): Context => ({
    load,
    listLoad,
    server: running,
    options,
    measure: measured(load, running),
  });

  const runAll: RunAll = async (family, scenarios, context) => {
    for (const { check, run, ...scenario } of scenarios) {
      if (!options.wants(family, scenario.id)) continue;
      await check?.(context);
      const result = await run(context);
      const value = result.value ?? result.perSecond ?? NaN;
      record(family, scenario, { ...result, value });
      process.stderr.write(`  ${scenario.title}: ${value.toFixed(1)} ${scenario.unit}\n`);
    }
  };

  if (options.wants('start')) await measureStart(using, record, round);
  if (options.wants('first')) await measureFirstWrites(using, runAll, round);
  const wanted = SHARED.filter(([family, scenarios]) => scenarios.some(({ id }) => options.wants(family, id)));
  if (wanted.length > 0) {
    await using(DATA, async (_running, context) => {
      await setUp(context);
      for (const [family, scenarios] of wanted) await runAll(family, scenarios, context);
    });
  }
  for (const { level, scenario } of audit.scenarios) {
    if (!options.wants('audit', scenario.id)) continue;
    const measureAudited = async (_running: RunningServer, context: Context): Promise<void> => {
      await setUp(context);
      await runAll('audit', [scenario], context);
    };
    await using('audit', measureAudited, audit.auditFlags(folder, level));
  }
  if (scale.scenarios.some(({ id }) => options.wants('scale', id))) {
    await using('scale', async (_running, context) => {
      await setUp(context);
      await scale.fillScale(context);
    });
    await using('scale', (_running, context) => runAll('scale', scale.scenarios, context));
  }
}

/** A new data directory in each round; on a shared etcd only the first start of all is really one. */
async function measureStart(using: Using, record: Note, round: number): Promise<void> {
  const start = (id: string, title: string): ScenarioTitle => ({ id, title, unit: 'ms', better: 'lower' });
  const folder = `start-${round}`;
  await using(folder, async (running) => {
    record('start', start('start-new', 'start to ready, new data'), { value: running.startMs });
  });
  await using(folder, async (running) => {
    record('start', start('start-existing', 'start to ready, existing data'), { value: running.startMs });
    await new Promise((resolve) => setTimeout(resolve, REST_MS));
    const rest = { id: 'rss-rest', title: 'RSS at rest', unit: 'MiB', better: 'lower' } as const;
    record('start', rest, { value: running.child.rssMiB() });
  });
}

/** Each on a process of its own; what they write does not outlive the round. */
async function measureFirstWrites(using: Using, runAll: RunAll, round: number): Promise<void> {
  const folder = `first-${round}`;
  await using(folder, (_running, context) => setUpEmpty(context));
  for (const scenario of firstWrites.scenarios) {
    await using(folder, (_running, context) => runAll('first', [scenario], context));
  }
}

/** A closed loop, with the processor time that the server spent on each request. */
function measured(load: LoadClient, { child }: RunningServer): Measure {
  return async (job) => {
    const before = child.cpuSeconds();
    const result = await load.run(job);
    return { ...result, cpuMicros: ((child.cpuSeconds() - before) * 1e6) / result.used };
  };
}
