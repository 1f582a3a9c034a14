/** A request as its queue sees it. */
export interface QueuedRequest<Request> {
  /** Seats that are kept for it while it is executed. */
  readonly seats: number;
  /** Milliseconds of the monotonic clock. */
  readonly startedAt: number;
  /** Its neighbours while it waits. */
  previous: Request | undefined;
  next: Request | undefined;
}

/** Requests of some flows, in the order in which they came. */
export class FlowQueue<FlowRequest extends QueuedRequest<FlowRequest>> {
  /** Of the longest-waiting request. */
  first: FlowRequest | undefined = undefined;
  #last: FlowRequest | undefined = undefined;
  length = 0;
  /** Of all that wait. */
  waitingSeats = 0;
  executing = 0;
  seatsInUse = 0;
  /**
   * When the next request would begin in a server that had a place for each queue and divided itself evenly among them: in
   * seats times milliseconds that each queue has had ("virtual time").
   */
  nextDispatch = 0;

  /** Of the requests that are executed, their seats times when they began. */
  #begun = 0;

  constructor(readonly index: number) {}

  begin({ seats, startedAt }: FlowRequest): void {
    this.executing++;
    this.seatsInUse += seats;
    this.#begun += seats * startedAt;
  }

  end({ seats, startedAt }: FlowRequest): void {
    this.executing--;
    this.seatsInUse -= seats;
    this.#begun -= seats * startedAt;
  }

  /** When its first request would be through, each lasting for `assumedMs`, and longer where it already has. */
  throughAt(now: number, assumedMs: number): number {
    const overdue = (now - assumedMs) * this.seatsInUse - this.#begun;
    return this.nextDispatch + Math.max(0, overdue) + (this.first?.seats ?? 0) * assumedMs;
  }

  get isIdle(): boolean {
    return this.length === 0 && this.executing === 0;
  }

  /** What a new request has before it. */
  get load(): number {
    return this.waitingSeats + this.seatsInUse;
  }

  push(request: FlowRequest): void {
    request.previous = this.#last;
    if (this.#last === undefined) this.first = request;
    else this.#last.next = request;
    this.#last = request;
    this.length++;
    this.waitingSeats += request.seats;
  }

  /** One that waits in it. */
  remove(request: FlowRequest): void {
    const { previous, next } = request;
    if (previous === undefined) this.first = next;
    else previous.next = next;
    if (next === undefined) this.#last = previous;
    else next.previous = previous;
    request.previous = request.next = undefined;
    this.length--;
    this.waitingSeats -= request.seats;
  }

  *[Symbol.iterator](): Iterator<FlowRequest> {
    for (let request = this.first; request !== undefined; request = request.next) yield request;
  }
}
