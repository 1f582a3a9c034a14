import type { Revision, Store, StoredValue } from '../../storage/store';
import { Bitmap } from './bitmap';
import { NumberPool } from './number-pool';

/** The wire's RangeAllocation, v1; `data` is base64. */
export interface RangeAllocation {
  readonly range: string;
  readonly data: string;
}

export interface StoredRangeOptions {
  readonly store: Store;
  readonly key: string;
  /** How the range is written in the object: `10.0.0.0/24`, `30000-32767`. */
  readonly range: string;
  /** How many numbers it has. */
  readonly size: number;
  /** Reads a RangeAllocation, ours or kube-apiserver's. */
  readonly decode: (value: Buffer) => RangeAllocation;
}

/** What stands in the store, as far as this replica knows. */
interface State {
  readonly bitmap: Bitmap;
  /** Undefined: there is no such object yet. */
  readonly revision: Revision | undefined;
}

interface Request {
  readonly run: (pool: NumberPool) => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Numbers that are given out once, by all replicas together. The taken ones stand in one object, which is changed by
 * comparing its revision, so that no two replicas ever give out the same. Requests that come while a write is under way
 * share the next one.
 */
export class StoredRange {
  readonly #options: StoredRangeOptions;
  #known: State | undefined;
  #queue: Request[] = [];
  #isWriting = false;

  constructor(options: StoredRangeOptions) {
    this.#options = options;
  }

  /**
   * Lets `run` take and release numbers, and stores what it did. `run` may be called again when another replica was
   * faster; what it throws is thrown here, with nothing taken.
   */
  change<T>(run: (pool: NumberPool) => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ run, resolve: resolve as (value: unknown) => void, reject });
      if (!this.#isWriting) void this.#writeQueue();
    });
  }

  /** The same without storing anything. */
  async preview<T>(run: (pool: NumberPool) => T): Promise<T> {
    return run(new NumberPool((await this.#read()).bitmap));
  }

  /**
   * Brings the object in line with the numbers that are really in use: `correct` gets the bitmap as it stands, and
   * gives the right one. Returns false when numbers were allocated or released meanwhile; nothing is stored then.
   */
  async rebuild(correct: (bitmap: Bitmap) => Promise<Bitmap>): Promise<boolean> {
    const stored = await this.#options.store.get(this.#options.key);
    const bitmap = await correct(this.#bitmapOf(stored));
    if (stored !== undefined && this.#isAs(stored, bitmap)) return true;
    return (await this.#put(bitmap, stored?.revision)) === undefined;
  }

  async #writeQueue(): Promise<void> {
    this.#isWriting = true;
    try {
      while (this.#queue.length > 0) {
        const requests = this.#queue;
        this.#queue = [];
        try {
          await this.#write(requests);
        } catch (error) {
          this.#known = undefined;
          for (const { reject } of requests) reject(error);
        }
      }
    } finally {
      this.#isWriting = false;
    }
  }

  async #write(requests: readonly Request[]): Promise<void> {
    let isFresh = this.#known === undefined;
    let state = this.#known ?? (await this.#read());
    for (;;) {
      const bitmap = state.bitmap.copy();
      const responses = requests.map((request) => respond(request, bitmap));
      // Only the newest state counts: another replica may have released what is wanted, or taken what is given back.
      if (!isFresh && responses.some(({ isDoubtful }) => isDoubtful)) {
        state = await this.#read();
        isFresh = true;
        continue;
      }
      if (responses.some(({ isChange }) => isChange)) {
        const lost = await this.#put(bitmap, state.revision);
        if (lost !== undefined) {
          state = lost;
          isFresh = true;
          continue;
        }
      } else this.#known = state;
      for (const { settle } of responses) settle();
      return;
    }
  }

  /** Undefined when it was written; else what stands there instead. */
  async #put(bitmap: Bitmap, expected: Revision | undefined): Promise<State | undefined> {
    const { store, key, range } = this.#options;
    const metadata = { creationTimestamp: null };
    const data = bitmap.toBigEndian().toString('base64');
    const value = Buffer.from(JSON.stringify({ kind: 'RangeAllocation', apiVersion: 'v1', metadata, range, data }));
    const outcome = expected === undefined ? await store.create(key, value) : await store.update(key, value, expected);
    if (outcome.ok) {
      this.#known = { bitmap, revision: outcome.revision };
      return undefined;
    }
    return { bitmap: this.#bitmapOf(outcome.current), revision: outcome.current?.revision };
  }

  #isAs(stored: StoredValue, bitmap: Bitmap): boolean {
    const { range, data } = this.#options.decode(stored.value);
    return range === this.#options.range && data === bitmap.toBigEndian().toString('base64');
  }

  async #read(): Promise<State> {
    const stored = await this.#options.store.get(this.#options.key);
    return { bitmap: this.#bitmapOf(stored), revision: stored?.revision };
  }

  /** Another range than ours says nothing of our numbers: the flag was changed, and the repair is about to follow. */
  #bitmapOf(stored: StoredValue | undefined): Bitmap {
    const { size, range, decode } = this.#options;
    if (stored === undefined) return new Bitmap(size);
    const allocation = decode(stored.value);
    return allocation.range === range
      ? Bitmap.fromBigEndian(size, Buffer.from(allocation.data, 'base64'))
      : new Bitmap(size);
  }
}

interface Response {
  /** It would perhaps be another one if more were known. */
  readonly isDoubtful: boolean;
  readonly isChange: boolean;
  readonly settle: () => void;
}

function respond({ run, resolve, reject }: Request, bitmap: Bitmap): Response {
  const pool = new NumberPool(bitmap);
  try {
    const value = run(pool);
    return { isDoubtful: pool.hasMissed, isChange: pool.isChanged, settle: () => resolve(value) };
  } catch (error) {
    pool.undo();
    return { isDoubtful: true, isChange: false, settle: () => reject(error) };
  }
}
