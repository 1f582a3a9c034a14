import cluster, { type Worker } from 'node:cluster';
import { AggregatorRegistry, type Registry } from 'prom-client';

/** A metric as JSON, as prom-client gives and adds it. */
interface MetricValues {
  readonly name: string;
  readonly type: string;
  readonly aggregator: string;
  readonly values: readonly object[];
}

/** What the processes of one replica say to each other about metrics. */
type Message =
  /** A worker was asked for /metrics, and wants those of all. */
  | { readonly type: 'metrics wanted'; readonly id: number }
  /** Every worker is to say its own. */
  | { readonly type: 'metrics asked'; readonly id: number }
  | { readonly type: 'metrics of one'; readonly id: number; readonly metrics: readonly MetricValues[] }
  | { readonly type: 'metrics of all'; readonly id: number; readonly text: string };

/** A worker that is too busy to answer, or about to end, counts with what it said last. */
const PATIENCE_MS = 2_000;
const RESPONSE_TIMEOUT_MS = 10_000;

function isMessage<Type extends Message['type']>(
  message: unknown,
  type: Type,
): message is Extract<Message, { readonly type: Type }> {
  return typeof message === 'object' && message !== null && 'type' in message && message.type === type;
}

/** The sums, by prom-client's rules. Still metrics as JSON: each has its values besides the function that gives them. */
function added(metrics: readonly (readonly MetricValues[])[]): Registry {
  return AggregatorRegistry.aggregate(metrics.map((of) => of.map(startOfFirst)));
}

/** prom-client leaves out when a process started; a replica started with the first of its processes. */
function startOfFirst(metric: MetricValues): MetricValues {
  return metric.name === 'process_start_time_seconds' ? { ...metric, aggregator: 'min' } : metric;
}

/**
 * In the process that started the workers: gives each of them the metrics of all, added up. What a worker that has ended
 * was last known to have counted stays in the sums: a counter that falls back would look like a start from zero, and
 * everything that was counted before like new.
 */
export class WorkerMetrics {
  readonly #last = new Map<number, readonly MetricValues[]>();
  readonly #asks = new Map<number, (worker: number) => void>();
  #ended: readonly MetricValues[] = [];
  #lastId = 0;

  /** From now on this worker's metrics are among those of all. */
  include(worker: Worker): void {
    worker.on('message', (message: unknown) => {
      if (isMessage(message, 'metrics wanted')) void this.#respond(worker, message.id);
      if (!isMessage(message, 'metrics of one')) return;
      this.#last.set(worker.id, message.metrics);
      this.#asks.get(message.id)?.(worker.id);
    });
    worker.on('exit', () => {
      const counted = (this.#last.get(worker.id) ?? []).filter(
        ({ type }) => type === 'counter' || type === 'histogram',
      );
      this.#last.delete(worker.id);
      this.#ended = added([this.#ended, counted]).getMetricsAsArray() as unknown as readonly MetricValues[];
      for (const heard of this.#asks.values()) heard(worker.id);
    });
  }

  async #respond(worker: Worker, id: number): Promise<void> {
    await this.#askAll();
    const text = await added([this.#ended, ...this.#last.values()]).metrics();
    tell(worker, { type: 'metrics of all', id, text });
  }

  /** Resolves when all workers have answered, or have taken too long. */
  async #askAll(): Promise<void> {
    const id = ++this.#lastId;
    const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
    const awaited = new Set(workers.map((worker) => worker.id));
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, PATIENCE_MS);
      this.#asks.set(id, (worker) => {
        awaited.delete(worker);
        if (awaited.size > 0) return;
        clearTimeout(timer);
        resolve();
      });
      for (const worker of workers) tell(worker, { type: 'metrics asked', id });
    });
    this.#asks.delete(id);
  }
}

function tell(worker: Worker, message: Message): void {
  // A worker that ends at this moment needs no answer.
  if (worker.isConnected()) worker.send(message, () => undefined);
}

/** In a worker: takes part in the metrics of all. Returns what prints them; rejects when they are not to be had. */
export function shareMetrics(own: Registry): () => Promise<string> {
  const waiting = new Map<number, (text: string) => void>();
  let lastId = 0;
  const say = (message: Message): void => {
    if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
  };
  const sayOwn = async (id: number): Promise<void> => {
    const metrics = (await own.getMetricsAsJSON()) as unknown as readonly MetricValues[];
    say({ type: 'metrics of one', id, metrics });
  };
  process.on('message', (message: unknown) => {
    if (isMessage(message, 'metrics asked')) void sayOwn(message.id);
    else if (isMessage(message, 'metrics of all')) waiting.get(message.id)?.(message.text);
  });
  return async () => {
    const id = ++lastId;
    let timer: NodeJS.Timeout | undefined;
    try {
      return await new Promise<string>((resolve, reject) => {
        waiting.set(id, resolve);
        timer = setTimeout(
          () => reject(new Error('the metrics of all workers are not to be had')),
          RESPONSE_TIMEOUT_MS,
        );
        say({ type: 'metrics wanted', id });
      });
    } finally {
      clearTimeout(timer);
      waiting.delete(id);
    }
  };
}
