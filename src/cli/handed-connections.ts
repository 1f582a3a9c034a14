import type { Worker } from 'node:cluster';

/** A connection as Node's cluster hands it on: the operating system's, before it is a socket. */
interface Handle {
  close(...callback: readonly unknown[]): void;
}

type Send = (message: unknown, handle?: unknown, ...more: readonly unknown[]) => boolean;

/**
 * The connections on their way to a worker. Node's cluster keeps one open until the worker says that it has it, and knows no
 * more of it when the worker ends instead: the client would wait for an answer for ever. Closed here, it is told at least.
 *
 * Node has no interface for that. What this relies on: connections are sent with `process.send`, and closed in this process
 * once they have arrived.
 */
export class HandedConnections {
  readonly #underWay = new Map<Handle, Worker>();

  /** To be called before the worker has been sent anything. */
  include(worker: Worker): void {
    const { process } = worker;
    const send = process.send.bind(process) as Send;
    const watched: Send = (message, handle, ...more) => {
      if (isHandle(handle)) this.#watch(handle, worker);
      return send(message, handle, ...more);
    };
    process.send = watched;
    worker.on('exit', () => {
      for (const [handle, receiver] of this.#underWay) if (receiver === worker) handle.close();
    });
  }

  #watch(handle: Handle, worker: Worker): void {
    const isKnown = this.#underWay.has(handle);
    // One that a worker did not want is sent to another.
    this.#underWay.set(handle, worker);
    if (isKnown) return;
    const close = handle.close.bind(handle);
    handle.close = (...callback) => {
      this.#underWay.delete(handle);
      close(...callback);
    };
  }
}

function isHandle(value: unknown): value is Handle {
  return typeof value === 'object' && value !== null && 'close' in value;
}
