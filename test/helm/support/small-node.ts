import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startApiServer, type ApiServer } from '../../../src';
import { certificatesCommand } from '../../../src/cli/certificates-command';
import type { ApiClient } from '../../../src/client/api-client';
import type { Rendered } from './helm';

const LOOK_MS = 100;
const NAMESPACE = 'tenants';

/**
 * What a node and the Job controller would do with the chart's pods: a Deployment's server is started in this process with its own
 * arguments and the files of its Secrets, the job of certificates and the pod of `helm test` run for real.
 */
export class SmallNode implements AsyncDisposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'sternpost-node-'));
  readonly #stop = new AbortController();
  readonly #looking: Promise<void>;
  #server: ApiServer | undefined;
  /** What the last test pod printed. */
  testOutput = '';

  constructor(
    private readonly client: ApiClient,
    private readonly kubeconfig: string,
  ) {
    this.#looking = this.#look();
  }

  /** Starts, in place of the one before, what the Deployment says. */
  async runServer(name: string): Promise<ApiServer> {
    await this.#server?.stop();
    const deployment = await this.client.get<Rendered>(`/apis/apps/v1/namespaces/${NAMESPACE}/deployments/${name}`);
    const pod = deployment['spec'].template.spec as Rendered;
    await this.#mount(pod);
    const args = (pod['containers'][0].args as readonly string[]).slice(1);
    const changed: Readonly<Record<string, string>> = {
      'data-dir': join(this.#folder, 'data'),
      'advertise-address': '127.0.0.1',
      'secure-port': '0',
      'healthz-bind-address': '127.0.0.1:0',
      'shutdown-delay-duration': '0s',
    };
    const flags: Record<string, string | string[]> = {};
    for (const arg of args) {
      const [, flag = '', value = ''] = /^--([^=]+)=(.*)$/s.exec(arg) ?? [];
      const text = changed[flag] ?? value.replaceAll('/etc/sternpost', this.#folder);
      // Repeated flags are lists.
      const before = flags[flag];
      flags[flag] = flag === 'service-account-key-file' || flag === 'service-account-issuer' ? [...((before as string[] | undefined) ?? []), text] : text;
    }
    this.#server = await startApiServer({ flags: flags });
    return this.#server;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#looking;
    await this.#server?.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #mount(pod: Rendered): Promise<void> {
    for (const volume of pod['volumes'] as readonly Rendered[]) {
      const name = (volume['secret']?.secretName ?? volume['configMap']?.name) as string | undefined;
      if (name === undefined) continue;
      const resource = volume['secret'] === undefined ? 'configmaps' : 'secrets';
      const { data } = await this.client.get<Rendered>(`/api/v1/namespaces/${NAMESPACE}/${resource}/${name}`);
      const items = (volume['secret'] ?? volume['configMap']).items as readonly { key: string; path: string }[] | undefined;
      const folder = join(this.#folder, volume['name'] as string);
      mkdirSync(folder, { recursive: true });
      for (const { key, path } of items ?? Object.keys(data as object).map((one) => ({ key: one, path: one }))) {
        const value = data[key] as string | undefined;
        if (value === undefined) throw new Error(`${resource} ${name} has no ${key}`);
        writeFileSync(join(folder, path), Buffer.from(value, resource === 'secrets' ? 'base64' : 'utf8'));
      }
    }
  }

  async #look(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      await this.#runJobs();
      await this.#runPods();
      await delay(LOOK_MS, undefined, { signal: this.#stop.signal }).catch(() => undefined);
    }
  }

  async #runJobs(): Promise<void> {
    const { items } = await this.client.get<Rendered>(`/apis/batch/v1/namespaces/${NAMESPACE}/jobs`);
    for (const job of items as readonly Rendered[]) {
      if (job['status']?.succeeded !== undefined) continue;
      const [, ...args] = job['spec'].template.spec.containers[0].args as readonly string[];
      const written = jest.spyOn(process.stdout, 'write').mockReturnValue(true);
      await certificatesCommand([...args, `--kubeconfig=${this.kubeconfig}`]).finally(() => written.mockRestore());
      const time = new Date().toISOString().replace(/\.\d+/, '');
      const condition = { type: 'Complete', status: 'True', lastProbeTime: time, lastTransitionTime: time };
      await this.client.patch(`/apis/batch/v1/namespaces/${NAMESPACE}/jobs/${job['metadata'].name}/status`, 'merge', {
        status: { succeeded: 1, startTime: time, completionTime: time, conditions: [condition] },
      });
    }
  }

  async #runPods(): Promise<void> {
    const { items } = await this.client.get<Rendered>(`/api/v1/namespaces/${NAMESPACE}/pods`);
    for (const pod of items as readonly Rendered[]) {
      if (pod['status'].phase !== 'Pending') continue;
      await this.#mount(pod['spec'] as Rendered);
      const { code, output } = await this.#runScript(pod['spec'].containers[0] as Rendered);
      this.testOutput = output;
      await this.client.patch(`/api/v1/namespaces/${NAMESPACE}/pods/${pod['metadata'].name}/status`, 'merge', {
        status: { phase: code === 0 ? 'Succeeded' : 'Failed' },
      });
    }
  }

  #runScript({ env, command }: Rendered): Promise<{ readonly code: number; readonly output: string }> {
    const set = Object.fromEntries((env as readonly Rendered[]).map(({ name, value }) => [name, String(value).replace('/etc/sternpost', this.#folder)]));
    const script = (command as readonly string[])[1]?.replace('/tests', join(this.#folder, 'tests')) ?? '';
    return new Promise((resolve) => {
      execFile(
        process.execPath,
        [script],
        { env: { ...set, SERVER: this.#server?.url ?? '' }, timeout: 60_000 },
        (error, stdout, stderr) => resolve({ code: error === null ? 0 : 1, output: stdout + stderr }),
      );
    });
  }
}
