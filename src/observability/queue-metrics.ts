import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { QueueMetrics, WorkQueue } from '../async/work-queue';

/** kube-controller-manager's: 10 ns to 10 s, in steps of ten. */
const BUCKETS = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10];
const labelNames = ['name'] as const;

/** The `workqueue_*` metrics of all controllers of a process, by the controllers' names. One per registry. */
export class WorkQueueMetrics {
  readonly #queues = new Map<string, WorkQueue>();
  readonly #adds: Counter<'name'>;
  readonly #retries: Counter<'name'>;
  readonly #waited: Histogram<'name'>;
  readonly #worked: Histogram<'name'>;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#adds = new Counter({
      name: 'workqueue_adds_total',
      help: 'Keys added to a work queue.',
      labelNames,
      registers,
    });
    this.#retries = new Counter({
      name: 'workqueue_retries_total',
      help: 'Keys that came back because their work failed.',
      labelNames,
      registers,
    });
    this.#waited = new Histogram({
      name: 'workqueue_queue_duration_seconds',
      help: 'How long keys waited in a work queue.',
      labelNames,
      registers,
      buckets: BUCKETS,
    });
    this.#worked = new Histogram({
      name: 'workqueue_work_duration_seconds',
      help: 'How long the work on a key took.',
      labelNames,
      registers,
      buckets: BUCKETS,
    });
    this.#gauge(registry, 'workqueue_depth', 'Keys waiting in a work queue.', ({ depth }) => depth);
    this.#gauge(
      registry,
      'workqueue_unfinished_work_seconds',
      'How long the keys worked on have been, together.',
      (queue) => [...secondsOf(queue)].reduce((sum, seconds) => sum + seconds, 0),
    );
    this.#gauge(
      registry,
      'workqueue_longest_running_processor_seconds',
      'How long the key that has been worked on for longest has been.',
      (queue) => Math.max(0, ...secondsOf(queue)),
    );
  }

  /** The instruments of one queue. */
  readonly of = (name: string, queue: WorkQueue): QueueMetrics => {
    this.#queues.set(name, queue);
    const labels = { name };
    // A queue is there to dashboards before anything has been in it.
    this.#adds.inc(labels, 0);
    this.#retries.inc(labels, 0);
    this.#waited.zero(labels);
    const adds = this.#adds.labels(labels);
    const retries = this.#retries.labels(labels);
    const waited = this.#waited.labels(labels);
    const worked = this.#worked.labels(labels);
    return {
      added: () => adds.inc(),
      retried: () => retries.inc(),
      taken: (milliseconds) => waited.observe(milliseconds / 1000),
      done: (milliseconds) => worked.observe(milliseconds / 1000),
    };
  };

  #gauge(registry: Registry, name: string, help: string, value: (queue: WorkQueue) => number): void {
    const queues = this.#queues;
    new Gauge({
      name,
      help,
      labelNames,
      registers: [registry],
      collect() {
        for (const [queueName, queue] of queues) this.set({ name: queueName }, value(queue));
      },
    });
  }
}

function* secondsOf(queue: WorkQueue): Generator<number> {
  const now = performance.now();
  for (const since of queue.activeSince()) yield (now - since) / 1000;
}
