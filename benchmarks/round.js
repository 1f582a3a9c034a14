const firstWrites = require('./scenarios/first-writes');
const scale = require('./scenarios/scale');
const { setUp, setUpEmpty } = require('./scenarios/setup');

/** Measured on one running server, in this order. */
const SHARED = [
  ['read', require('./scenarios/read')],
  ['list', require('./scenarios/list')],
  ['write', require('./scenarios/write').scenarios],
  ['webhook', require('./scenarios/webhook')],
  ['watch', require('./scenarios/watch')],
  ['overload', require('./scenarios/overload')],
];

const REST_MS = 3000;
const DATA = 'data';

/**
 * One server's turn in a round: started anew (which is measured), set up, measured, stopped. Servers that share an etcd
 * find there what the one before has made; only one of them runs at a time.
 */
async function measureServer(server, { options, loads: [load, listLoad], results, round, closers }) {
  const record = (family, scenario, result) =>
    results.add({ family, server: server.name, round, better: 'higher', ...scenario, ...result });

  /** Starts the server, and stops it after `work` or with the run. */
  const using = async (dataDirectory, work) => {
    const running = await server.start(dataDirectory);
    closers.push(running.stop);
    try {
      await work(running, contextOf(running));
    } finally {
      await running.stop();
    }
  };
  const contextOf = (running) => ({ load, listLoad, server: running, options, measure: measured(load, running) });

  const runAll = async (family, scenarios, context) => {
    for (const { check, run, ...scenario } of scenarios) {
      if (!options.wants(family, scenario.id)) continue;
      await check?.(context);
      const result = await run(context);
      record(family, scenario, { value: result.perSecond, ...result });
      process.stderr.write(`  ${scenario.title}: ${(result.value ?? result.perSecond).toFixed(1)} ${scenario.unit}\n`);
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
  if (scale.scenarios.some(({ id }) => options.wants('scale', id))) {
    await using('scale', async (_running, context) => {
      await setUp(context);
      await scale.fill(context);
    });
    await using('scale', (_running, context) => runAll('scale', scale.scenarios, context));
  }
}

/** A new data directory in each round; on a shared etcd only the first start of all is really one. */
async function measureStart(using, record, round) {
  const start = (id, title) => ({ id, title, unit: 'ms', better: 'lower' });
  const folder = `start-${round}`;
  await using(folder, async (running) => {
    record('start', start('start-new', 'start to ready, new data'), { value: running.startMs });
  });
  await using(folder, async (running) => {
    record('start', start('start-existing', 'start to ready, existing data'), { value: running.startMs });
    await new Promise((resolve) => setTimeout(resolve, REST_MS));
    const rest = { id: 'rss-rest', title: 'RSS at rest', unit: 'MiB', better: 'lower' };
    record('start', rest, { value: running.child.rssMiB() });
  });
}

/** Each on a process of its own; what they write does not outlive the round. */
async function measureFirstWrites(using, runAll, round) {
  const folder = `first-${round}`;
  await using(folder, (_running, context) => setUpEmpty(context));
  for (const scenario of firstWrites.scenarios) {
    await using(folder, (_running, context) => runAll('first', [scenario], context));
  }
}

/** A closed loop, with the processor time that the server spent on each request. */
function measured(load, { child }) {
  return async (job) => {
    const before = child.cpuSeconds();
    const result = await load.run(job);
    return { ...result, cpuMicros: ((child.cpuSeconds() - before) * 1e6) / result.used };
  };
}

module.exports = { measureServer };
