import type { TurnQueue } from '../async/turn-queue';
import type { LevelConfiguration, Queuing } from './configuration';
import { FlowQueue } from './flow-queue';
import type { FlowRequest, RequestLevel } from './flow-request';
import type { Rejection } from './flow-stats';
import { RatioSamples } from './ratio-samples';
import { dealHand } from './shuffle-sharding';

/** What a request is taken to last until it has ended, in milliseconds. */
const ASSUMED_MS = 3;
/** Queues that are not in use are forgotten when there are more. */
const MAX_REMEMBERED_QUEUES = 4096;

/**
 * One priority level: so many seats, and queues of requests that wait for one. Seats are given out fairly: each queue that has
 * requests gets as many seats times milliseconds as every other, whatever its requests are like. What a queue has had is a
 * place on a scale that all share ("virtual time"): the queue whose first request would be through earliest there is next.
 */
export class PriorityLevel implements RequestLevel {
  readonly name: string;
  uid: string;
  readonly isExempt: boolean;
  /** Its part of all seats. */
  limit = 1;
  /** No flow schema leads here any more. */
  isQuiescing = false;
  waiting = 0;
  executing = 0;
  seatsInUse = 0;
  /** Requests that had to wait although there were seats, but too few of them. */
  notAccommodated = 0;
  dispatched = 0;
  readonly rejected: Record<Rejection, number> = {
    'queue-full': 0,
    'concurrency-limit': 0,
    'time-out': 0,
    cancelled: 0,
  };
  readonly executingSamples: RatioSamples;
  readonly waitingSamples: RatioSamples;

  #queuing: Queuing | undefined;
  #queues = new Map<number, FlowQueue<FlowRequest>>();
  /** Those that have requests waiting, in no order. */
  readonly #waitingQueues: FlowQueue<FlowRequest>[] = [];
  /** Where the next search among them begins, so that equals take turns. */
  #robin = 0;
  /** Queues with requests, waiting or executing. */
  #busyQueues = 0;
  #waitingSeats = 0;
  /** Seats of executed requests that have more than one. */
  #wideSeats = 0;
  /** What each busy queue has had up to now if all had the same. */
  #progress = 0;
  #progressAt = 0;

  constructor(
    configuration: LevelConfiguration,
    /** A request waits from now on. */
    private readonly onWaiting: () => void,
    /** Of requests that have waited. */
    private readonly turns: TurnQueue,
  ) {
    this.name = configuration.name;
    this.uid = configuration.uid;
    this.isExempt = configuration.isExempt;
    this.executingSamples = new RatioSamples({ priority_level: this.name, phase: 'executing' });
    this.waitingSamples = new RatioSamples({ priority_level: this.name, phase: 'waiting' });
    this.#queuing = configuration.queuing;
  }

  /** Requests that wait keep their queues, whatever becomes of them for new ones. */
  reconfigure({ uid, queuing }: LevelConfiguration, limit: number, now: number): void {
    this.uid = uid;
    this.isQuiescing = false;
    const before = this.#queuing;
    if (queuing?.queues !== before?.queues || queuing?.handSize !== before?.handSize) this.#queues = new Map();
    this.#queuing = queuing;
    if (limit === this.limit) return;
    this.#advance(now);
    this.limit = limit;
    this.#dispatch(now);
  }

  get queuing(): Queuing | undefined {
    return this.#queuing;
  }

