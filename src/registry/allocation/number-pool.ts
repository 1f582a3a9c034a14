import { randomInt } from 'node:crypto';
import type { Bitmap } from './bitmap';

export type TakeOutcome = 'taken' | 'occupied' | 'out of range';

/**
 * Numbers of one range, while they are allocated and released. What was taken here can be told from what was taken before,
 * and all of it can be undone.
 */
export class NumberPool {
  readonly #bitmap: Bitmap;
  readonly #taken = new Set<number>();
  readonly #released = new Set<number>();
  #hasMissed = false;

  constructor(bitmap: Bitmap) {
    this.#bitmap = bitmap;
  }

  take(index: number): TakeOutcome {
    if (!Number.isInteger(index) || index < 0 || index >= this.#bitmap.size) return 'out of range';
    if (this.#bitmap.has(index)) return 'occupied';
    this.#mark(index);
    return 'taken';
  }

  /** Any free number, chosen at random so that a number is not soon used again; undefined when none is left. */
  takeAny(): number | undefined {
    if (this.#bitmap.size === 0) return undefined;
    const index = this.#bitmap.nextFree(randomInt(this.#bitmap.size));
    if (index !== undefined) this.#mark(index);
    return index;
  }

  release(index: number): void {
    if (!this.#bitmap.has(index)) {
      this.#hasMissed = true;
      return;
    }
    this.#bitmap.clear(index);
    if (!this.#taken.delete(index)) this.#released.add(index);
  }

  /** Numbers that were free before. */
  get taken(): readonly number[] {
    return [...this.#taken];
  }

  get isChanged(): boolean {
    return this.#taken.size > 0 || this.#released.size > 0;
  }

  /** Something was released that was not taken. */
  get hasMissed(): boolean {
    return this.#hasMissed;
  }

  undo(): void {
    for (const index of this.#taken) this.#bitmap.clear(index);
    for (const index of this.#released) this.#bitmap.set(index);
    this.#taken.clear();
    this.#released.clear();
  }

  #mark(index: number): void {
    this.#bitmap.set(index);
    if (!this.#released.delete(index)) this.#taken.add(index);
  }
}
