import type { Steps } from '../../api/parts';
import { stepsInTurns } from '../../async/steps';
import { Turn } from '../../async/turn';
import type { WatchItem } from '../../registry/types';
import type { CacheEntry } from '../../storage/cache/cache';
import type { WatchEncoder } from './watch-encoder';

/**
 * Bytes of an object from which on its events are made a part at a time; where each stream has its own, these are what of all together
 * is made at once.
 */
const LARGE_ENTRY_BYTES = 64 * 1024;

type Pending = WeakMap<CacheEntry, Promise<void>>;

/** What is under way, by the encoder and the entry: streams that share an encoder wait for the same. */
const underWay = new WeakMap<WatchEncoder, Pending>();

/**
 * Makes of large objects what their events need, one after the other and in turns with others. Undefined: there is nothing to wait
 * for. Never rejects: asking for the event meets what goes wrong.
 */
export function prepareEvents(items: readonly WatchItem[], encoder: WatchEncoder): Promise<void> | undefined {
  let together = 0;
  const { weight } = encoder;
  let preparing: Preparation | undefined;
  for (const item of items) {
    if (item.type === 'BOOKMARK') continue;
    const { size } = item.entry;
    if (weight === undefined ? size <= LARGE_ENTRY_BYTES : (together += size * weight) <= LARGE_ENTRY_BYTES) continue;
    preparing ??= new Preparation(encoder);
    preparing.add(item);
  }
  return preparing?.done;
}

class Preparation {
  /** Undefined: there is nothing to wait for. */
  done: Promise<void> | undefined;
  readonly #turn = new Turn('large events');
  readonly #pending: Pending;

  constructor(private readonly encoder: WatchEncoder) {
    this.#pending = underWay.get(encoder) ?? new WeakMap();
    underWay.set(encoder, this.#pending);
  }

  add({ type, entry }: Exclude<WatchItem, { type: 'BOOKMARK' }>): void {
    let one = this.#pending.get(entry);
    if (one === undefined) {
      const steps = this.encoder.prepare?.(type, entry);
      if (steps === undefined) return;
      one = this.#take(steps, this.done).finally(() => this.#pending.delete(entry));
      this.#pending.set(entry, one);
    }
    const others = this.done;
    const last = one;
    this.done = others === undefined ? last : others.then(() => last);
  }

  /** In a turn of its own from the beginning: many streams may have something to prepare at the same time. */
  async #take(steps: Steps<void>, before: Promise<void> | undefined): Promise<void> {
    await (before ?? this.#turn.next());
    await stepsInTurns(steps, this.#turn).catch(() => undefined);
  }
}