  /** Those that have been used, and some that wait but belong to a configuration of the past. */
  get queues(): readonly FlowQueue<FlowRequest>[] {
    return [...new Set([...this.#queues.values(), ...this.#waitingQueues])].sort(
      (left, right) => left.index - right.index,
    );
  }

  get busyQueues(): number {
    return this.#busyQueues;
  }

  /** As many seats as one request may have: a flow that has all of its hand leaves some to others. */
  get mostSeats(): number {
    return this.#queuing === undefined ? Infinity : Math.max(1, Math.ceil(this.limit / this.#queuing.handSize));
  }

  deal(schema: string, flow: string): readonly FlowQueue<FlowRequest>[] {
    if (this.#queuing === undefined) return [];
    if (this.#queues.size > MAX_REMEMBERED_QUEUES) this.#forgetIdleQueues();
    const { queues, handSize } = this.#queuing;
    return dealHand(schema, flow, queues, handSize).map((index) => {
      const known = this.#queues.get(index);
      if (known !== undefined) return known;
      const queue = new FlowQueue<FlowRequest>(index);
      this.#queues.set(index, queue);
      return queue;
    });
  }

  /** True: executed from now on; false: turned away. A promise where it has to wait to know. */
  admit(request: FlowRequest, now: number): boolean | Promise<boolean> {
    if (this.isExempt) return this.#begin(request, now);
    this.#advance(now);
    if (this.#queuing === undefined) {
      return this.#fits(request.seats) ? this.#begin(request, now) : this.#reject(request, 'concurrency-limit');
    }
    const queue = shortest(request.schema.handOf(request.flow));
    request.queue = queue;
    if (queue.isIdle) queue.nextDispatch = this.#progress;
    if (this.waiting === 0 && this.#fits(request.seats)) {
      if (!request.isCounted) request.schema.stats.queueLength.observe(0);
      return this.#begin(request, now);
    }
    if (queue.length >= this.#queuing.queueLengthLimit) return this.#reject(request, 'queue-full');
    this.#enqueue(request, queue, now);
    this.#dispatch(now);
    return request.isExecuting || new Promise((resolve) => (request.onDecided = resolve));
  }

  /** Of a request that is executed: its seats are for others from now on. */
  pause(request: FlowRequest, now: number): void {
    this.#leave(request, now);
    request.state = 'paused';
    this.#dispatch(now);
  }

  /** Of a request in any state, once. */
  end(request: FlowRequest, now: number): void {
    const { state } = request;
    if (state === 'waiting') this.#turnAway(request, 'cancelled', now);
    if (state === 'executing') this.#leave(request, now);
    request.state = 'ended';
    if (request.isCounted) request.schema.stats.execution.observe(request.executedMs / 1000);
    if (state === 'executing' && request.work.finalMs > 0) this.#keepFinalSeats(request);
    this.#dispatch(now);
  }

  /** Turns away those that have waited since before `since`. */
  expire(since: number, now: number): void {
    for (const queue of [...this.#waitingQueues]) {
      for (let first = queue.first; first !== undefined && first.arrivedAt <= since; first = queue.first) {
        this.#turnAway(first, 'time-out', now);
      }
    }
    this.#dispatch(now);
  }

  #fits(seats: number): boolean {
    // What is wider than the level has it for itself. A level without seats holds its requests until their time is over.
    return this.seatsInUse + seats <= this.limit || (this.seatsInUse === 0 && this.limit > 0);
  }

  #begin(request: FlowRequest, now: number): true {
    const { queue, seats, schema } = request;
    request.state = 'executing';
    request.startedAt = now;
    this.executing++;
    this.seatsInUse += seats;
    if (seats > 1) this.#wideSeats += seats;
    if (queue !== undefined) {
      if (queue.isIdle) this.#busyQueues++;
      queue.begin(request);
      queue.nextDispatch += seats * ASSUMED_MS;
    }
    const { stats } = schema;
    stats.executing++;
    if (!this.isExempt) this.executingSamples.set(this.executing / Math.max(1, this.limit), now);
    request.kind.begin(now);
    if (request.isCounted) return true;
    request.isCounted = true;
    this.dispatched++;
    stats.dispatched++;
    stats.seats.observe(request.work.seats);
    if (!this.isExempt) stats.waitedToRun.observe((now - request.arrivedAt) / 1000);
    return true;
  }

  #leave(request: FlowRequest, now: number): void {
    const { queue, seats } = request;
    if (!this.isExempt) this.#advance(now);
    const tookMs = now - request.startedAt;
    request.executedMs += tookMs;
    this.executing--;
    this.seatsInUse -= seats;
    if (seats > 1) this.#wideSeats -= seats;
    request.schema.stats.executing--;
    request.kind.end(now);
    if (!this.isExempt) this.executingSamples.set(this.executing / Math.max(1, this.limit), now);
    if (queue === undefined) return;
    queue.end(request);
    queue.nextDispatch += seats * (tookMs - ASSUMED_MS);
    if (queue.isIdle) this.#busyQueues--;
  }

  /** As long as watchers are told of what was written. */
  #keepFinalSeats({ work: { finalSeats, finalMs }, queue }: FlowRequest): void {
    this.seatsInUse += finalSeats;
    if (queue !== undefined) queue.nextDispatch += finalSeats * finalMs;
    const timer = setTimeout(() => {
      this.#advance(performance.now());
      this.seatsInUse -= finalSeats;
      this.#dispatch(performance.now());
    }, finalMs);
    timer.unref();
  }

  #enqueue(request: FlowRequest, queue: FlowQueue<FlowRequest>, now: number): void {
    if (queue.isIdle) this.#busyQueues++;
    if (queue.length === 0) this.#waitingQueues.push(queue);
    queue.push(request);
    request.state = 'waiting';
    this.waiting++;
    this.#waitingSeats += request.seats;
    const { stats } = request.schema;
    stats.waiting++;
    request.kind.wait(1, now);
    stats.queueLength.observe(queue.length);
    this.#sampleWaiting(now);
    this.onWaiting();
  }

  #dequeue(request: FlowRequest, now: number): void {
    const queue = request.queue!;
    queue.remove(request);
    if (queue.length === 0) this.#waitingQueues.splice(this.#waitingQueues.indexOf(queue), 1);
    if (queue.isIdle) this.#busyQueues--;
    this.waiting--;
    this.#waitingSeats -= request.seats;
    request.schema.stats.waiting--;
    request.kind.wait(-1, now);
    this.#sampleWaiting(now);
  }

