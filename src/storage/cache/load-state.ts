import type { Revision, Store, StoredValue } from '../store';

/** Everything below a prefix at one revision. */
export interface StatePage {
  readonly revision: Revision;
  readonly items: readonly StoredValue[];
}

/**
 * Reads everything below `prefix` page by page, all pages at the revision of the first. Throws
 * {@link LoadOvertakenError} when that revision is compacted on the way.
 */
export async function* loadPages(
  store: Store,
  prefix: string,
  pageSize: number,
  signal: AbortSignal,
): AsyncGenerator<StatePage> {
  let revision: Revision | undefined;
  let start: string | undefined;
  for (;;) {
    const page = await store.list(
      { prefix, limit: pageSize, ...(start !== undefined && { start }), ...(revision !== undefined && { revision }) },
      signal,
    );
    if (!page.ok) throw new LoadOvertakenError(page.reason);
    revision ??= page.revision;
    yield { revision, items: page.items };
    const last = page.items[page.items.length - 1];
    if (page.remaining === 0 || last === undefined) return;
    start = `${last.key}\0`;
  }
}

/** The state that was being loaded is no longer there; loading again helps. */
export class LoadOvertakenError extends Error {
  constructor(reason: 'compacted' | 'future') {
    super(`the revision being loaded is ${reason === 'compacted' ? 'compacted' : 'not known to the store'}`);
    this.name = 'LoadOvertakenError';
  }
}
