import { pacedEnds } from '../async/paced-ends';
import { TurnQueue } from '../async/turn-queue';

/** From this share of the limit on memory is tight. */
const TIGHT_SHARE = 0.75;
/** What a connection may hold while memory is tight and still be served. */
const SMALL_BYTES = 256 * 1024;
const CONNECTION_SHARE = 1 / 16;
const MIN_CONNECTION_BYTES = 2 * 1024 * 1024;
const MAX_CONNECTION_BYTES = 16 * 1024 * 1024;
/** While memory is tight, connections that take nothing for so long are dropped until it is not. */
const STALL_MS = 5_000;
const STALL_CHECK_MS = 1_000;
/** A connection that has taken nothing for so long is dropped before others at the limit: they may only have come at the wrong moment. */
const SLOW_MS = 1_000;
/** Everybody is taken to have waited for so long, so that large holders who take a little now and then are not spared. */
const MOMENT_MS = 100;
/** While memory is tight, how long a large answer waits for others to be taken. */
const LONGEST_WAIT_MS = 1_000;

/** What a connection is given at a time, while there are few and while there are many. */
const LARGE_PIECE_BYTES = 1024 * 1024;
const SMALL_PIECE_BYTES = 256 * 1024;

/** What may be made to wait, and has to say what it holds. */
export interface MemoryHolder {
  hold(bytes: number): void;
  release(bytes: number): void;
}

/** What is held for a connection. */
export interface ConnectionMemory extends MemoryHolder {
  /** How much may be handed to it at a time. */
  readonly pieceBytes: number;
}

/**
 * The books of what the server holds for its clients: bytes that they have not taken yet, bodies that it has not worked
 * through. Every connection has an account. Bookkeeping only: what is held is said by its holder.
 *
 * A connection that holds as much as it may is made to wait. When all together hold three quarters of the limit, large
 * answers wait, connections that hold more than a little and take nothing are refused new requests, and those that have taken nothing for
 * some seconds are dropped. At the limit the one that holds most for longest is dropped at once.
 */
export class MemoryBudget {
  readonly connectionBytes: number;
  /** Of large answers, which go on after a moment although memory is tight. */
  readonly queue = new TurnQueue({ mayGoOn: () => !this.isTight });
  /** Where requests are told in turns that they were given up: hundreds may end with a connection, and hold memory until they know. */
  readonly ends = pacedEnds();
  readonly #tightBytes: number;
  readonly #accounts = new Set<MemoryAccount>();
  #held = 0;
  #dropped = 0;
  #stallChecks: NodeJS.Timeout | undefined;

  constructor(
    readonly limitBytes: number,
    /** An account was dropped that held so much. */
    private readonly onDropped?: (bytes: number) => void,
  ) {
    this.connectionBytes = Math.min(
      MAX_CONNECTION_BYTES,
      Math.max(MIN_CONNECTION_BYTES, Math.floor(limitBytes * CONNECTION_SHARE)),
    );
    this.#tightBytes = limitBytes * TIGHT_SHARE;
  }

  /** By all accounts together. */
  get heldBytes(): number {
    return this.#held;
  }

  get droppedAccounts(): number {
    return this.#dropped;
  }

  get openAccounts(): number {
    return this.#accounts.size;
  }

  get isTight(): boolean {
    return this.#held >= this.#tightBytes;
  }

  /** So little is held that no account can be full: what every request may ask at no cost. */
  get isAtEase(): boolean {
    return this.#held < this.connectionBytes && this.#held < this.#tightBytes;
  }

  /**
   * How much a connection may be given at a time: TLS copies it, and keeps memory of the size of the last writes for as long as the
   * connection lasts. Large pieces cost a tenth less, and are for as many connections as may keep so much.
   */
  get pieceBytes(): number {
    return this.#accounts.size * LARGE_PIECE_BYTES <= this.limitBytes ? LARGE_PIECE_BYTES : SMALL_PIECE_BYTES;
  }

  /** `drop` ends the connection; its memory counts as released from then on. */
  open(drop: () => void): MemoryAccount {
    const account = new MemoryAccount(this, drop);
    this.#accounts.add(account);
    return account;
  }

