/** Of so many streams that we reset, frames that were under way are still ignored. */
const REMEMBERED = 1_000;

/** The last streams that we reset, in a ring. */
export class RecentResets {
  readonly #ids: number[] = [];
  #count = 0;

  add(streamId: number): void {
    this.#ids[this.#count++ % REMEMBERED] = streamId;
  }

  has(streamId: number): boolean {
    return this.#ids.includes(streamId);
  }
}
