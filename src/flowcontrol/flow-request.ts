import type { UserInfo } from '../api/user';
import type { FlowQueue } from './flow-queue';
import type { FlowAttributes } from './matching';
import type { PriorityLevel } from './priority-level';
import type { Seat } from './seat';
import type { MatchedSchema } from './matched-schema';
import type { KindLoad } from './kind-load';

/** How much of the server a request takes. */
export interface WorkEstimate {
  /** While it is executed. */
  readonly seats: number;
  /** And for so long after that, in milliseconds, as watchers are told of what it wrote. */
  readonly finalSeats: number;
  readonly finalMs: number;
}

export const ONE_SEAT: WorkEstimate = { seats: 1, finalSeats: 0, finalMs: 0 };

export type RequestState = 'new' | 'waiting' | 'executing' | 'paused' | 'ended';

/** Why a request was not executed, in the words of the metrics. */
export type Rejection = 'queue-full' | 'concurrency-limit' | 'time-out' | 'cancelled';

/** A request in flow control, from its arrival to its end: the one object that it costs there. */
export class FlowRequest implements Seat {
  state: RequestState = 'new';
  /** Where it stands; undefined in levels without queues. */
  queue: FlowQueue | undefined = undefined;
  /** Among those that wait in its queue. */
  previous: FlowRequest | undefined = undefined;
  next: FlowRequest | undefined = undefined;
  /** Milliseconds of the monotonic clock. */
  startedAt = 0;
  /** Before it was paused. */
  executedMs = 0;
  /** It has been counted as dispatched. */
  isCounted = false;
  rejection: Rejection | undefined = undefined;
  /** Of a request that waits: called once, when it may begin or is turned away. */
  onDecided: ((isAdmitted: boolean) => void) | undefined = undefined;

  constructor(
    readonly schema: MatchedSchema,
    readonly level: PriorityLevel,
    /** Its flow among those of the schema. */
    readonly flow: string,
    readonly work: WorkEstimate,
    /** Counts it among all reads or writes. */
    readonly kind: KindLoad,
    readonly attributes: FlowAttributes,
    readonly user: UserInfo,
    /** Milliseconds of the monotonic clock. */
    public arrivedAt: number,
  ) {}

  /** Seats that are kept for it while it is executed. */
  get seats(): number {
    const { seats, finalSeats } = this.work;
    return finalSeats > seats ? finalSeats : seats;
  }

  get isExecuting(): boolean {
    return this.state === 'executing';
  }

  /** It waits for its client: its seats are for others. */
  pause(): void {
    if (this.state === 'executing') this.level.pause(this, performance.now());
  }

  /** False: it is turned away. */
  resume(): boolean | Promise<boolean> {
    if (this.state !== 'paused') return this.isExecuting;
    this.arrivedAt = performance.now();
    return this.level.admit(this, this.arrivedAt);
  }

  /** It was turned away, and not for want of a client. */
  drop(): void {
    this.kind.seats.drop();
  }

  /** It has ended while it was paused. */
  abandon(): void {
    this.release();
  }

  /** Executed, or not waited for any more. May be called again. */
  release(): void {
    if (this.state !== 'ended') this.level.end(this, performance.now());
  }
}
