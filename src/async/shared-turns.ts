/** How long all together may go on in a turn of the event loop before the rest has to wait for the next one. */
const TURN_MS = 4;
/** The patient have their turn this often, whatever the others do. */
const LONGEST_PATIENCE_MS = 10;

export interface TurnTaker {
  /** Lets the others go first, but not for ever. */
  readonly isPatient: boolean;
  /** The loop has turned. */
  onTurn(): void;
}

/** Those that share turns of the event loop: who finds that others have used one up comes in the next, before those that had their turn. */
export class SharedTurns {
  /** The longest waiting first. */
  readonly #due = new Set<TurnTaker>();
  #isWatching = false;
  /** When one of the patient had its turn. */
  #patientTurnMs = -Infinity;

  /** Its `onTurn` is called once, in the next turn of the loop or in a later one. */
  await(taker: TurnTaker): void {
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
    const began = performance.now();
    for (const taker of this.#inOrder(began)) {
      this.#due.delete(taker);
      // First, lest one that throws leaves the others waiting for ever.
      if (this.#due.size > 0) this.#watch();
      if (taker.isPatient) this.#patientTurnMs = began;
      taker.onTurn();
      if (performance.now() - began >= TURN_MS) break;
    }
  }

  #inOrder(nowMs: number): readonly TurnTaker[] {
    const due = [...this.#due];
    if (due.length === 1) return due;
    const patient = due.filter(({ isPatient }) => isPatient);
    const others = due.filter(({ isPatient }) => !isPatient);
    const late = nowMs - this.#patientTurnMs > LONGEST_PATIENCE_MS ? patient.splice(0, 1) : [];
    return [...late, ...others, ...patient];
  }
}
