import { whenKnown, type MaybePromise } from '../api/maybe-promise';
import type { CacheEntry } from '../storage/cache/cache';
import type { EntryConversion } from './entry-conversion';
import type { WatchItem } from './types';
import type { EntryWatch, SendItems } from './watch';

/** A watch whose events are brought into another version on their way, in their order. A failed conversion ends it. */
export function convertedWatch(
  conversion: EntryConversion,
  open: (signal: AbortSignal) => EntryWatch,
  signal: AbortSignal,
): EntryWatch {
  const ending = new AbortController();
  const watch = open(AbortSignal.any([signal, ending.signal]));
  let failure: { readonly error: unknown } | undefined;
  const fail = (error: unknown): void => {
    failure = { error };
    ending.abort();
  };
  const converted = (send: SendItems): SendItems => {
    return (items) => {
      const read = readItems(conversion, items);
      const sent = whenKnown(read, (known) => (ending.signal.aborted ? undefined : send(known)));
      return sent instanceof Promise ? sent.catch(fail) : sent;
    };
  };
  return {
    get isTooFarBehind() {
      return watch.isTooFarBehind;
    },
    gaveUp: () => watch.gaveUp(),
    run: async (send) => {
      await watch.run(converted(send));
      if (failure !== undefined) throw failure.error;
    },
  };
}

function readItems({ read }: EntryConversion, items: readonly WatchItem[]): MaybePromise<readonly WatchItem[]> {
  const entries = items.flatMap((item) => (item.type === 'BOOKMARK' ? [] : [item.entry]));
  if (entries.length === 0) return items;
  return whenKnown(read(entries, 'remembered'), (converted) => withEntries(items, converted));
}

function withEntries(items: readonly WatchItem[], entries: readonly CacheEntry[]): readonly WatchItem[] {
  let next = 0;
  return items.map((item) => (item.type === 'BOOKMARK' ? item : { ...item, entry: entries[next++] ?? item.entry }));
}
