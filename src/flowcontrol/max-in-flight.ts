import { MASTERS_GROUP, type UserInfo } from '../api/user';
import type { Seat } from './seat';

export type RequestKind = 'readOnly' | 'mutating';

/** kube-apiserver's `--max-requests-inflight` and `--max-mutating-requests-inflight`; 0: no limit. */
export interface InFlightLimits {
  readonly readOnly: number;
  readonly mutating: number;
}

export const DEFAULT_IN_FLIGHT_LIMITS: InFlightLimits = { readOnly: 400, mutating: 200 };

/** As in kube-apiserver; also the lower-case methods of non-resource requests, so that a probe's GET is a read. */
const READS: ReadonlySet<string> = new Set(['get', 'list', 'watch']);

export function isRead(verb: string): boolean {
  return READS.has(verb);
}

/** Its requests are served whatever the limits: a busy cluster has to be set right. */
export function isMaster(user: UserInfo | undefined): boolean {
  return user?.groups.includes(MASTERS_GROUP) === true;
}

/** The requests of one kind that are under way. All of them hold the same object: a seat costs no memory. */
export class Seats implements Seat {
  #taken = 0;
  #peak = 0;
  #dropped = 0;
  /** As many as one user may have: the last quarter is for others. */
  readonly share: number;

  constructor(
    readonly kind: RequestKind,
    private readonly limit: number,
  ) {
    this.share = limit - Math.floor(limit / 4);
  }

  /** So many are taken that one user may have all that it may have. */
  get areScarce(): boolean {
    return this.limit > 0 && this.#taken >= this.share;
  }

  /** False: all are taken. Who gets one gives it back with {@link release}, once. */
  acquire(): boolean {
    if (this.limit > 0 && this.#taken >= this.limit) return false;
    if (++this.#taken > this.#peak) this.#peak = this.#taken;
    return true;
  }

  release(): void {
    this.#taken--;
  }

  /** As {@link release}, of a request that may come back. */
  pause(): void {
    this.#taken--;
  }

  /** False: all are taken. */
  resume(): boolean {
    return this.acquire();
  }

  /** The request that was paused has ended. */
  abandon(): void {
    // It has no seat any more.
  }

  /** A request was turned away. */
  drop(): void {
    this.#dropped++;
  }

  get taken(): number {
    return this.#taken;
  }

  get dropped(): number {
    return this.#dropped;
  }

  /** The most that were taken at once since this was last asked. */
  takePeak(): number {
    const peak = this.#peak;
    this.#peak = this.#taken;
    return peak;
  }
}

/** What is to be done with a request: it runs on a seat, it runs without one, or it is turned away. */
export type Admittance = Seats | 'exempt' | 'dropped';

/**
 * Bounds how many requests are under way at once, reads and writes apart, before they are authorized or parsed. No
 * queues: a request that finds no seat is told to come again. No user gets more than three quarters of the seats (of more than three), so that
 * one alone does not turn the others away. Members of system:masters are served even then.
 */
export class MaxInFlight {
  readonly readOnly: Seats;
  readonly mutating: Seats;

  constructor(limits: InFlightLimits = DEFAULT_IN_FLIGHT_LIMITS) {
    this.readOnly = new Seats('readOnly', limits.readOnly);
    this.mutating = new Seats('mutating', limits.mutating);
  }

  /** Of a request that is not long-running. `takenBy` counts the seats of a user, and is asked only when they are scarce. */
  admit(verb: string, user: UserInfo | undefined, takenBy: (user: UserInfo, seats: Seats) => number): Admittance {
    const seats = isRead(verb) ? this.readOnly : this.mutating;
    const isBeyondShare = seats.areScarce && user !== undefined && takenBy(user, seats) >= seats.share;
    if (!isBeyondShare && seats.acquire()) return seats;
    if (isMaster(user)) return 'exempt';
    seats.drop();
    return 'dropped';
  }
}
