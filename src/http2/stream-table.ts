/**
 * The open streams by their numbers, which only rise. An array and not a map: there are few as a rule, and the tables that
 * a map leaves behind keep each other alive, with the calls in them.
 */
export class StreamTable<Stream extends { readonly id: number }> {
  readonly #streams: Stream[] = [];

  get size(): number {
    return this.#streams.length;
  }

  /** In the order of their numbers. Not to be continued after a change. */
  [Symbol.iterator](): Iterator<Stream> {
    return this.#streams.values();
  }

  /** Its number is above all others. */
  add(stream: Stream): void {
    this.#streams.push(stream);
  }

  get(id: number): Stream | undefined {
    const stream = this.#streams[this.#indexOf(id)];
    return stream?.id === id ? stream : undefined;
  }

  /** False when it was not there. */
  delete(id: number): boolean {
    const index = this.#indexOf(id);
    if (this.#streams[index]?.id !== id) return false;
    this.#streams.splice(index, 1);
    return true;
  }

  /** All of them, which are not there any more. */
  takeAll(): readonly Stream[] {
    return this.#streams.splice(0);
  }

  /** Where the number is, or would be. */
  #indexOf(id: number): number {
    let low = 0;
    let high = this.#streams.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#streams[middle]!.id < id) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
