import * as http from 'node:http';
import { join } from 'node:path';
import { freePorts } from '../../test/support/free-ports';
import { Child } from './child';
import { saysOk } from './says-ok';

/** A quota that a hundred thousand objects with their history stay below. */
const QUOTA_BYTES = 4 * 1024 ** 3;

export interface RunningEtcd {
  readonly url: string;
  stop(): Promise<void>;
}

/** One etcd on free ports of loopback, in a folder of the run. */
export async function startEtcd(binary: string, folder: string): Promise<RunningEtcd> {
  const [clientPort = 0, peerPort = 0] = await freePorts(2);
  const client = `http://127.0.0.1:${clientPort}`;
  const peer = `http://127.0.0.1:${peerPort}`;
  const child = Child.start(
    binary,
    [
      ...['--name', 'bench', '--data-dir', join(folder, 'etcd')],
      ...['--listen-client-urls', client, '--advertise-client-urls', client],
      ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer, '--initial-cluster', `bench=${peer}`],
      ...['--quota-backend-bytes', String(QUOTA_BYTES), '--logger', 'zap', '--log-level', 'warn'],
    ],
    join(folder, 'etcd.log'),
    { ETCD_UNSUPPORTED_ARCH: process.arch },
  );
  await child.until(() => isHealthy(clientPort), 20_000);
  return { url: client, stop: () => child.stop() };
}

function isHealthy(port: number): Promise<boolean> {
  return saysOk((onResponse) => http.get({ host: '127.0.0.1', port, path: '/health' }, onResponse));
}
