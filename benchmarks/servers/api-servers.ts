import * as https from 'node:https';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { freePorts } from '../../test/support/free-ports';
import type { Target } from '../load/job';
import { Child } from './child';
import { ADMIN_TOKEN, NODE_TOKEN, USER_TOKEN, type Credentials } from './credentials';
import type { RunningEtcd } from './etcd';
import { saysOk } from './says-ok';

const READY_MS = 120_000;

/** What all servers of a run share. */
export interface Run {
  readonly folder: string;
  readonly credentials: Credentials;
  readonly etcd?: RunningEtcd | undefined;
}

export interface RunningServer {
  readonly startMs: number;
  readonly child: Child;
  /** Whose requests are measured. */
  readonly target: Target;
  readonly admin: Target;
  readonly node: Target;
  stop(): Promise<void>;
}

export interface ServerUnderTest {
  readonly name: string;
  /** `more`: flags beside those that all servers have. */
  start(dataDirectory: string, more?: readonly string[]): Promise<RunningServer>;
}

interface Build {
  readonly main: string;
  readonly nodeArgs: readonly string[];
}

/**
 * The servers under test. Each is started with the same flags as far as they know them: TLS on loopback, a token file,
 * Node and RBAC authorization. `start()` resolves when /readyz says ok, with the milliseconds that took.
 */
export function sternpost(
  { main, nodeArgs }: Build,
  run: Run,
  { name = 'sternpost', flags = [] }: { readonly name?: string; readonly flags?: readonly string[] } = {},
): ServerUnderTest {
  return {
    name,
    start: (dataDirectory, more = []) =>
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
            ...more,
          ],
        ];
      }),
  };
}

export function kubeApiserver(binary: string, run: Run): ServerUnderTest {
  return {
    name: 'kube-apiserver',
    start: (_dataDirectory, more = []) =>
      start('kube-apiserver', run, (port) => [
        binary,
        [
          ...commonFlags(port, run),
          ...etcdFlags(run),
          ...['--cert-dir', join(run.folder, 'kube-apiserver-certs')],
          ...['--service-account-issuer', 'https://kubernetes.default.svc'],
          ...['--service-account-key-file', run.credentials.serviceAccountKeyFile],
          ...['--service-account-signing-key-file', run.credentials.serviceAccountKeyFile],
          ...more,
        ],
      ]),
  };
}

function commonFlags(port: number, { credentials }: Run): readonly string[] {
  return [
    ...['--secure-port', String(port), '--bind-address', '127.0.0.1'],
    ...['--token-auth-file', credentials.tokenFile, '--authorization-mode', 'Node,RBAC'],
    ...['--service-cluster-ip-range', '10.0.0.0/24'],
  ];
}

function etcdFlags({ etcd }: Run): readonly string[] {
  return etcd === undefined ? [] : ['--etcd-servers', etcd.url];
}

async function start(
  name: string,
  run: Run,
  commandOf: (port: number) => readonly [command: string, args: readonly string[]],
): Promise<RunningServer> {
  const [port = 0] = await freePorts(1);
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
    target: { ...target, token: USER_TOKEN },
    admin: { ...target, token: ADMIN_TOKEN },
    node: { ...target, token: NODE_TOKEN },
    stop: () => child.stop(),
  };
}

function isReady(port: number): Promise<boolean> {
  const headers = { Authorization: `Bearer ${ADMIN_TOKEN}` };
  return saysOk((onResponse) =>
    https.get(
      { host: '127.0.0.1', port, path: '/readyz', headers, rejectUnauthorized: false, agent: false },
      onResponse,
    ),
  );
}
