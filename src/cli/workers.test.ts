import type { Worker } from 'node:cluster';
import { EventEmitter } from 'node:events';
import { untilExit } from './workers';

function fakeWorker(pid: number | undefined) {
  const sent: unknown[] = [];
  const worker = Object.assign(new EventEmitter(), {
    process: { pid },
    isConnected: () => true,
    send: (message: unknown) => sent.push(message),
  });
  return { worker, sent, asWorker: worker as unknown as Worker };
}

describe('a process of a replica', () => {
  it('is told to stop, and ends though it could not hear it', async () => {
    const { worker, sent, asWorker } = fakeWorker(1);
    const stop = new AbortController();
    const ended = untilExit(asWorker, stop.signal);
    stop.abort();
    expect(sent).toEqual(['stop']);
    worker.emit('error', new Error('write EPIPE'));
    worker.emit('exit', 0, null);
    await expect(ended).resolves.toBe('exit code 0');
  });

  it('ends by a signal, or does not begin', async () => {
    const { worker, asWorker } = fakeWorker(1);
    const ended = untilExit(asWorker, new AbortController().signal);
    worker.emit('exit', null, 'SIGKILL');
    await expect(ended).resolves.toBe('SIGKILL');
    const unborn = fakeWorker(undefined);
    const failed = untilExit(unborn.asWorker, new AbortController().signal);
    unborn.worker.emit('error', new Error('spawn EAGAIN'));
    await expect(failed).resolves.toBe('spawn EAGAIN');
  });
});
