import type { KubeObject } from '../../api/object';
import { Bitmap } from './bitmap';
import type { StoredRange } from './stored-range';

/** A number may be taken a moment before its object is stored, so that it is a leak only when it is seen this often. */
const SIGHTINGS_OF_LEAK = 3;
/** Writers that come in between make a repair start again. */
const ATTEMPTS = 5;

/** Finds numbers that are noted as taken though no object has them, and those that objects have without a note. */
export class RangeRepair {
  readonly #range: StoredRange;
  readonly #numbersOf: (object: KubeObject) => Iterable<number>;
  #sightings: ReadonlyMap<number, number> = new Map();

  constructor(range: StoredRange, numbersOf: (object: KubeObject) => Iterable<number>) {
    this.#range = range;
    this.#numbersOf = numbersOf;
  }

  /** `list` gives all objects, as of a moment after its call. Throws when others write all the time. */
  async run(list: () => Promise<Iterable<KubeObject>>): Promise<void> {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      let sightings = new Map<number, number>();
      const isDone = await this.#range.rebuild(async (stored) => {
        sightings = new Map();
        return this.#correct(stored, await list(), sightings);
      });
      if (isDone) {
        this.#sightings = sightings;
        return;
      }
    }
    throw new Error('the range was changed by others during each attempt to repair it');
  }

  #correct(stored: Bitmap, objects: Iterable<KubeObject>, sightings: Map<number, number>): Bitmap {
    const used = new Bitmap(stored.size);
    for (const object of objects) for (const number of this.#numbersOf(object)) used.set(number);
    const correct = used.copy();
    for (let number = 0; number < stored.size; number++) {
      if (!stored.has(number) || used.has(number)) continue;
      const seen = (this.#sightings.get(number) ?? 0) + 1;
      if (seen > SIGHTINGS_OF_LEAK) continue;
      sightings.set(number, seen);
      correct.set(number);
    }
    return correct;
  }
}
