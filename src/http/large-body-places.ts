import { getHeapStatistics } from 'node:v8';
import { FairQueue } from '../event-loop/fair-queue';
import type { RequestContext } from './context';
import { outOfRoom } from './refusals';

export interface LargeBodyLimits {
  /** What may be made of bodies at one time, estimated. */
  readonly workingBytes: number;
  /** Of bodies that wait for that, as they came. */
  readonly waitingBytes: number;
  readonly waitingBytesPerUser: number;
}

const MEGABYTE = 1024 * 1024;
/** Of the heap. */
const WORKING_SHARE = 1 / 5;
const MAX_WORKING_BYTES = 512 * MEGABYTE;
/** A place is given back when the answer has been taken, or after so long: there is little left of the body by then. */
const PLACE_MS = 10_000;

interface Waiting {
  readonly bytes: number;
  readonly begin: () => void;
}

/**
 * Places for requests with large bodies: as many are worked on at a time as memory has room for what is made of them.
 * The others wait, and users take turns.
 */
export class LargeBodyPlaces {
  private readonly limits: LargeBodyLimits;
  private readonly queue: FairQueue<Waiting>;
  private workingBytes = 0;

  constructor(
    limits: Partial<LargeBodyLimits> = {},
    /** Told of each change of what is made of bodies, in bytes. */
    private readonly onWorkingBytes?: (change: number) => void,
  ) {
    const heap = getHeapStatistics().heap_size_limit;
    this.limits = {
      workingBytes: Math.min(heap * WORKING_SHARE, MAX_WORKING_BYTES),
      waitingBytes: 32 * MEGABYTE,
      waitingBytesPerUser: 8 * MEGABYTE,
      ...limits,
    };
    this.queue = new FairQueue({ perOwner: this.limits.waitingBytesPerUser, total: this.limits.waitingBytes });
  }

  get waiting(): number {
    return this.queue.length;
  }

  get working(): number {
    return this.workingBytes;
  }

  /**
   * Resolves when the request may make so many bytes of a body of `bodyBytes`; its place is given back when it ends.
   * Throws a 429 when too much waits already, and what the request aborts with.
   */
  async take(context: RequestContext, bodyBytes: number, bytes: number): Promise<void> {
    if (this.queue.length > 0 || !this.hasRoom(bytes)) await this.wait(context, bodyBytes, bytes);
    else this.change(bytes);
    let isHeld = true;
    const release = (): void => {
      if (!isHeld) return;
      isHeld = false;
      clearTimeout(timer);
      this.change(-bytes);
      this.beginNext();
    };
    const timer = setTimeout(release, PLACE_MS).unref();
    context.onFinished(release);
    if (context.finished) release();
  }

  /** One alone has room, however large. */
  private hasRoom(bytes: number): boolean {
    return this.workingBytes === 0 || this.workingBytes + bytes <= this.limits.workingBytes;
  }

  private change(bytes: number): void {
    this.workingBytes += bytes;
    this.onWorkingBytes?.(bytes);
  }

  private async wait({ user, signal }: RequestContext, bodyBytes: number, bytes: number): Promise<void> {
    const owner = user?.name ?? '';
    let leave: (() => void) | undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        const waiting: Waiting = { bytes, begin: resolve };
        if (!this.queue.push(owner, waiting, bodyBytes)) {
          throw outOfRoom('large requests');
        }
        leave = () => {
          if (this.queue.remove(owner, waiting)) reject(signal.reason as Error);
        };
        signal.addEventListener('abort', leave);
        if (signal.aborted) leave();
      });
    } finally {
      if (leave !== undefined) signal.removeEventListener('abort', leave);
    }
  }

  private beginNext(): void {
    for (let next = this.queue.peek(); next !== undefined && this.hasRoom(next.bytes); next = this.queue.peek()) {
      this.queue.shift();
      this.change(next.bytes);
      next.begin();
    }
  }
}
