import { getHeapStatistics } from 'node:v8';
import { FairQueue } from '../../async/fair-queue';
import type { RequestContext } from './context';
import { MAX_BODY_VALUES, MAX_OWNERSHIP_VALUES } from './large-bodies';
import { outOfRoom } from '../response/refusals';

export interface LargeBodyLimits {
  /** What may be made of bodies at one time, estimated. */
  readonly workingBytes: number;
  /** Of that, of bodies of one user. */
  readonly workingBytesPerUser: number;
  /** Of bodies that wait for that, as they came. */
  readonly waitingBytes: number;
  readonly waitingBytesPerUser: number;
}

/** What is made of a value on the way of a write: parsed, decoded, with its owner, encoded. */
const BYTES_PER_VALUE = 200;
/** Of a value in `managedFields`: an empty map, or a place in one. */
const BYTES_PER_OWNERSHIP_VALUE = 50;
/** The object and its texts. */
const COPIES = 3;
const MEGABYTE = 1024 * 1024;
/** Of the heap. */
const WORKING_SHARE = 1 / 5;
const MAX_WORKING_BYTES = 512 * MEGABYTE;
/** A place is given back when the answer has been taken, or after so long: there is little left of the body by then. */
const PLACE_MS = 10_000;

/** Of all places: a user who sends large bodies all the time leaves others as much as he has himself. */
const USER_SHARE = 1 / 2;

interface Waiting {
  readonly owner: unknown;
  readonly bytes: number;
  readonly begin: () => void;
}

/**
 * Places for requests with large bodies: as many are worked on at a time as memory has room for what is made of them, and one
 * user's take no more than a share of it. The others wait, and users take turns.
 */
export class LargeBodyPlaces {
  private readonly limits: LargeBodyLimits;
  private readonly queue: FairQueue<Waiting>;
  private workingBytes = 0;
  private readonly bytesOfUsers = new Map<unknown, number>();

  constructor(
    limits: Partial<LargeBodyLimits> = {},
    /** Told of each change of what is made of bodies, in bytes. */
    private readonly onWorkingBytes?: (change: number) => void,
  ) {
    const heap = getHeapStatistics().heap_size_limit;
    const workingBytes = limits.workingBytes ?? Math.min(heap * WORKING_SHARE, MAX_WORKING_BYTES);
    this.limits = {
      workingBytes,
      workingBytesPerUser: workingBytes * USER_SHARE,
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

  /** As {@link acquire}, for what is made of an object of so many bytes. */
  acquireFor(context: RequestContext, waitingBytes: number, objectBytes: number): Promise<void> {
    const values = Math.min(objectBytes / 2, MAX_BODY_VALUES);
    const ofOwnership = Math.min(objectBytes / 3, MAX_OWNERSHIP_VALUES) * BYTES_PER_OWNERSHIP_VALUE;
    return this.acquire(context, waitingBytes, COPIES * objectBytes + values * BYTES_PER_VALUE + ofOwnership);
  }

  /**
   * Resolves when the request may make so many bytes of a body of `bodyBytes`; its place is given back when it ends.
   * Throws a 429 when too much waits already, and what the request aborts with.
   */
  async acquire(context: RequestContext, bodyBytes: number, bytes: number): Promise<void> {
    const owner = context.user?.name ?? '';
    if (this.queue.length > 0 || !this.hasRoom(owner, bytes)) await this.wait(context, owner, bodyBytes, bytes);
    else this.change(owner, bytes);
    let isHeld = true;
    const release = (): void => {
      if (!isHeld) return;
      isHeld = false;
      clearTimeout(timer);
      this.change(owner, -bytes);
      this.beginNext();
    };
    const timer = setTimeout(release, PLACE_MS).unref();
    context.onFinished(release);
    if (context.finished) release();
  }

  private hasRoom(owner: unknown, bytes: number): boolean {
    return this.isWithinShare(owner, bytes) && this.isWithinAll(bytes);
  }

  /** One alone has room, however large. */
  private isWithinAll(bytes: number): boolean {
    return this.workingBytes === 0 || this.workingBytes + bytes <= this.limits.workingBytes;
  }

  private isWithinShare(owner: unknown, bytes: number): boolean {
    const own = this.bytesOfUsers.get(owner) ?? 0;
    return own === 0 || own + bytes <= this.limits.workingBytesPerUser;
  }

  private change(owner: unknown, bytes: number): void {
    const own = (this.bytesOfUsers.get(owner) ?? 0) + bytes;
    if (own === 0) this.bytesOfUsers.delete(owner);
    else this.bytesOfUsers.set(owner, own);
    this.workingBytes += bytes;
    this.onWorkingBytes?.(bytes);
  }

  private async wait({ signal }: RequestContext, owner: unknown, bodyBytes: number, bytes: number): Promise<void> {
    let leave: (() => void) | undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        const waiting: Waiting = { owner, bytes, begin: resolve };
        if (!this.queue.push(owner, waiting, bodyBytes)) {
          throw outOfRoom('large requests');
        }
        leave = () => {
          if (this.queue.remove(owner, waiting)) reject(signal.reason as Error);
        };
        signal.addEventListener('abort', leave);
        if (signal.aborted) leave();
        // Others may only wait because they have their share.
        this.beginNext();
      });
    } finally {
      if (leave !== undefined) signal.removeEventListener('abort', leave);
    }
  }

  private beginNext(): void {
    const mayBegin = (owner: unknown, { bytes }: Waiting): boolean => this.isWithinShare(owner, bytes);
    for (;;) {
      const next = this.queue.peek(mayBegin);
      // Smaller ones do not pass one that waits for room: it would wait for ever.
      if (next === undefined || !this.isWithinAll(next.bytes)) return;
      this.queue.shift(mayBegin);
      this.change(next.owner, next.bytes);
      next.begin();
    }
  }
}
