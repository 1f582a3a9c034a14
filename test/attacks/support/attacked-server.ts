import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '../../support/free-ports';
import { Http2Client, type Http2Response } from '../../support/http2-client';
import type { Sent } from '../../support/served-over-http';
import { ServerProcess } from '../../replicas/support/server-process';
import { Attackers, until } from './attackers';

/** Of a server as small as clients may have to put up with. */
const HEAP_MEGABYTES = 256;

/** May do all; may do all with objects, as a user like others; may do nothing. */
export const [ADMIN, USER, NOBODY] = ['admin-token', 'user-token', 'nobody-token'] as const;
const TOKENS = `${ADMIN},admin,1,system:masters\n${USER},user,2,users\n${NOBODY},nobody,3,strangers\n`;

/** What the server says of itself. */
export interface Books {
  readonly heldBytes: number;
  readonly limitBytes: number;
  readonly dropped: number;
  readonly residentBytes: number;
  readonly longestDelayMs: number;
  readonly watches: number;
  readonly descriptors: number;
}

/** The command as a process of its own with a small heap, who attacks it, and an honest client beside them. */
export class AttackedServer {
  private longestDelayMs = 0;

  private constructor(
    private readonly folder: string,
    private readonly server: ServerProcess,
    readonly honest: Http2Client,
    readonly attackers: Attackers,
  ) {}

  static async start(flags: readonly string[] = []): Promise<AttackedServer> {
    const folder = mkdtempSync(join(tmpdir(), 'sternpost-attacked-'));
    const tokens = join(folder, 'tokens.csv');
    writeFileSync(tokens, TOKENS);
    const [port] = (await freePorts(1)) as [number];
    const server = new ServerProcess({
      dataDir: join(folder, 'data'),
      port,
      flags: [`--token-auth-file=${tokens}`, ...flags],
      nodeFlags: [`--max-old-space-size=${HEAP_MEGABYTES}`],
    });
    await server.start();
    const honest = await Http2Client.connect(port, { rejectUnauthorized: false });
    const started = new AttackedServer(folder, server, honest, new Attackers(() => port));
    await started.admit('user');
    return started;
  }

  async stop(): Promise<void> {
    this.attackers.leave();
    this.honest.destroy();
    await this.server.kill();
    rmSync(this.folder, { recursive: true });
  }

  /** By the administrator. */
  ask(method: string, path: string, { headers, ...sent }: Sent = {}): Promise<Http2Response> {
    return this.honest.send(method, path, { ...sent, headers: { authorization: `Bearer ${ADMIN}`, ...headers } });
  }

  async books(): Promise<Books> {
    const text = (await this.ask('GET', '/metrics')).bytes.toString();
    const value = (name: string): number => {
      const lines = text.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'gm'));
      return [...lines].reduce((sum, [, number]) => sum + Number(number), 0);
    };
    // The server tells the longest since it was last asked.
    this.longestDelayMs = Math.max(this.longestDelayMs, 1000 * value('nodejs_eventloop_delay_max_seconds'));
    return {
      heldBytes: value('sternpost_client_memory_bytes'),
      limitBytes: value('sternpost_client_memory_limit_bytes'),
      dropped: value('sternpost_client_memory_dropped_connections_total'),
      residentBytes: value('process_resident_memory_bytes'),
      longestDelayMs: this.longestDelayMs,
      watches: value('apiserver_longrunning_requests'),
      descriptors: value('process_open_fds'),
    };
  }

  /**
   * Whoever attacked leaves, and what they had goes with them: the server holds nothing for anybody, has the descriptors that it
   * had, and serves. Tells what it cost, for who reads the test's output: times and sizes depend on the machine.
   */
  async recover(name: string, before: Books): Promise<void> {
    const during = await this.books();
    this.attackers.leave();
    await until(async () => {
      const { heldBytes, descriptors, watches } = await this.books();
      return heldBytes === 0 && descriptors <= before.descriptors && watches <= before.watches;
    });
    const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(0);
    process.stderr.write(
      `${name}: ${megabytes(before.residentBytes)} MB, ${megabytes(during.residentBytes)} MB while attacked; ` +
        `the loop's longest delay ${during.longestDelayMs.toFixed(0)} ms; ${during.dropped - before.dropped} connections dropped\n`,
    );
    this.longestDelayMs = 0;
  }

  private async admit(user: string): Promise<void> {
    const body = {
      metadata: { name: user },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ kind: 'User', name: user, apiGroup: 'rbac.authorization.k8s.io' }],
    };
    const path = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings';
    const { status } = await this.ask('POST', path, { body });
    if (status !== 201) throw new Error(`no rights for ${user}: ${status}`);
  }
}
