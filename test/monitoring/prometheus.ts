import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePorts } from '../support/free-ports';

const BINARY = process.env['STERNPOST_PROMETHEUS'] ?? '/usr/bin/prometheus';
const PROMTOOL = join(BINARY, '..', 'promtool');
const START_TIMEOUT_MS = 20_000;

/** `.ci/run` installs Debian's; STERNPOST_PROMETHEUS names another one, with its promtool beside it. */
export const hasPrometheus = existsSync(BINARY) && existsSync(PROMTOOL);

export interface ToolResult {
  readonly code: number;
  readonly output: string;
}

export function promtool(argv: readonly string[], input = ''): Promise<ToolResult> {
  return new Promise((resolve) => {
    const child = execFile(PROMTOOL, argv, { timeout: 60_000 }, (error, stdout, stderr) =>
      resolve({
        code: typeof error?.code === 'number' ? error.code : error === null ? 0 : -1,
        output: stdout + stderr,
      }),
    );
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
  });
}

export interface ScrapeTarget {
  /** Of the server, with https. */
  readonly url: string;
  readonly token: string;
  readonly certificateAuthority: string;
}

/** A Prometheus of our own that scrapes one server every second, with its data in a temporary folder. */
export class Prometheus implements AsyncDisposable {
  private constructor(
    private readonly port: number,
    private readonly child: ChildProcess,
    private readonly folder: string,
  ) {}

  static async start({ url, token, certificateAuthority }: ScrapeTarget): Promise<Prometheus> {
    const [port = 0] = await freePorts(1);
    const folder = mkdtempSync(join(tmpdir(), 'sternpost-prometheus-'));
    const file = (name: string, text: string): string => {
      writeFileSync(join(folder, name), text, { mode: 0o600 });
      return join(folder, name);
    };
    const scrape = (path: string): object => ({
      job_name: path,
      metrics_path: path,
      scheme: 'https',
      authorization: { credentials_file: file('token', token) },
      tls_config: { ca_file: file('ca.crt', certificateAuthority) },
      static_configs: [{ targets: [new URL(url).host] }],
      relabel_configs: [
        { target_label: 'job', replacement: 'apiserver' },
        // Otherwise one `up` would tell of both.
        { target_label: 'metrics_path', replacement: path },
      ],
    });
    const configuration = file(
      'prometheus.yml',
      JSON.stringify({
        global: { scrape_interval: '1s', scrape_timeout: '1s' },
        scrape_configs: [scrape('/metrics'), scrape('/metrics/slis')],
      }),
    );
    const flags = [
      `--config.file=${configuration}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ];
    const prometheus = new Prometheus(port, spawn(BINARY, flags, { stdio: 'ignore' }), folder);
    const deadline = Date.now() + START_TIMEOUT_MS;
    while (!(await prometheus.isReady())) {
      if (Date.now() > deadline || prometheus.child.exitCode !== null) throw new Error('prometheus does not start');
      await delay(100);
    }
    return prometheus;
  }

  /** How many series the query gives now. */
  async series(query: string): Promise<number> {
    const response = await fetch(`http://127.0.0.1:${this.port}/api/v1/query?query=${encodeURIComponent(query)}`);
    const body = (await response.json()) as { status: string; error?: string; data?: { result: readonly unknown[] } };
    if (body.status !== 'success') throw new Error(`${query}: ${body.error ?? ''}`);
    return body.data?.result.length ?? 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.child.exitCode === null) {
      const exited = once(this.child, 'exit');
      this.child.kill('SIGKILL');
      await exited;
    }
    rmSync(this.folder, { recursive: true, force: true });
  }

  private async isReady(): Promise<boolean> {
    try {
      return (await fetch(`http://127.0.0.1:${this.port}/-/ready`)).ok;
    } catch {
      return false;
    }
  }
}
