const http = require('node:http');
const { join } = require('node:path');
const { Child, freePort } = require('./child');

/** A quota that a hundred thousand objects with their history stay below. */
const QUOTA_BYTES = 4 * 1024 ** 3;

/** One etcd on free ports of loopback, in a folder of the run. */
async function startEtcd(binary, folder) {
  const [clientPort, peerPort] = [await freePort(), await freePort()];
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
  return { url: client, child, stop: () => child.stop() };
}

function isHealthy(port) {
  return new Promise((resolve, reject) => {
    http
      .get({ host: '127.0.0.1', port, path: '/health' }, (response) => {
        response.resume();
        resolve(response.statusCode === 200);
      })
      .on('error', reject);
  });
}

module.exports = { startEtcd };
