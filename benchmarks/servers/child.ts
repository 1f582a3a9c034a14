import { spawn, type ChildProcess } from 'node:child_process';
import { openSync, readFileSync } from 'node:fs';

const STOP_MS = 15_000;

/** A process of this run: its output in a file, ended by its own id. */
export class Child {
  readonly ended: Promise<void>;
  private hasEnded = false;

  static start(
    command: string,
    args: readonly string[],
    logFile: string,
    env: Readonly<Record<string, string>> = {},
  ): Child {
    const log = openSync(logFile, 'a');
    return new Child(spawn(command, args, { stdio: ['ignore', log, log], env: { ...process.env, ...env } }), logFile);
  }

  private constructor(
    readonly process: ChildProcess,
    readonly logFile: string,
  ) {
    this.ended = new Promise((resolve) => {
      process.once('exit', () => resolve());
      process.once('error', () => resolve());
    });
    void this.ended.then(() => (this.hasEnded = true));
  }

  /** Resident memory in MiB. */
  rssMiB(): number {
    const kib = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${this.process.pid}/status`, 'utf8'));
    return Number(kib?.[1] ?? 0) / 1024;
  }

  /** Seconds of processor time so far, of all threads. */
  cpuSeconds(): number {
    const fields = readFileSync(`/proc/${this.process.pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
    return (Number(fields[11]) + Number(fields[12])) / 100;
  }

  /** Calls `ready` until it resolves with true. Throws when the process ends first, or after `limitMs`. */
  async until(ready: () => Promise<boolean>, limitMs: number, pauseMs = 5): Promise<void> {
    const end = performance.now() + limitMs;
    for (;;) {
      if (this.hasEnded) throw new Error(`the process ended before it was ready; see ${this.logFile}`);
      if (await ready().catch(() => false)) return;
      if (performance.now() > end) throw new Error(`not ready after ${limitMs} ms; see ${this.logFile}`);
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }

  async stop(): Promise<void> {
    if (this.hasEnded) return;
    this.process.kill('SIGTERM');
    const force = setTimeout(() => this.process.kill('SIGKILL'), STOP_MS);
    await this.ended;
    clearTimeout(force);
  }
}
