import type { Revision, Store, StoredValue } from '../store';

/** Everything below a prefix at one revision. */
export interface StatePage {
  readonly revision: Revision;
  readonly items: readonly StoredValue[];
}

/**
 * Reads everything below `prefix` page by page, all pages at the revision of the first. The store reads the next one while
 * the caller works on this. Throws {@link LoadOvertakenError} when that revision is compacted on the way.
 */
export async function* loadPages(
  store: Pick<Store, 'list'>,
  prefix: string,
  pageSize: number,
  signal: AbortSignal,
): AsyncGenerator<StatePage> {
  let next = store.list({ prefix, limit: pageSize }, signal);
  for (;;) {
    const page = await next;
    if (!page.ok) throw new LoadOvertakenError(page.reason);
    const { revision, items } = page;
    const last = items.at(-1);
    const isLast = page.remaining === 0 || last === undefined;
    if (!isLast) {
      next = store.list({ prefix, limit: pageSize, start: `${last.key}\0`, revision }, signal);
      // A failure is thrown when the page is asked for, if it ever is.
      next.catch(() => undefined);
    }
    yield { revision, items };
    if (isLast) return;
  }
}

/** The state that was being loaded is no longer there; loading again helps. */
export class LoadOvertakenError extends Error {
  constructor(reason: 'compacted' | 'future') {
    super(`the revision being loaded is ${reason === 'compacted' ? 'compacted' : 'not known to the store'}`);
    this.name = 'LoadOvertakenError';
  }
}
