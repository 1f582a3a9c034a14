import { runSteps } from '../../async/steps';
import type { WatchItem } from '../../registry/types';
import type { CacheEntry } from '../../storage/cache/cache';
import type { WatchEncoder } from './watch-encoder';

/** Bytes of an object from which on its events are made a part at a time. */
const LARGE_ENTRY_BYTES = 64 * 1024;

type Pending = WeakMap<CacheEntry, Promise<void>>;

/** What is under way, by the encoder and the entry: streams that share an encoder wait for the same. */
const underWay = new WeakMap<WatchEncoder, Pending>();

/**
 * Makes of large objects what their events need, in turns with others. Undefined: there is nothing to wait for. Never rejects:
 * asking for the event meets what goes wrong.
 */
export function prepareEvents(items: readonly WatchItem[], encoder: WatchEncoder): Promise<void> | undefined {
  let preparing: Promise<void> | undefined;
  for (const item of items) {
    if (item.type === 'BOOKMARK' || item.entry.size <= LARGE_ENTRY_BYTES) continue;
    const one = prepareEvent(item, encoder);
    if (one !== undefined) preparing = preparing === undefined ? one : preparing.then(() => one);
  }
  return preparing;
}

function prepareEvent(
  { type, entry }: Exclude<WatchItem, { type: 'BOOKMARK' }>,
  encoder: WatchEncoder,
): Promise<void> | undefined {
  const pending: Pending = underWay.get(encoder) ?? new WeakMap();
  underWay.set(encoder, pending);
  const known = pending.get(entry);
  if (known !== undefined) return known;
  const steps = encoder.prepare?.(type, entry);
  if (steps === undefined) return undefined;
  const preparing = runSteps(steps, 'large events').then(
    () => void pending.delete(entry),
    () => void pending.delete(entry),
  );
  pending.set(entry, preparing);
  return preparing;
}
