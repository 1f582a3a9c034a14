/** What a start has begun, in order; closed in reverse order, once. Of several failures the first is told. */
export class CloseStack {
  readonly #closers: (() => void | Promise<void>)[] = [];
  #closed: Promise<void> | undefined;

  add(close: () => void | Promise<void>): void {
    this.#closers.push(close);
  }

  /** A second call waits for the first. */
  readonly close = (): Promise<void> => (this.#closed ??= this.#closeAll());

  async #closeAll(): Promise<void> {
    const failures: unknown[] = [];
    for (let close = this.#closers.pop(); close !== undefined; close = this.#closers.pop()) {
      try {
        await close();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}
