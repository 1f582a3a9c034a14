/** Connections that come in as many turns of the loop one after another are many. */
const MANY_TURNS = 4;

/**
 * Whether connections are coming now. Node takes one in a turn of the loop, in the order of the system's queue: while they come turns
 * are to be kept short, so that a client is not behind the work of all that came before it.
 */
export class Arrivals {
  #hasComer = false;
  /** Turns with comers one after another, up to this one. */
  #turns = 0;

  /** One has come in the last turn: there may be more. */
  get areComing(): boolean {
    return this.#turns > 0;
  }

  get areMany(): boolean {
    return this.#turns >= MANY_TURNS;
  }

  /** A connection has come in this turn of the loop. */
  count(): void {
    if (!this.#hasComer && this.#turns === 0) this.#watch();
    this.#hasComer = true;
  }

  #watch(): void {
    setImmediate(() => this.#endTurn());
  }

  #endTurn(): void {
    this.#turns = this.#hasComer ? this.#turns + 1 : 0;
    this.#hasComer = false;
    if (this.#turns > 0) this.#watch();
  }
}
