/** How long all together may go on in a turn of the event loop before the rest has to wait for the next one. */
const TURN_MS = 4;
/** Those of a rank that have waited for longer have the next turn, whatever those before them do; but not each turn. */
const LONGEST_PATIENCE_MS = 10;

/** The lower goes first, but not for ever. */
export type Rank = 0 | 1 | 2;
const RANKS: readonly Rank[] = [0, 1, 2];

export interface TurnTaker {
  readonly rank: Rank;
  /** Works that wait for their turn; 0: it only wants to know that the loop has turned. */
  readonly waiting: number;
  /** The loop has turned. */
  onTurn(): void;
}

/** Those that share turns of the event loop: who finds that others have used one up comes in the next, before those that had their turn. */
export class SharedTurns {
  /** The longest waiting first. */
  readonly #due = new Set<TurnTaker>();
  #isWatching = false;
  /** The turn was given to those that had waited for longest: the next one is not, where turns take longer than anybody's patience. */
  #gaveWay = false;
  /** When there was nobody else: who came then has not waited longer. */
  #aloneMs = -Infinity;
  /** When one of each rank had its turn. */
  readonly #turnMs: Record<Rank, number> = { 0: -Infinity, 1: -Infinity, 2: -Infinity };

  /** Its `onTurn` is called once, in the next turn of the loop or in a later one. */
  await(taker: TurnTaker): void {
    if (this.#due.size === 0) this.#aloneMs = performance.now();
    this.#due.add(taker);
    this.#watch();
  }

  #watch(): void {
    if (this.#isWatching) return;
    this.#isWatching = true;
    setImmediate(() => this.#onTurn());
  }

  #onTurn(): void {
    this.#isWatching = false;
    if (!this.#hasWork()) return this.#tellAll();
    const began = performance.now();
    for (const taker of this.#inOrder(began)) {
      this.#due.delete(taker);
      // First, lest one that throws leaves the others waiting for ever.
      if (this.#due.size > 0) this.#watch();
      this.#turnMs[taker.rank] = began;
      taker.onTurn();
      if (performance.now() - began >= TURN_MS) break;
    }
  }

  #hasWork(): boolean {
    for (const taker of this.#due) if (taker.waiting > 0) return true;
    return false;
  }

  /** In whichever order: it takes no time. So it is after most requests of a server that is not busy. */
  #tellAll(): void {
    for (const taker of this.#due) {
      this.#due.delete(taker);
      taker.onTurn();
    }
  }

  #inOrder(nowMs: number): readonly TurnTaker[] {
    const due = [...this.#due];
    if (due.length === 1) return due;
    const ranked = RANKS.map((rank) => due.filter((taker) => taker.rank === rank));
    if (this.#gaveWay && ranked[0]!.some(({ waiting }) => waiting > 0)) {
      this.#gaveWay = false;
      return ranked.flat();
    }
    const sinceMs = (rank: Rank): number => Math.max(this.#turnMs[rank], this.#aloneMs);
    const late = RANKS.filter((rank) => nowMs - sinceMs(rank) > LONGEST_PATIENCE_MS && ranked[rank]!.length > 0);
    this.#gaveWay = late.length > 0;
    late.sort((one, other) => sinceMs(one) - sinceMs(other) || other - one);
    return [...late.flatMap((rank) => ranked[rank]!.splice(0, 1)), ...ranked.flat()];
  }
}
