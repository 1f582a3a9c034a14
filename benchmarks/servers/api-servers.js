const https = require('node:https');
const { mkdirSync } = require('node:fs');
const { join } = require('node:path');
const { Child, freePort } = require('./child');
const { ADMIN_TOKEN, NODE_TOKEN, USER_TOKEN } = require('./credentials');

const READY_MS = 120_000;

/**
 * The servers under test. Each is started with the same flags as far as they know them: TLS on loopback, a token file,
 * Node and RBAC authorization. `start()` resolves when /readyz says ok, with the milliseconds that took.
 */
function sternpost({ main, nodeArgs }, run, { name = 'sternpost', flags = [] } = {}) {
  return {
    name,
    start: (dataDirectory) =>
      start(name, run, (port) => {
        const dataDir = join(run.folder, dataDirectory);
        mkdirSync(dataDir, { recursive: true });
        return [
          process.execPath,
          [
            ...nodeArgs,
            main,
            'apiserver',
            '--data-dir',
            dataDir,
            ...commonFlags(port, run),
            ...etcdFlags(run),
            ...flags,
          ],
        ];
      }),
  };
}

function kubeApiserver(binary, run) {
  return {
    name: 'kube-apiserver',
    start: () =>
      start('kube-apiserver', run, (port) => [
        binary,
        [
          ...commonFlags(port, run),
          ...etcdFlags(run),
          ...['--cert-dir', join(run.folder, 'kube-apiserver-certs')],
          ...['--service-account-issuer', 'https://kubernetes.default.svc'],
          ...['--service-account-key-file', run.credentials.serviceAccountKeyFile],
          ...['--service-account-signing-key-file', run.credentials.serviceAccountKeyFile],
        ],
      ]),
  };
}

function commonFlags(port, { credentials }) {
  return [
    ...['--secure-port', String(port), '--bind-address', '127.0.0.1'],
    ...['--token-auth-file', credentials.tokenFile, '--authorization-mode', 'Node,RBAC'],
    ...['--service-cluster-ip-range', '10.0.0.0/24'],
  ];
}

function etcdFlags({ etcd }) {
  return etcd === undefined ? [] : ['--etcd-servers', etcd.url];
}

async function start(name, run, commandOf) {
  const port = await freePort();
  const [command, args] = commandOf(port);
  const started = performance.now();
  const child = Child.start(command, args, join(run.folder, `${name}.log`));
  try {
    await child.until(() => isReady(port), READY_MS);
  } catch (error) {
    await child.stop();
    throw error;
  }
  const target = { host: '127.0.0.1', port };
  return {
    startMs: performance.now() - started,
    child,
    /** Whose requests are measured. */
    target: { ...target, token: USER_TOKEN },
    admin: { ...target, token: ADMIN_TOKEN },
    node: { ...target, token: NODE_TOKEN },
    stop: () => child.stop(),
  };
}

function isReady(port) {
  const headers = { Authorization: `Bearer ${ADMIN_TOKEN}` };
  return new Promise((resolve, reject) => {
    https
      .get(
        { host: '127.0.0.1', port, path: '/readyz', headers, rejectUnauthorized: false, agent: false },
        (response) => {
          response.resume();
          resolve(response.statusCode === 200);
        },
      )
      .on('error', reject);
  });
}

module.exports = { kubeApiserver, sternpost };
