import cluster, { type Worker } from 'node:cluster';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../observability/logger';
import { HandedConnections } from './handed-connections';
import { untilSignal } from './until-signal';
import { WorkerMetrics } from './worker-metrics';

/** What the processes of one replica say to each other. */
const SERVING = 'serving';
const STOP = 'stop';

const RESTART_PAUSE_MS = 1_000;

/** True in a process that was started by {@link runWorkers}. */
export function isWorker(): boolean {
  return cluster.isWorker;
}

/**
 * Runs this program `count` times, as one replica: the processes share the port, and each new connection goes to the next
 * of them. One that ends is replaced. Resolves when, after SIGTERM or SIGINT, all have ended in their own time; throws when
 * one cannot start in the first place.
 */
export async function runWorkers(count: number, logger: Logger): Promise<void> {
  const stop = new AbortController();
  const signalled = untilSignal().then((signal) => {
    logger.info({ signal, workers: count }, 'shutting down');
    stop.abort();
  });
  // A second signal ends this process at once, and the workers are not to outlive it.
  process.on('exit', () => killAll());
  const metrics = new WorkerMetrics();
  const connections = new HandedConnections();
  const include = (worker: Worker): void => {
    metrics.include(worker);
    connections.include(worker);
  };
  try {
    await Promise.all(Array.from({ length: count }, () => keepRunning(stop.signal, include, logger)));
    await signalled;
  } finally {
    killAll();
  }
}

function killAll(): void {
  for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill('SIGKILL');
}

/** One place among the workers: a process, and after its end another one. */
async function keepRunning(stop: AbortSignal, include: (worker: Worker) => void, logger: Logger): Promise<void> {
  for (let hasServed = false; !stop.aborted;) {
    const worker = cluster.fork();
    include(worker);
    worker.on('message', (message) => {
      if (message !== SERVING) return;
      hasServed = true;
      logger.info({ worker: worker.process.pid }, 'a worker serves');
    });
    const outcome = await untilExit(worker, stop);
    if (stop.aborted) return;
    if (!hasServed) throw new Error(`a worker could not start (${outcome}); its log says why`);
    logger.error({ worker: worker.process.pid, outcome }, 'a worker ended and is replaced');
    await delay(RESTART_PAUSE_MS, undefined, { signal: stop }).catch(() => undefined);
  }
}

/** Tells the process to stop when `stop` aborts. Resolves with the signal or the code with which it ended, or why it never began. */
export function untilExit(worker: Worker, stop: AbortSignal): Promise<string> {
  return new Promise((resolve) => {
    const tell = (): void => {
      if (worker.isConnected()) worker.send(STOP);
    };
    const ended = (outcome: string): void => {
      stop.removeEventListener('abort', tell);
      resolve(outcome);
    };
    stop.addEventListener('abort', tell, { once: true });
    worker.once('exit', (code, signal) => ended(signal ?? `exit code ${code}`));
    // A process that is just ending cannot be told anything any more, and that is no failure. One that never began has no end.
    worker.on('error', ({ message }) => {
      if (worker.process.pid === undefined) ended(message);
    });
  });
}

let isServing = false;

/** Tells the process that started this one that requests are answered. */
export function reportServing(): void {
  isServing = true;
  if (cluster.isWorker) process.send?.(SERVING);
}

/**
 * Resolves when this process shall end in its own time. To be called before anything starts: a process that is told to stop
 * before it serves has nothing to finish, and ends at once.
 */
export async function untilStopped(): Promise<string> {
  const told = await (cluster.isWorker ? untilTold() : untilSignal());
  if (!isServing) process.exit(0);
  return told;
}

/**
 * A worker hears of its end from the process that started it, whose own end it does not outlive; signals reach both when
 * they come from a terminal, and would count twice.
 */
function untilTold(): Promise<string> {
  const ignore = (): void => undefined;
  process.on('SIGTERM', ignore);
  process.on('SIGINT', ignore);
  return new Promise((resolve) => {
    process.on('message', (message) => {
      if (message === STOP) resolve(STOP);
    });
  });
}

/** A worker that is done: what connects it with the process that started it would keep it alive. */
export function leave(): void {
  cluster.worker?.disconnect();
}
