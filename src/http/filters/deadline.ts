import { timeout } from '../../api/errors/status-error';
import { DurationError, formatDuration, parseDuration } from '../../api/time/duration';
import type { UserInfo } from '../../api/user';
import type { Seats } from '../../flowcontrol/max-in-flight';
import type { RequestContext } from '../request/context';

/** What a create, update, patch or delete may take unless it says otherwise. */
const DEFAULT_WRITE_TIMEOUT_MS = 34_000;
const NANOS_PER_MS = 1e6;
const WRITE_VERBS: ReadonlySet<string> = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);
const STREAMING_SUBRESOURCES: ReadonlySet<string> = new Set(['attach', 'exec', 'proxy', 'log', 'portforward']);

/** Requests that last as long as the client wants: no deadline, no seat in flow control. */
export function isLongRunning({ info }: RequestContext): boolean {
  return (
    info.isResourceRequest &&
    (info.verb === 'watch' || info.verb === 'proxy' || STREAMING_SUBRESOURCES.has(info.subresource))
  );
}

/** How late the end of a request may be. */
const TICK_MS = 100;

/** A client that takes the next part of its answer no sooner takes its time. */
const STALL_MS = 1000;

/** What a client may take for the answer that its time is over. */
const LAST_RESPONSE_MS = 10_000;

interface Deadline {
  readonly context: RequestContext;
  limitMs: number;
  /** When the limit is reached, in milliseconds of the monotonic clock. */
  dueMs: number;
  /** The request has it for itself: it is shorter than the server's. */
  readonly isRequested: boolean;
  /** Where it stands among the pending ones. */
  index: number;
  /** What its connection had been handed at the last look, and when that last changed. */
  handedBytes: number;
  handedAt: number;
}

/**
 * Ends requests that take too long: they are aborted, and the funnel answers 504. `timeout` of the query shortens the
 * limit, junk is ignored. One timer looks after all requests under way, since nearly none of them needs it: a timer for
 * each costs more than all of the routing.
 */
export class Deadlines {
  /**
   * In no order. Not a set: those that come and go with each request leave tables behind that point to the next one, and
   * through it to all requests since the last full collection.
   */
  readonly #pending: Deadline[] = [];
  #ticks: NodeJS.Timeout | undefined;

  constructor(
    private readonly requestTimeoutMs: number,
    /** The client has taken nothing of its answer for a while. Told again with each look. */
    private readonly onStalled: (context: RequestContext) => void = () => undefined,
  ) {}

  start(context: RequestContext): void {
    if (isLongRunning(context)) {
      // As long as it wants; only what is left of the answer at its end has to be taken in time.
      context.response.on('prefinish', () => this.#add(context, elapsedMs(context) + this.requestTimeoutMs, false));
      return;
    }
    const wanted = wantedMs(context) ?? this.requestTimeoutMs;
    context.limitMs = Math.min(wanted, this.requestTimeoutMs);
    this.#add(context, context.limitMs, wanted < this.requestTimeoutMs);
  }

  /** The requests under way that do not last. */
  *pending(): Iterable<RequestContext> {
    for (const { context } of this.#pending) yield context;
  }

  #add(context: RequestContext, limitMs: number, isRequested: boolean): void {
    if (context.finished) return;
    const dueMs = context.receivedAt + limitMs;
    const deadline = {
      context,
      limitMs,
      dueMs,
      isRequested,
      index: this.#pending.length,
      handedBytes: -1,
      handedAt: 0,
    };
    this.#pending.push(deadline);
    context.onFinished(() => this.#remove(deadline));
    this.#ticks ??= setInterval(() => this.#sweep(), TICK_MS);
  }

  #lookForStall(deadline: Deadline, now: number): void {
    const { bytesWritten } = deadline.context.request.socket;
    if (bytesWritten !== deadline.handedBytes) {
      deadline.handedBytes = bytesWritten;
      deadline.handedAt = now;
    } else if (now - deadline.handedAt >= STALL_MS) {
      this.onStalled(deadline.context);
    }
  }

  /** How many seats the requests of a user have. */
  readonly seatsOf = (user: UserInfo, seats: Seats): number => {
    let count = 0;
    for (const { context } of this.#pending) if (context.seat === seats && context.user?.name === user.name) count++;
    return count;
  };

  /** The last one takes the place of the one that goes. */
  #remove(deadline: Deadline): void {
    if (this.#pending[deadline.index] !== deadline) return;
    const last = this.#pending.pop()!;
    if (last === deadline) return;
    last.index = deadline.index;
    this.#pending[last.index] = last;
  }

  #sweep(): void {
    const now = performance.now();
    // From the end on: one that goes leaves its place to one that was looked at.
    for (let index = this.#pending.length - 1; index >= 0; index--) {
      const deadline = this.#pending[index];
      // More than one have gone.
      if (deadline === undefined) continue;
      const { context, limitMs } = deadline;
      if (context.response.headersSent) this.#lookForStall(deadline, now);
      if (now < deadline.dueMs || context.staysOpen) continue;
      deadline.limitMs += LAST_RESPONSE_MS;
      deadline.dueMs += LAST_RESPONSE_MS;
      const limit = formatDuration(BigInt(Math.round(limitMs * NANOS_PER_MS)));
      const words = deadline.isRequested
        ? 'request did not complete within requested timeout'
        : 'request did not complete within';
      context.expire(timeout(`${words} ${limit}`), deadline.isRequested);
    }
    if (this.#pending.length > 0) return;
    clearInterval(this.#ticks);
    this.#ticks = undefined;
  }
}

function elapsedMs({ receivedAt }: RequestContext): number {
  return performance.now() - receivedAt;
}

function wantedMs({ info }: RequestContext): number | undefined {
  const text = info.query.first('timeout');
  const wanted = text === undefined ? undefined : milliseconds(text);
  if (wanted !== undefined && wanted > 0) return wanted;
  return info.isResourceRequest && WRITE_VERBS.has(info.verb) ? DEFAULT_WRITE_TIMEOUT_MS : undefined;
}

/** Undefined for what is no duration. */
function milliseconds(text: string): number | undefined {
  try {
    return Number(parseDuration(text)) / NANOS_PER_MS;
  } catch (error) {
    if (error instanceof DurationError) return undefined;
    throw error;
  }
}
