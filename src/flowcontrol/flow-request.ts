import type { UserInfo } from '../api/user';
import type { FlowQueue, QueuedRequest } from './flow-queue';
import type { FlowStats, Rejection } from './flow-stats';
import type { KindLoad } from './kind-load';
import type { FlowAttributes } from './matching';
import type { Seat } from './seat';

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

/** The flow schema that a request matched, as the request sees it. */
export interface RequestSchema {
  readonly name: string;
  /** For clients; undefined: one of the two objects is not stored. */
  readonly names: { readonly schemaUid: string; readonly levelUid: string } | undefined;
  readonly stats: FlowStats;
  /** The queues that the flow's requests may wait in. */
  handOf(flow: string): readonly FlowQueue<FlowRequest>[];
}

/** The priority level of a request, as the request sees it. */
export interface RequestLevel {
  readonly name: string;
  admit(request: FlowRequest, now: number): boolean | Promise<boolean>;
  pause(request: FlowRequest, now: number): void;
  end(request: FlowRequest, now: number): void;
}

/** A request in flow control, from its arrival to its end: the one object that it costs there. */
export class FlowRequest implements Seat, QueuedRequest<FlowRequest> {
  state: RequestState = 'new';
  /** Where it stands; undefined in levels without queues. */
  queue: FlowQueue<FlowRequest> | undefined = undefined;
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
    readonly schema: RequestSchema,
    readonly level: RequestLevel,
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
