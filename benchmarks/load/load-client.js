const { fork } = require('node:child_process');
const { join } = require('node:path');

/** The load process, seen from the harness. */
class LoadClient {
  constructor() {
    this.child = fork(join(__dirname, 'worker.js'), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    this.pending = new Map();
    this.lastId = 0;
    this.child.on('message', ({ id, result, error }) => {
      const { resolve, reject } = this.pending.get(id);
      this.pending.delete(id);
      if (error === undefined) resolve(result);
      else reject(new Error(error));
    });
    this.child.on('exit', () => {
      for (const { reject } of this.pending.values()) reject(new Error('the load process ended'));
    });
  }

  /** Closed loop; see closed-loop.js for the job. */
  run(job) {
    return this.ask('closedLoop', job);
  }

  fanOut(job) {
    return this.ask('fanOut', job);
  }

  openIdleWatches(job) {
    return this.ask('openIdleWatches', job);
  }

  closeIdleWatches() {
    return this.ask('closeIdleWatches', {});
  }

  /** One request: `{ status, head, body }`, the body as bytes. */
  async once(target, request) {
    const { status, head, body } = await this.ask('once', { target, request });
    return { status, head, body: Buffer.from(body, 'base64') };
  }

  close() {
    this.child.disconnect();
  }

  ask(kind, job) {
    const id = ++this.lastId;
    return new Promise((resolve, reject) => {
      this.pending.set(id, { resolve, reject });
      this.child.send({ id, kind, job });
    });
  }
}

module.exports = { LoadClient };
