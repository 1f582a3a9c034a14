/** From this share of the limit on, whoever holds much gets no more. */
const TIGHT_SHARE = 0.75;
/** What a connection may hold while memory is tight and still be served. */
const SMALL_BYTES = 256 * 1024;
const CONNECTION_SHARE = 1 / 16;
const MIN_CONNECTION_BYTES = 2 * 1024 * 1024;
const MAX_CONNECTION_BYTES = 16 * 1024 * 1024;

/** Who may be made to wait, and has to say what it holds. */
export interface MemoryHolder {
  /** Nothing more should be begun; {@link room} tells when. */
  readonly isFull: boolean;
  hold(bytes: number): void;
  release(bytes: number): void;
  /** Resolves when something may be begun: one caller at a time, and all when the account is closed. */
  room(): Promise<void>;
}

/**
 * The books of what the server holds for its clients: bytes that they have not taken yet, bodies that it has not worked
 * through. Every connection has an account. Bookkeeping only: what is held is said by whoever holds it.
 *
 * A connection that holds as much as it may is made to wait; one that holds more than a little, while all together hold
 * three quarters of the limit, is refused new requests. At the limit the one that holds most is dropped.
 */
export class MemoryBudget {
  readonly connectionBytes: number;
  readonly #tightBytes: number;
  readonly #accounts = new Set<MemoryAccount>();
  #held = 0;
  #dropped = 0;

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

  /** `drop` ends the connection; its memory counts as released from then on. */
  open(drop: () => void): MemoryAccount {
    const account = new MemoryAccount(this, drop);
    this.#accounts.add(account);
    return account;
  }

  /** For accounts only. */
  change(bytes: number): void {
    const wasTight = this.isTight;
    this.#held += bytes;
    if (this.#held > this.limitBytes) this.#dropWorst();
    if (wasTight && !this.isTight) for (const account of this.#accounts) account.wake();
  }

  /** For accounts only. */
  forget(account: MemoryAccount): void {
    this.#accounts.delete(account);
  }

  #dropWorst(): void {
    while (this.#held > this.limitBytes) {
      const worst = this.#worst();
      if (worst === undefined) return;
      const { bytes } = worst;
      this.#dropped++;
      worst.drop();
      this.onDropped?.(bytes);
    }
  }

  /** Of those that hold nearly as much as the one that holds most, the one that has taken nothing for longest. */
  #worst(): MemoryAccount | undefined {
    let most = 0;
    for (const { bytes } of this.#accounts) most = Math.max(most, bytes);
    let worst: MemoryAccount | undefined;
    for (const account of this.#accounts) {
      if (account.bytes === 0 || 2 * account.bytes < most) continue;
      if (worst === undefined || account.lastReleaseMs < worst.lastReleaseMs) worst = account;
    }
    return worst;
  }
}

/** What one connection has the server hold. */
export class MemoryAccount implements MemoryHolder {
  #bytes = 0;
  #lastReleaseMs = performance.now();
  #waiters: (() => void)[] = [];
  #isWakeDue = false;
  #isClosed = false;
  #leader: object | undefined;

  constructor(
    private readonly budget: MemoryBudget,
    private readonly onDrop: () => void,
  ) {}

  get bytes(): number {
    return this.#bytes;
  }

  get lastReleaseMs(): number {
    return this.#lastReleaseMs;
  }

  get isFull(): boolean {
    return this.#bytes >= this.budget.connectionBytes || (this.budget.isTight && this.#bytes >= SMALL_BYTES);
  }

  hold(bytes: number): void {
    if (this.#isClosed) return;
    this.#bytes += bytes;
    this.budget.change(bytes);
  }

  release(bytes: number): void {
    if (this.#isClosed) return;
    this.#bytes -= bytes;
    this.#lastReleaseMs = performance.now();
    this.budget.change(-bytes);
    this.wake();
  }

  async room(): Promise<void> {
    while (this.isFull && !this.#isClosed) await this.#turn();
  }

  /**
   * As {@link room}, for what has to be completed before anything is released: one of them, the leader, goes on although
   * the account is full, until it calls {@link follow}.
   */
  async roomToGoOn(one: object): Promise<void> {
    while (!this.mayGoOn(one) && !this.#isClosed) await this.#turn();
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
    this.#wakeAll();
  }

  /** The next one that waits has a look, and then the others, as long as there is room. */
  wake(): void {
    if (this.#waiters.length > 0 && !this.isFull) this.#wakeNext();
  }

  /** The connection has ended, and with it all that was held for it. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.budget.forget(this);
    const bytes = this.#bytes;
    this.#bytes = 0;
    this.budget.change(-bytes);
    this.#wakeAll();
  }

  drop(): void {
    this.close();
    this.onDrop();
  }

  #turn(): Promise<void> {
    return new Promise((resolve) => this.#waiters.push(resolve));
  }

  #wakeAll(): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const wake of waiters) wake();
  }

  /** One in a turn of the event loop, as it may take all there is. */
  #wakeNext(): void {
    if (this.#isWakeDue || this.#waiters.length === 0) return;
    this.#isWakeDue = true;
    setImmediate(() => {
      this.#isWakeDue = false;
      this.#waiters.shift()?.();
      // After the one that was woken has taken what it needs.
      setImmediate(() => this.wake());
    });
  }
}
