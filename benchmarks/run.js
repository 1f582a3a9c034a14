#!/usr/bin/env node
const { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');
const { LoadClient } = require('./load/load-client');
const { HELP, parseOptions } = require('./options');
const { describeEnvironment } = require('./report/environment');
const { plot } = require('./report/plot');
const { Results } = require('./report/results');
const { printTable } = require('./report/table');
const { measureServer } = require('./round');
const { kubeApiserver, sternpost } = require('./servers/api-servers');
const { writeCredentials } = require('./servers/credentials');
const { startEtcd } = require('./servers/etcd');

/** Everything that a run starts ends with it, in reverse order. */
async function main() {
  const options = parseOptions(process.argv.slice(2));
  if (options.help) return void process.stdout.write(HELP);
  if (!existsSync(options.main)) throw new Error(`${options.main} is not there; run "npm run build" first`);

  const folder = mkdtempSync(join(tmpdir(), 'sternpost-bench-'));
  const closers = [];
  const results = new Results();
  try {
    const run = { folder, credentials: writeCredentials(folder), etcd: undefined };
    if (options.etcd !== undefined) {
      run.etcd = await startEtcd(options.etcd, folder);
      closers.push(run.etcd.stop);
    }
    const servers = [
      sternpost(options, run),
      ...(options.etcd3
        ? [sternpost(options, run, { name: 'sternpost, etcd3', flags: ['--etcd-client', 'etcd3'] })]
        : []),
      ...(options.peer === undefined ? [] : [kubeApiserver(options.peer, run)]),
    ];
    const loads = [new LoadClient(), new LoadClient()];
    closers.push(async () => loads.forEach((load) => load.close()));
    for (let round = 1; round <= options.rounds; round++) {
      for (const server of servers) {
        process.stderr.write(`round ${round} of ${options.rounds}: ${server.name}\n`);
        await measureServer(server, { options, loads, results, round, closers });
      }
    }
  } finally {
    for (const close of closers.reverse()) await close();
    if (options.keep) process.stderr.write(`logs and data: ${folder}\n`);
    else rmSync(folder, { recursive: true, force: true });
  }
  report(results.summary(), options);
}

function report(rows, options) {
  const environment = describeEnvironment(options);
  mkdirSync(options.output, { recursive: true });
  writeFileSync(join(options.output, 'results.json'), `${JSON.stringify({ environment, rows }, null, 2)}\n`);
  writeFileSync(join(options.output, 'results.svg'), plot(rows, environment));
  process.stdout.write(printTable(rows));
  process.stdout.write(
    `\n${Object.entries(environment)
      .map(([name, value]) => `${name}: ${value}`)
      .join('\n')}\n`,
  );
  process.stdout.write(`written: ${options.output}/results.json, results.svg\n`);
}

main().catch((error) => {
  process.stderr.write(`${error.stack}\n`);
  process.exitCode = 1;
});
