import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { loadAll, dump } from 'js-yaml';
import { helmBinary, type HelmMajor } from './helm-binary';

export const CHART = resolve(__dirname, '../../../helm/sternpost');
/** Of the releases that `helm template` pretends to talk to. */
const TEMPLATE_RELEASE = '1.30.0';

export interface HelmResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export type Values = Readonly<Record<string, unknown>>;

/* eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look into objects of any kind. */
export type Rendered = Record<string, any>;

export const ciFiles: readonly string[] = readdirSync(join(CHART, 'ci'))
  .sort()
  .map((name) => join(CHART, 'ci', name));

/** A Helm with a home of its own. */
export class Helm {
  readonly #folder = mkdtempSync(join(tmpdir(), 'sternpost-helm-home-'));
  readonly #binary: string;
  readonly #kubeconfig: string | undefined;

  constructor(
    readonly major: HelmMajor,
    kubeconfig?: string,
  ) {
    this.#binary = helmBinary(major);
    if (kubeconfig === undefined) return;
    this.#kubeconfig = join(this.#folder, 'kubeconfig');
    writeFileSync(this.#kubeconfig, kubeconfig, { mode: 0o600 });
  }

  run(...argv: readonly string[]): Promise<HelmResult> {
    const env = { PATH: process.env.PATH, HOME: this.#folder, KUBECONFIG: this.#kubeconfig ?? '/dev/null' };
    return new Promise((done) => {
      execFile(this.#binary, argv, { env, timeout: 120_000, maxBuffer: 64 << 20 }, (error, stdout, stderr) =>
        done({ code: error === null ? 0 : typeof error.code === 'number' ? error.code : -1, stdout, stderr }),
      );
    });
  }

  /** A file with values. */
  valuesFile(values: Values): string {
    const file = join(mkdtempSync(join(this.#folder, 'values-')), 'values.yaml');
    writeFileSync(file, dump(values));
    return file;
  }

  async template(values: Values | string = {}): Promise<HelmResult> {
    const file = typeof values === 'string' ? values : this.valuesFile(values);
    return this.run('template', 'api', CHART, '--namespace', 'tenants', '--kube-version', TEMPLATE_RELEASE, '-f', file);
  }

  /** The objects of a chart with these values, or of a file with some. */
  async render(values: Values | string = {}): Promise<readonly Rendered[]> {
    const { code, stdout, stderr } = await this.template(values);
    if (code !== 0) throw new Error(stderr);
    return (loadAll(stdout) as readonly (Rendered | null)[]).filter((object) => object !== null);
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

export function find(objects: readonly Rendered[], kind: string, name: string): Rendered {
  const found = objects.find((object) => object['kind'] === kind && object['metadata'].name === name);
  if (found === undefined) throw new Error(`there is no ${kind} ${name}`);
  return found;
}

export function container(deployment: Rendered): Rendered {
  return deployment['spec'].template.spec.containers[0] as Rendered;
}
