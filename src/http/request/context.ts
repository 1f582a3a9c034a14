import type { StatusError } from '../../api/errors/status-error';
import type { Steps } from '../../api/parts';
import type { UserInfo } from '../../api/user';
import type { Work } from '../../async/loop-work';
import { Turn, turnToBegin } from '../../async/turn';
import { MemoryBudget } from '../../memory/memory-budget';
import { ConnectionAccounts } from '../transport/connection-accounts';
import type { RequestTrace } from '../../observability/request-trace';
import type { Pace } from '../../registry/types';
import type { Seat } from '../../flowcontrol/seat';
import type { HttpRequest, HttpResponse } from '../transport/exchange';
import { UNREAD, type RequestInfo } from './request-info';
import { RequestMemory } from './request-memory';
import { Warnings } from '../response/warnings';

/** How far the audit log goes into a request. */
export interface AuditedContext {
  /** The answered object is recorded. */
  readonly recordsResponse: boolean;
  /** The head of an answer that lasts has been sent. */
  started(): void;
}

const NO_ANNOTATIONS: ReadonlyMap<string, string> = new Map();

/** Characters of a path or a user's name in the log. */
const MAX_DESCRIBED = 256;
const UNLIMITED = new ConnectionAccounts(new MemoryBudget(Infinity));

/** Of a request that has a place to wait for, and is small itself. */
const WAITING_BYTES = 1024;

/** Where large requests wait until there is room for what is made of them. */
export interface Places {
  acquireFor(context: RequestContext, waitingBytes: number, objectBytes: number): Promise<void>;
}

/**
 * One request on its way through the filters: what each of them found, for those after it. It ends when the answer is
 * written or the client is gone, whichever comes first.
 */
export class RequestContext implements Work, Pace {
  /** Milliseconds of the monotonic clock. */
  readonly receivedAt = performance.now();
  /** Set by the first filter. */
  info: RequestInfo = UNREAD;
  /** Who asks; after impersonation, the impersonated. Set by the authenticate filter. */
  user: UserInfo | undefined;
  /** Who asked, when `user` is impersonated. */
  impersonator: UserInfo | undefined;
  /** The code that was, or is about to be, sent. */
  statusCode = 0;
  /** Bytes of the request's body, once it has been read. */
  requestBytes = 0;
  /** Bytes of the answer's body. */
  responseBytes = 0;
  /** Its place among the requests under way, given back when it ends. Set by flow control. */
  seat: Seat | undefined;
  /** The one that it left to wait for its client. */
  seatLeft: Seat | undefined;
  /** The server refused to work on it, so as not to be overwhelmed. */
  turnedAway = false;
  /** Answers the deadline at once; set by the server. */
  onExpired: ((error: StatusError, isRequested: boolean) => void) | undefined;
  /** Its body is so large that it lets others have their turn between its steps. */
  givesWay = false;
  /** The annotations are recorded; set by the audit filter. */
  audited = false;
  /** Its spans, when it is sampled; set by the filter of that. */
  trace: RequestTrace | undefined;
  /** What the audit log is to know of the request; set by the audit filter where it is to know anything. */
  audit: AuditedContext | undefined;
  /** When its time is over, in milliseconds after it was received. Set by the deadlines. */
  limitMs = Infinity;
  /** The body as it was decoded and the object as it was answered, for the audit log. */
  requestObject: unknown;
  responseObject: unknown;
  /** The JSON of the answer where it was written from stored bytes, for the audit log. */
  responseText = '';
  /** Its answer lasts as long as the client wants. */
  staysOpen = false;
  /** The server failed in an unforeseen way. */
  panicked = false;

  private controller: AbortController | undefined;
  private abortReason: Error | undefined;
  private finishers: (() => void)[] | undefined;
  private heldWarnings: Warnings | undefined;
  private annotations: Map<string, string> | undefined;
  private closed = false;
  private held: RequestMemory | undefined;

  constructor(
    readonly request: HttpRequest,
    readonly response: HttpResponse,
    /** False: what `warn` is told goes nowhere. */
    private readonly sendsWarnings = true,
    private readonly accounts = UNLIMITED,
    /** For large requests; absent: they need none. */
    private readonly places?: Places,
  ) {
    response.on('close', () => this.finish());
    // A write to a connection that has just broken: the client is gone.
    response.on('error', ignore);
  }

  /**
   * Aborts when the client is gone, the deadline has passed or the server ends. Created when first asked for: on Node 20 a
   * signal costs a tenth of a read.
   */
  get signal(): AbortSignal {
    if (this.controller === undefined) {
      this.controller = new AbortController();
      if (this.abortReason !== undefined) this.controller.abort(this.abortReason);
    }
    return this.controller.signal;
  }

  /** It has become a stream, which may be idle for hours: nothing waits for the signal any more, and there is no answer to give. */
  becameStream(): void {
    this.controller = undefined;
    this.onExpired = undefined;
  }

  get aborted(): boolean {
    return this.abortReason !== undefined;
  }

  get reason(): Error | undefined {
    return this.abortReason;
  }

