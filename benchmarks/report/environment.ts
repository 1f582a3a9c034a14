import { execFileSync } from 'node:child_process';
import * as os from 'node:os';
import { version } from '../../package.json';
import type { BenchmarkOptions } from '../options';

/** What the figures depend on. */
export function describeEnvironment({
  etcd,
  peer,
  rounds,
  seconds,
  objects,
  bytes,
}: BenchmarkOptions): Readonly<Record<string, string>> {
  const [cpu] = os.cpus();
  return {
    date: new Date().toISOString().slice(0, 10),
    machine: `${os.cpus().length} x ${cpu?.model ?? 'unknown'}, ${Math.round(os.totalmem() / 2 ** 30)} GiB`,
    load: `${os.loadavg()[1]?.toFixed(1)} over the last five minutes, the run included`,
    node: process.version,
    sternpost: version,
    store: etcd === undefined ? 'embedded' : versionOf(etcd),
    ...(peer === undefined ? {} : { peer: versionOf(peer) }),
    method: `${rounds} rounds of up to ${seconds} s, ${objects} objects of ${bytes} bytes`,
  };
}

function versionOf(binary: string): string {
  try {
    return execFileSync(binary, ['--version'], { encoding: 'utf8' }).split('\n')[0] ?? binary;
  } catch {
    return binary;
  }
}
