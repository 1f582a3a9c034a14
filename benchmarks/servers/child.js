const { spawn } = require('node:child_process');
const { openSync, readFileSync } = require('node:fs');
const { createServer } = require('node:net');

const STOP_MS = 15_000;

/** A process of this run: its output in a file, ended by its own id. */
class Child {
  static start(command, args, logFile, env = {}) {
    const log = openSync(logFile, 'a');
    return new Child(spawn(command, args, { stdio: ['ignore', log, log], env: { ...process.env, ...env } }), logFile);
  }

  constructor(process, logFile) {
    this.process = process;
    this.logFile = logFile;
    this.ended = new Promise((resolve) => {
      process.once('exit', resolve);
      process.once('error', resolve);
    });
    this.hasEnded = false;
    void this.ended.then(() => (this.hasEnded = true));
  }

  /** Resident memory in MiB. */
  rssMiB() {
    const kib = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${this.process.pid}/status`, 'utf8'));
    return Number(kib?.[1] ?? 0) / 1024;
  }

  /** Seconds of processor time so far, of all threads. */
  cpuSeconds() {
    const fields = readFileSync(`/proc/${this.process.pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
    return (Number(fields[11]) + Number(fields[12])) / 100;
  }

  /** Calls `ready` until it resolves with true. Throws when the process ends first, or after `limitMs`. */
  async until(ready, limitMs, pauseMs = 5) {
    const end = performance.now() + limitMs;
    for (;;) {
      if (this.hasEnded) throw new Error(`the process ended before it was ready; see ${this.logFile}`);
      if (await ready().catch(() => false)) return;
      if (performance.now() > end) throw new Error(`not ready after ${limitMs} ms; see ${this.logFile}`);
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }

  async stop() {
    if (this.hasEnded) return;
    this.process.kill('SIGTERM');
    const force = setTimeout(() => this.process.kill('SIGKILL'), STOP_MS);
    await this.ended;
    clearTimeout(force);
  }
}

/** A port of 127.0.0.1 that was free a moment ago. */
function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

module.exports = { Child, freePort };
