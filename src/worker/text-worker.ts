import { Worker } from 'node:worker_threads';
import { packageFile } from '../api/package-file';
import { FairQueue } from '../async/fair-queue';
import type { TextResult, TextJob, ThreadMessage } from './text-jobs';
import { processorTimeOf } from './thread-time';

/** Made by `npm run generate`: one file for the sources, the build and the bundled command. */
const THREAD_FILE = packageFile('generated', 'text-worker.js');

export interface TextWorkerOptions {
  /**
   * After so much processor time the thread is ended, and its job has failed: a busy machine refuses no honest text. By the clock
   * where the system does not tell how long a thread has worked.
   */
  readonly jobTimeoutMs: number;
  /** A thread without work is ended after so long. */
  readonly idleMs: number;
  /** Of the thread. */
  readonly heapMegabytes: number;
  /** Bytes of the texts that wait. */
  readonly waitingBytesPerUser: number;
  readonly waitingBytes: number;
}

const DEFAULTS: TextWorkerOptions = {
  // Twenty times as long as the worst text of 3 MiB takes on an idle machine.
  jobTimeoutMs: 5_000,
  idleMs: 10_000,
  // Twice what the largest text that others than attackers send takes.
  heapMegabytes: 128,
  waitingBytesPerUser: 12 * 1024 * 1024,
  waitingBytes: 48 * 1024 * 1024,
};

/** A job is not looked at more often, however little time it has left. */
const MIN_LOOK_MS = 20;

/** What a waiting job takes beside its text. */
const JOB_BYTES = 1024;

/** Why a job was not done; nothing is wrong with the server. */
export class TextJobRefused extends Error {
  constructor(
    /** `busy`: too much waits already. The others are limits that the text itself has exceeded. */
    readonly reason: 'busy' | 'time' | 'memory' | 'stopped',
  ) {
    super(`the text was not worked on: ${reason}`);
  }
}

interface Waiting {
  readonly user: string;
  readonly job: TextJob;
  readonly resolve: (response: TextResult) => void;
  readonly reject: (error: Error) => void;
}

/**
 * One thread for work on texts, with limits on its memory and its time. It is started when there is work, and ended
 * when there has been none for a while. Users take turns, so that who sends much delays only himself.
 */
export class TextWorker {
  readonly limits: TextWorkerOptions;
  private readonly queue: FairQueue<Waiting>;
  private thread: Worker | undefined;
  /** What the thread has said at its start. */
  private started: Extract<ThreadMessage, { readonly kind: 'started' }> | undefined;
  /** When the job began, by the clock, and by the processor time of the thread where it is known. */
  private began: { readonly atMs: number; readonly processorMs: number | undefined } = { atMs: 0, processorMs: 0 };
  private running: Waiting | undefined;
  private timer: NodeJS.Timeout | undefined;
  private stopped = false;
  /** Threads that were ended because of a job. */
  terminations = 0;

  constructor(
    options: Partial<TextWorkerOptions> = {},
    private readonly timeOf = processorTimeOf,
  ) {
    this.limits = { ...DEFAULTS, ...options };
    this.queue = new FairQueue({ perOwner: this.limits.waitingBytesPerUser, total: this.limits.waitingBytes });
  }

  /** How many jobs wait. */
  get waiting(): number {
    return this.queue.length;
  }

  get isRunning(): boolean {
    return this.thread !== undefined;
  }

  /**
   * Does a job for a user; its bytes are copied. Throws {@link TextJobRefused}, and what `signal` aborts with when that
   * happens before the job has begun.
   */
  async run(user: string, job: TextJob, signal?: AbortSignal): Promise<TextResult> {
    if (this.stopped) throw new TextJobRefused('stopped');
    signal?.throwIfAborted();
    let leave: (() => void) | undefined;
    try {
      return await new Promise<TextResult>((resolve, reject) => {
        const waiting: Waiting = { user, job, resolve, reject };
        if (!this.queue.push(user, waiting, job.bytes.length + JOB_BYTES)) throw new TextJobRefused('busy');
        leave = () => {
          if (this.queue.remove(user, waiting)) reject(signal?.reason as Error);
        };
        signal?.addEventListener('abort', leave);
        this.next();
      });
    } finally {
      // A signal may be used for more than one request.
      if (leave !== undefined) signal?.removeEventListener('abort', leave);
    }
  }

  /** Ends the thread; jobs that wait are refused. */
  async stop(): Promise<void> {
    this.stopped = true;
    const { thread } = this;
    this.fail(new TextJobRefused('stopped'));
    for (let waiting = this.queue.shift(); waiting !== undefined; waiting = this.queue.shift()) {
      waiting.reject(new TextJobRefused('stopped'));
    }
    await thread?.terminate();
  }

  private next(): void {
    if (this.running !== undefined) return;
    this.running = this.queue.shift();
    clearTimeout(this.timer);
    if (this.running === undefined) {
      this.timer = setTimeout(() => this.end(), this.limits.idleMs).unref();
      return;
    }
    const { kind, bytes } = this.running.job;
    const copy = Uint8Array.from(bytes);
    this.thread ??= this.start();
    this.thread.postMessage({ kind, bytes: copy }, [copy.buffer]);
    this.began = { atMs: performance.now(), processorMs: this.started === undefined ? 0 : this.processorTime() };
    this.lookAfter(this.limits.jobTimeoutMs);
  }

  private processorTime(): number | undefined {
    const { task } = this.started ?? {};
    return task === undefined ? undefined : this.timeOf(task);
  }

  /** A thread that has not begun has not worked yet. */
  private get spentMs(): number {
    if (this.started === undefined) return 0;
    const { atMs, processorMs } = this.began;
    const now = this.processorTime();
    return now === undefined || processorMs === undefined ? performance.now() - atMs : now - processorMs;
  }

  /** Ends the job when it has had its time by then. */
  private lookAfter(delayMs: number): void {
    this.timer = setTimeout(() => {
      const leftMs = this.limits.jobTimeoutMs - this.spentMs;
      if (leftMs > 0) this.lookAfter(Math.max(leftMs, MIN_LOOK_MS));
      else this.fail(new TextJobRefused('time'));
    }, delayMs).unref();
  }

  private start(): Worker {
    const thread = new Worker(THREAD_FILE, {
      resourceLimits: { maxOldGenerationSizeMb: this.limits.heapMegabytes, stackSizeMb: 4 },
      // Those of the process are about the process: profiles, hooks, sizes of heaps.
      execArgv: [],
    });
    // The connection of the waiting client keeps the process alive.
    thread.unref();
    thread.on('message', (message: ThreadMessage) => {
      if (thread !== this.thread) return;
      if (message.kind === 'started') {
        this.started = message;
        return;
      }
      const { running } = this;
      this.running = undefined;
      running?.resolve(message.response);
      this.next();
    });
    thread.on('error', (error: NodeJS.ErrnoException) => {
      if (thread !== this.thread) return;
      this.fail(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? new TextJobRefused('memory') : error);
    });
    return thread;
  }

  /** The job that is worked on has failed, and its thread is of no use any more. */
  private fail(error: Error): void {
    const { running } = this;
    this.running = undefined;
    if (running !== undefined) this.terminations += 1;
    this.end();
    running?.reject(error);
    if (!this.stopped) this.next();
  }

  private end(): void {
    clearTimeout(this.timer);
    const { thread } = this;
    this.thread = undefined;
    this.started = undefined;
    // It ends by itself, and is not waited for.
    void thread?.terminate();
  }
}
