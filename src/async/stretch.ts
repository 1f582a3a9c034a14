/** How long the event loop has been at works of a kind since it turned. */
export class Stretch {
  #began: number | undefined;

  /** When the first of them began, in milliseconds of the monotonic clock; now, if this is the first. */
  get began(): number {
    if (this.#began === undefined) {
      this.#began = performance.now();
      setImmediate(() => {
        this.#began = undefined;
      });
    }
    return this.#began;
  }
}
