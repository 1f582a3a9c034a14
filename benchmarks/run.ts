#!/usr/bin/env node
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LoadClient } from './load/load-client';
import { HELP, parseOptions, type BenchmarkOptions } from './options';
import { describeEnvironment } from './report/environment';
import { plot } from './report/plot';
import { Results, type Row } from './report/results';
import { printTable } from './report/table';
import { measureServer } from './round';
import { kubeApiserver, sternpost, type Run } from './servers/api-servers';
import { writeCredentials } from './servers/credentials';
import { startEtcd } from './servers/etcd';

/** Everything that a run starts ends with it, in reverse order. */
async function main(): Promise<void> {
  const options = parseOptions(process.argv.slice(2));
  if (options.help) return void process.stdout.write(HELP);
  if (!existsSync(options.main)) throw new Error(`${options.main} is not there; run "npm run build" first`);

  const folder = mkdtempSync(join(tmpdir(), 'sternpost-bench-'));
  const closers: (() => Promise<void> | void)[] = [];
  const results = new Results();
  try {
    const etcd = options.etcd === undefined ? undefined : await startEtcd(options.etcd, folder);
    if (etcd !== undefined) closers.push(() => etcd.stop());
    const run: Run = { folder, credentials: writeCredentials(folder), etcd };
    const servers = [
      sternpost(options, run),
      ...(options.etcd3
        ? [sternpost(options, run, { name: 'sternpost, etcd3', flags: ['--etcd-client', 'etcd3'] })]
        : []),
      ...(options.peer === undefined ? [] : [kubeApiserver(options.peer, run)]),
    ];
    const loads = [new LoadClient(), new LoadClient()] as const;
    closers.push(() => loads.forEach((load) => load.close()));
    for (let round = 1; round <= options.rounds; round++) {
      for (const server of servers) {
        process.stderr.write(`round ${round} of ${options.rounds}: ${server.name}\n`);
        await measureServer(server, { options, folder, loads, results, round, closers });
      }
    }
  } finally {
    for (const close of closers.reverse()) await close();
    if (options.keep) process.stderr.write(`logs and data: ${folder}\n`);
    else rmSync(folder, { recursive: true, force: true });
  }
  report(results.summary(), options);
}

function report(rows: readonly Row[], options: BenchmarkOptions): void {
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

main().catch((error: Error) => {
  process.stderr.write(`${error.stack ?? error.message}\n`);
  process.exitCode = 1;
});
