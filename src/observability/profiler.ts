import { Session, type HeapProfiler, type Profiler } from 'node:inspector/promises';
import { setTimeout as delay } from 'node:timers/promises';

/** As often as Go's: profiles stay small, and the profiled hardly slower. */
const CPU_INTERVAL_US = 10_000;
/** One of so many allocated bytes is looked at, as Go's. */
const HEAP_INTERVAL_BYTES = 512 * 1024;

export class ProfileInUseError extends Error {
  constructor() {
    super('profiling already in use');
    this.name = 'ProfileInUseError';
  }
}

/**
 * Profiles of this process in V8's formats, one at a time. Neither stops the process: of the heap samples are taken, since a snapshot of
 * a heap of gigabytes would take a minute.
 */
export class ProcessProfiler {
  #isBusy = false;
  readonly #closing = new AbortController();

  /** A `.cpuprofile`, of so many seconds. Ends early when the signal aborts. */
  cpu(seconds: number, signal: AbortSignal): Promise<string> {
    return this.#record(async (session) => {
      await session.post('Profiler.enable');
      await session.post('Profiler.setSamplingInterval', { interval: CPU_INTERVAL_US });
      await session.post('Profiler.start');
      await this.#wait(seconds, signal);
      const { profile }: Profiler.StopReturnType = await session.post('Profiler.stop');
      return JSON.stringify(profile);
    });
  }

  /** A `.heapprofile`: what was allocated in so many seconds and is still there. */
  heap(seconds: number, signal: AbortSignal): Promise<string> {
    return this.#record(async (session) => {
      await session.post('HeapProfiler.startSampling', { samplingInterval: HEAP_INTERVAL_BYTES });
      await this.#wait(seconds, signal);
      const { profile }: HeapProfiler.StopSamplingReturnType = await session.post('HeapProfiler.stopSampling');
      return JSON.stringify(profile);
    });
  }

  /** Ends a profile that is being taken. */
  close(): void {
    this.#closing.abort();
  }

  async #record(take: (session: Session) => Promise<string>): Promise<string> {
    if (this.#isBusy) throw new ProfileInUseError();
    this.#isBusy = true;
    const session = new Session();
    session.connect();
    try {
      return await take(session);
    } finally {
      session.disconnect();
      this.#isBusy = false;
    }
  }

  async #wait(seconds: number, signal: AbortSignal): Promise<void> {
    const ended = AbortSignal.any([signal, this.#closing.signal]);
    await delay(seconds * 1000, undefined, { signal: ended }).catch(() => undefined);
  }
}

/** Of the process: V8 takes one profile at a time, however many servers there are. */
export const processProfiler = new ProcessProfiler();
