import { execFile, type ExecFileException } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface KubectlResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface KubectlOptions {
  /** What it reads from its standard input. */
  readonly input?: string;
  /** Another kubeconfig's path. */
  readonly as?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** The kubectl that is on the machine, with a home of its own in a temporary folder. */
export class Kubectl {
  readonly folder = mkdtempSync(join(tmpdir(), 'sternpost-kubectl-'));
  readonly kubeconfig = join(this.folder, 'kubeconfig');

  constructor(kubeconfig: string) {
    writeFileSync(this.kubeconfig, kubeconfig);
  }

  run(
    argv: readonly string[],
    { input = '', as = this.kubeconfig, env = {} }: KubectlOptions = {},
  ): Promise<KubectlResult> {
    return new Promise((resolve) => {
      const child = execFile(
        'kubectl',
        ['--cache-dir', join(this.folder, 'cache'), ...argv],
        { env: { PATH: process.env.PATH, HOME: this.folder, KUBECONFIG: as, ...env }, timeout: 60_000 },
        (error: ExecFileException | null, stdout, stderr) =>
          resolve({ code: error === null ? 0 : typeof error.code === 'number' ? error.code : -1, stdout, stderr }),
      );
      child.stdin?.end(input);
    });
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