  #turnAway(request: FlowRequest, reason: Rejection, now: number): void {
    this.#dequeue(request, now);
    request.schema.stats.waitedInVain.observe((now - request.arrivedAt) / 1000);
    this.#reject(request, reason);
    this.#decide(request, false);
  }

  #reject(request: FlowRequest, reason: Rejection): false {
    request.state = 'ended';
    request.rejection = reason;
    this.rejected[reason]++;
    request.schema.stats.rejected[reason]++;
    return false;
  }

  #decide(request: FlowRequest, isAdmitted: boolean): void {
    const { onDecided } = request;
    if (onDecided === undefined) return;
    request.onDecided = undefined;
    // Requests that end let others begin, which may end at once: without the loop turning in between, hundreds would.
    void this.turns.turn(this).then(() => onDecided(isAdmitted));
  }

  #dispatch(now: number): void {
    while (this.waiting > 0) {
      const request = this.#nextThatFits(now);
      if (request === undefined) return;
      this.#dequeue(request, now);
      this.#begin(request, now);
      this.#decide(request, true);
    }
  }

  /**
   * Where wide requests leave too few seats for the next one, which is wide itself, those that need one seat may have what is left: it
   * has to wait for a wide one to end anyway. Where they are what holds it up, they wait behind it.
   */
  #nextThatFits(now: number): FlowRequest | undefined {
    const next = this.#next(now);
    if (next === undefined || this.#fits(next.seats)) return next;
    if (this.seatsInUse >= this.limit) return undefined;
    this.notAccommodated++;
    return this.limit - this.#wideSeats < next.seats ? this.#next(now, 1) : undefined;
  }

  /** The one that would be through first, of those that take no more than so many seats; among equals, queues take turns. */
  #next(now: number, mostSeats = Infinity): FlowRequest | undefined {
    const queues = this.#waitingQueues;
    let best = Infinity;
    let found: number | undefined;
    for (let step = 0; step < queues.length; step++) {
      const index = (this.#robin + step) % queues.length;
      if (queues[index]!.first!.seats > mostSeats) continue;
      const through = queues[index]!.throughAt(now, ASSUMED_MS);
      if (through >= best) continue;
      best = through;
      found = index;
    }
    if (found === undefined) return undefined;
    this.#robin = found + 1;
    return queues[found]!.first;
  }

  #advance(now: number): void {
    const used = Math.min(this.seatsInUse + this.#waitingSeats, this.limit);
    if (this.#busyQueues > 0) this.#progress += ((now - this.#progressAt) * used) / this.#busyQueues;
    this.#progressAt = now;
  }

  #sampleWaiting(now: number): void {
    const { queues = 1, queueLengthLimit = 1 } = this.#queuing ?? {};
    this.waitingSamples.set(this.waiting / (queues * queueLengthLimit), now);
  }

  #forgetIdleQueues(): void {
    for (const [index, queue] of this.#queues) if (queue.isIdle) this.#queues.delete(index);
  }
}

function shortest(hand: readonly FlowQueue<FlowRequest>[]): FlowQueue<FlowRequest> {
  let best = hand[0]!;
  for (let index = 1; index < hand.length; index++) if (hand[index]!.load < best.load) best = hand[index]!;
  return best;
}