  /** For accounts only. */
  change(bytes: number): void {
    this.#held += bytes;
    if (this.#held > this.limitBytes) this.#dropUntilWithin();
    if (this.isTight) {
      this.#stallChecks ??= setInterval(() => this.#dropStalled(), STALL_CHECK_MS).unref();
    } else if (this.#stallChecks !== undefined) {
      clearInterval(this.#stallChecks);
      this.#stallChecks = undefined;
      this.queue.wake();
    }
  }

  /** For accounts only. */
  forget(account: MemoryAccount): void {
    this.#accounts.delete(account);
  }

  #dropUntilWithin(): void {
    const slowSince = performance.now() - SLOW_MS;
    while (this.#held > this.limitBytes && (this.#dropWorst(slowSince) || this.#dropWorst(Infinity)));
  }

  /** One in a turn of the event loop: hundreds of requests may end with each. */
  #dropStalled(): void {
    if (this.isTight && this.#dropWorst(performance.now() - STALL_MS)) setImmediate(() => this.#dropStalled());
  }

  /** Returns false when there was none that had taken nothing since then. */
  #dropWorst(since: number): boolean {
    const worst = this.#worst(since);
    if (worst === undefined) return false;
    const { bytes } = worst;
    this.#dropped++;
    worst.drop();
    this.onDropped?.(bytes);
    return true;
  }

  /**
   * The one that holds most for longest: what it holds times how long it has taken nothing. A large answer that has just begun
   * does not count, nor does a little that waits.
   */
  #worst(since: number): MemoryAccount | undefined {
    const now = performance.now();
    let worst: MemoryAccount | undefined;
    let most = 0;
    for (const account of this.#accounts) {
      const { bytes, lastReleaseMs } = account;
      if (lastReleaseMs >= since) continue;
      const weight = bytes * (now - lastReleaseMs + MOMENT_MS);
      if (weight <= most) continue;
      worst = account;
      most = weight;
    }
    return worst;
  }
}

/** What one connection has the server hold. */
export class MemoryAccount implements ConnectionMemory {
  #bytes = 0;
  #lastReleaseMs = performance.now();
  /** Of those that wait for room, of which most connections have none. */
  #waiting: TurnQueue | undefined;
  #isClosed = false;
  #leader: object | undefined;
  #serversTurns = 0;

  constructor(
    private readonly budget: MemoryBudget,
    private readonly onDrop: () => void,
  ) {}

  get bytes(): number {
    return this.#bytes;
  }

  get pieceBytes(): number {
    return this.budget.pieceBytes;
  }

  /** Milliseconds of the monotonic clock: when it last released anything, or began to hold; now while it is for the server to go on. */
  get lastReleaseMs(): number {
    return this.#serversTurns > 0 ? performance.now() : this.#lastReleaseMs;
  }

  /** The client has done what it had to for one of its requests, until {@link endServersTurn}: what is held is not its doing. */
  beginServersTurn(): void {
    this.#serversTurns++;
  }

  endServersTurn(): void {
    this.#serversTurns--;
    this.#lastReleaseMs = performance.now();
  }

  /** The connection holds as much as it may. */
  get isFull(): boolean {
    return this.#bytes >= this.budget.connectionBytes;
  }

  /** Memory is tight, and that is this connection's doing, too: it holds more than a little, and has taken nothing for a while. */
  get isUnderPressure(): boolean {
    return this.budget.isTight && this.#bytes >= SMALL_BYTES && performance.now() - this.lastReleaseMs >= SLOW_MS;
  }

  /** `sinceMs`: for what is written down later than it came, when it may have come, as {@link lastReleaseMs}. */
  hold(bytes: number, sinceMs = performance.now()): void {
    if (this.#isClosed) return;
    if (this.#bytes === 0) this.#lastReleaseMs = sinceMs;
    this.#bytes += bytes;
    this.budget.change(bytes);
  }

  release(bytes: number): void {
    if (this.#isClosed) return;
    this.#bytes -= bytes;
    this.#lastReleaseMs = performance.now();
    this.budget.change(-bytes);
    this.#waiting?.wake();
  }

  get #queue(): TurnQueue {
    return (this.#waiting ??= new TurnQueue({ mayGoOn: () => !this.isFull }));
  }

  /** Resolves when the connection may hold more, or has ended. */
  async room(): Promise<void> {
    while (this.isFull && !this.#isClosed) await this.#queue.turn(this);
  }

  /**
   * As {@link room}, for what is large: that waits for memory that is not tight, too, but only for a moment. Then those that
   * wait go on one by one, and at the limit a connection is dropped that has taken nothing for longer.
   */
  async largeRoom(): Promise<void> {
    await this.room();
    if (!this.budget.isTight || this.#isClosed) return;
    await this.budget.queue.turnWithin(this, LONGEST_WAIT_MS);
    await this.room();
  }

  /**
   * As {@link room}, for what has to be completed before anything is released: one of them, the leader, goes on although
   * the account is full, until it calls {@link follow}.
   */
  async roomToGoOn(one: object): Promise<void> {
    while (!this.mayGoOn(one) && !this.#isClosed) await this.#queue.turn(this);
  }

  mayGoOn(one: object): boolean {
    if (!this.isFull) return true;
    this.#leader ??= one;
    return this.#leader === one;
  }

  /** Leaves the lead, if it has it, to the next one that asks. */
  follow(one: object): void {
    if (this.#leader !== one) return;
    this.#leader = undefined;
    this.#waiting?.wakeAll();
  }

  /** The connection has ended, and with it all that was held for it. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.budget.forget(this);
    const bytes = this.#bytes;
    this.#bytes = 0;
    this.budget.change(-bytes);
    const left = [...(this.#waiting?.leave(this) ?? []), ...this.budget.queue.leave(this)];
    for (const goOn of left) this.budget.ends.beginOrWait(this, goOn);
  }

  drop(): void {
    this.close();
    this.onDrop();
  }
}
