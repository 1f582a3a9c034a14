/** What a fixture has started, ended in reverse order: when starting fails half-way, or with the fixture. */
export class Parts implements AsyncDisposable {
  #ends: (() => Promise<unknown>)[] = [];

  use<T extends AsyncDisposable>(part: T): T {
    this.defer(async () => part[Symbol.asyncDispose]());
    return part;
  }

  defer(end: () => Promise<unknown>): void {
    this.#ends.push(end);
  }

  /** Everything so far belongs to the one returned. */
  move(): Parts {
    const moved = new Parts();
    moved.#ends = this.#ends;
    this.#ends = [];
    return moved;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (let end = this.#ends.pop(); end !== undefined; end = this.#ends.pop()) await end();
  }
}