  throwIfAborted(): void {
    if (this.abortReason !== undefined) throw this.abortReason;
  }

  abort(reason: Error): void {
    this.abortReason ??= reason;
    this.controller?.abort(reason);
  }

  /**
   * The deadline has passed: the client is answered with `error`, the work is aborted, a later answer is dropped. An answer that
   * the client is still taking is broken off. `isRequested`: the limit is that of the request, not of the server.
   */
  expire(error: StatusError, isRequested: boolean): void {
    if (this.response.headersSent) this.response.destroy();
    else this.onExpired?.(error, isRequested);
    this.abort(error);
  }

  /** Until its time is over. */
  get timeLeftMs(): number {
    return this.limitMs - (performance.now() - this.receivedAt);
  }

  /** The account of what the server holds for this request. */
  get memory(): RequestMemory {
    if (this.held === undefined) {
      this.held = new RequestMemory(this.accounts.of(this.request.socket));
      if (this.closed) this.held.end();
    }
    return this.held;
  }

  /** The client has so much to take already that nothing more should be made for it; for what is large, all clients have. */
  isHeldBack(isLarge: boolean): boolean {
    const { budget } = this.accounts;
    return !budget.isAtEase && (this.memory.account.isFull || (isLarge && budget.isTight));
  }

  /** Resolves when this may have changed. */
  async room(isLarge: boolean): Promise<void> {
    const { account } = this.memory;
    if (!isLarge) return account.room();
    await account.largeRoom();
    // There may be room for many connections at once.
    await turnToBegin(this);
    await account.room();
  }

  /** Memory is tight, and the connection holds more of it than a little. */
  get isUnderPressure(): boolean {
    return this.accounts.budget.isTight && this.memory.account.isUnderPressure;
  }

  /** The connection has ended, with or without a whole answer. */
  get finished(): boolean {
    return this.closed;
  }

  /** Runs once, when the answer is written or the client is gone; in reverse order of registration. */
  onFinished(finisher: () => void): void {
    (this.finishers ??= []).push(finisher);
  }

  get warnings(): readonly string[] {
    return this.heldWarnings?.texts ?? [];
  }

  /** A `Warning` header of the answer; the same text is sent once. */
  warn(text: string): void {
    if (this.sendsWarnings) (this.heldWarnings ??= new Warnings()).add(text);
  }

  get auditAnnotations(): ReadonlyMap<string, string> {
    return this.annotations ?? NO_ANNOTATIONS;
  }

  annotate(key: string, value: string): void {
    if (this.audited) (this.annotations ??= new Map()).set(key, value);
  }

  beginLarge(objectBytes: number): Promise<void> {
    // What waits is a small body.
    return this.givesWay ? Promise.resolve() : this.acquirePlace(WAITING_BYTES, objectBytes);
  }

  /**
   * Waits for a place among large requests: `waitingBytes` are held meanwhile, an object of `objectBytes` is worked on. From then
   * on the request gives way between its steps. A request has one place, however many large things it meets. Throws a 429.
   */
  async acquirePlace(waitingBytes: number, objectBytes: number): Promise<void> {
    if (!this.givesWay) await this.places?.acquireFor(this, waitingBytes, objectBytes);
    this.givesWay = true;
    await new Turn(this).next();
    if (this.closed) throw new ClientGoneError();
  }

  /**
   * Takes the steps of a large request's work in turns with others, from the next turn on. Rejects when the client does not wait
   * for the response any more.
   */
  async takeSteps<Result>(steps: Steps<Result>): Promise<Result> {
    const turn = new Turn(this);
    for (;;) {
      await turn.next();
      if (this.closed) throw new ClientGoneError();
      do {
        const step = steps.next();
        if (step.done === true) return step.value;
      } while (!turn.isOver);
    }
  }

  get workOwner(): string {
    return this.user?.name ?? '';
  }

  /** For the log, when it has held the event loop. */
  describeWork(): Readonly<Record<string, unknown>> {
    const { verb, path } = this.info;
    const bytes = Number(this.request.headers['content-length'] ?? 0);
    const { statusCode, responseBytes } = this;
    const user = this.user?.name.slice(0, MAX_DESCRIBED);
    return { verb, path: path.slice(0, MAX_DESCRIBED), user, bytes, statusCode, responseBytes };
  }

  private finish(): void {
    if (this.closed) return;
    this.closed = true;
    if (!this.response.writableFinished) this.abort(CLIENT_GONE);
    this.seat?.release();
    this.seatLeft?.abandon();
    this.seat = this.seatLeft = undefined;
    this.held?.end();
    for (let index = (this.finishers?.length ?? 0) - 1; index >= 0; index--) this.finishers?.[index]?.();
  }
}

function ignore(): void {}

/** The client closed the connection before it had its answer. */
export class ClientGoneError extends Error {
  constructor() {
    super('the client closed the connection');
    this.name = 'ClientGoneError';
  }
}

/** One for all: a client that closes its connection may end hundreds of requests, and a stack trace says nothing about any of them. */
const CLIENT_GONE = new ClientGoneError();
