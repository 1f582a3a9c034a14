import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkHistory } from '../../history/check-history';
import type { History } from '../../history/history';
import { openEtcdStore, type EtcdStore } from '../../../src/storage/etcd/etcd-store';
import { startEtcdCluster } from '../../support/etcd-cluster';
import { EtcdServer } from '../../support/etcd-server';
import { freePorts } from '../../support/free-ports';
import { HttpClient } from './http-client';
import { FaultyLink } from '../../support/faulty-link';
import { Parts } from './parts';
import { patiently } from './patiently';
import { Recorder, type CallLog } from './recorder';
import { credentialsOf, ServerProcess, type Credentials } from './server-process';
import { TcpBalancer } from './tcp-balancer';
import { TruthRecorder } from './truth';
import { Watcher, type WatcherOptions } from './watcher';

export interface ClusterOptions {
  readonly replicas: number;
  readonly flags?: readonly string[];
  /** Of the last replica alone. */
  readonly lastFlags?: readonly string[];
  readonly etcdFlags?: readonly string[];
  /** How many etcd servers; one by default. */
  readonly etcdMembers?: number;
  /** How long what etcd says takes to the last replica. */
  readonly lagMs?: number;
  /** Whether the balancer asks /readyz. */
  readonly probes?: boolean;
  /** Whether each replica has its health checks on a port of their own, too. */
  readonly healthPorts?: boolean;
  /** The file of the command of another build, which replicas run until they are upgraded. */
  readonly command?: string | undefined;
}

/** An etcd, replicas on it, and a balancer before them: real processes, all of this test. */
export class Cluster implements AsyncDisposable {
  private constructor(
    private readonly folder: string,
    readonly etcdMembers: readonly EtcdServer[],
    /** Between etcd and the last replica. */
    readonly link: FaultyLink,
    readonly store: EtcdStore,
    readonly replicas: readonly ServerProcess[],
    readonly balancer: TcpBalancer,
    /** Of the replicas; empty unless asked for. */
    readonly healthPorts: readonly number[],
    private readonly parts: Parts,
  ) {}

  static async start({
    replicas: count,
    flags = [],
    lastFlags = [],
    etcdFlags = [],
    etcdMembers: memberCount = 1,
    lagMs = 0,
    probes = false,
    healthPorts: withHealth = false,
    command,
  }: ClusterOptions): Promise<Cluster> {
    const folder = await mkdtemp(join(tmpdir(), 'sternpost-replicas-'));
    await using started = new Parts();
    started.defer(() => rm(folder, { recursive: true, force: true }));
    const members =
      memberCount > 1 ? await startEtcdCluster(memberCount, etcdFlags) : [await EtcdServer.start({ flags: etcdFlags })];
    for (const member of members) started.use(member);
    const endpoints = members.map(({ endpoint }) => endpoint);
    const store = await openEtcdStore({ endpoints });
    started.defer(() => store.close());
    const link = started.use(await FaultyLink.start(Number(new URL(endpoints[0]!).port), lagMs));
    const ports = await freePorts(count);
    const healthPorts = withHealth ? await freePorts(count) : [];
    const replicas = ports.map((port, i) => {
      const own = [
        `--etcd-servers=${lagMs > 0 && i === count - 1 ? link.endpoint : endpoints.join(',')}`,
        `--advertise-address=192.0.2.${i + 1}`,
        ...healthPorts.slice(i, i + 1).map((health) => `--healthz-bind-address=127.0.0.1:${health}`),
      ];
      return started.use(
        new ServerProcess({
          dataDir: folder,
          port,
          flags: [...own, ...flags, ...(i === count - 1 ? lastFlags : [])],
          command,
        }),
      );
    });
    // The first one makes the certificates that all share; the rest finds an empty cluster nearly at once.
    replicas[0]!.launch();
    await replicas[0]!.untilServing();
    for (const replica of replicas.slice(1)) replica.launch();
    await Promise.all(replicas.map((replica) => replica.untilReady()));
    const backends = replicas.map((replica) => ({ port: replica.port, isReady: () => replica.isReady() }));
    const balancer = started.use(await TcpBalancer.start(backends, { probes }));
    return new Cluster(folder, members, link, store, replicas, balancer, healthPorts, started.move());
  }

  /** The etcd, when it is one server. */
  get etcd(): EtcdServer {
    return this.etcdMembers[0]!;
  }

  /** A client with connections of its own: to one replica, or to all of them through the balancer. */
  client(replica?: number, timeoutMs?: number): HttpClient {
    const port = replica === undefined ? this.balancer.port : this.replicas[replica]!.port;
    return new HttpClient(port, credentialsOf(this.folder), timeoutMs);
  }

  /** Of an administrator, for clients of another kind. */
  credentials(): Credentials {
    return credentialsOf(this.folder);
  }

  /** Is done at the end, before the cluster is taken down. */
  defer(end: () => Promise<unknown>): void {
    this.parts.defer(end);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.parts[Symbol.asyncDispose]();
  }
}

/** One namespace of ConfigMaps, and everything that clients see of it. */
export class Run {
  readonly log: CallLog = { calls: [], failures: [] };
  readonly path: string;
  readonly #watchers: Watcher[] = [];

  private constructor(
    private readonly namespace: string,
    private readonly truth: TruthRecorder,
  ) {
    this.path = `/api/v1/namespaces/${namespace}/configmaps`;
  }

  /** Creates the namespace through `http`. */
  static async start(cluster: Cluster, http: HttpClient, namespace: string): Promise<Run> {
    const { store } = cluster;
    const { status, body } = await http.send('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
    if (status !== 201) throw new Error(`${status} for the namespace: ${JSON.stringify(body)}`);
    const after = await patiently(() => store.currentRevision());
    const truth = new TruthRecorder(store, `/registry/configmaps/${namespace}/`, after);
    const run = new Run(namespace, truth);
    // A test that fails leaves its watchers behind.
    cluster.defer(async () => Promise.all([...run.#watchers.map((watcher) => watcher.stop()), truth.stop()]));
    return run;
  }

  recorder(name: string, http: Pick<HttpClient, 'send'>): Recorder {
    return new Recorder(name, http, this.path, this.log);
  }

  watch(options: Omit<WatcherOptions, 'path'>): Watcher {
    const watcher = new Watcher({ ...options, path: this.path });
    this.#watchers.push(watcher);
    return watcher;
  }

  /**
   * Waits until the watchers have heard of everything, for so long at most, and gives what is wrong with what was seen;
   * keeps the history in a file when something is.
   */
  async problems({ patienceMs = 15_000, keep = true } = {}): Promise<readonly string[]> {
    const { events, last } = await this.truth.finish();
    const waits = this.#watchers.filter((watcher) => watcher.refusals.every(({ code }) => code !== 410));
    await Promise.all(waits.map((watcher) => watcher.until(last, patienceMs)));
    const sessions = await Promise.all(
      this.#watchers.map((watcher) => watcher.stop(waits.includes(watcher) ? last : undefined)),
    );
    const history: History = { truth: events, calls: this.log.calls, sessions };
    const problems = checkHistory(history);
    if (problems.length === 0 || !keep) return problems;
    const file = join(tmpdir(), `sternpost-history-${this.namespace}-${process.pid}.json`);
    const maps = (_: string, value: unknown): unknown => (value instanceof Map ? [...value] : value);
    await writeFile(file, JSON.stringify(history, maps, 1));
    return [...problems.slice(0, 20), `the history is in ${file}`];
  }
}
