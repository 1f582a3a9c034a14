import type { Store, StoredValue } from '../store';

/** A store, and what all keys of the registry begin with in it: `/registry/`. */
export interface RegistryEnd {
  readonly store: Store;
  readonly root: string;
}

/** What two registries hold under one path (the key without the root); undefined: nothing. */
export interface Difference {
  readonly path: string;
  readonly source: StoredValue | undefined;
  readonly target: StoredValue | undefined;
}

const PAGE_KEYS = 1_000;

/** Servers that are alive say so themselves; their leases are not the registry's content. */
const NOT_CONTENT = 'masterleases/';

/** Walks both registries side by side, in order of the keys: every path that one of them has. */
export async function* compareRegistries(
  from: RegistryEnd,
  to: RegistryEnd,
  signal: AbortSignal,
): AsyncGenerator<Difference> {
  const sources = entries(from, signal);
  const targets = entries(to, signal);
  let source = await sources.next();
  let target = await targets.next();
  while (source.done !== true || target.done !== true) {
    const order = compare(source, target);
    const path = (order <= 0 ? source.value : target.value)?.[0] ?? '';
    yield {
      path,
      source: order <= 0 ? source.value?.[1] : undefined,
      target: order >= 0 ? target.value?.[1] : undefined,
    };
    if (order <= 0) source = await sources.next();
    if (order >= 0) target = await targets.next();
  }
}

type Entry = readonly [path: string, value: StoredValue];
type Step = IteratorResult<Entry, undefined>;

/** Below 0 when the source's path comes first; stores order keys by their bytes. */
function compare(source: Step, target: Step): number {
  if (source.done === true) return 1;
  if (target.done === true) return -1;
  return Buffer.compare(Buffer.from(source.value[0]), Buffer.from(target.value[0]));
}

/** All of a registry as of one revision, in order. */
async function* entries({ store, root }: RegistryEnd, signal: AbortSignal): AsyncGenerator<Entry, undefined> {
  let outcome = await store.list({ prefix: root, limit: PAGE_KEYS }, signal);
  for (;;) {
    if (!outcome.ok) throw new Error('the history was compacted while it was read: try again');
    const { revision, items, remaining } = outcome;
    for (const value of items) {
      const path = value.key.slice(root.length);
      if (!path.startsWith(NOT_CONTENT)) yield [path, value];
    }
    const last = items.at(-1);
    if (remaining === 0 || last === undefined) return undefined;
    outcome = await store.list({ prefix: root, start: `${last.key}\0`, limit: PAGE_KEYS, revision }, signal);
  }
}
