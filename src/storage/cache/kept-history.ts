import type { ListRange, Revision, Store } from '../store';

/** An answer counts for so long. What is read in pages asks once in this time, however small the pages are. */
const TRUSTED_MS = 1_000;

/**
 * Whether the store still has the state of a revision, or has compacted it: memory may hold older states than the store, and
 * would go on with a list that no other server can continue. The store is asked, as others may compact it.
 */
export class KeptHistory {
  /** The store had the state of this revision, and so that of every newer one. */
  private oldest = Infinity;
  private trustedUntilMs = -Infinity;
  private readonly range: ListRange;

  constructor(
    private readonly store: Pick<Store, 'list'>,
    prefix: string,
    private readonly nowMs: () => number,
  ) {
    // Finds nothing: all that is asked is whether it may be looked at.
    this.range = { prefix: `${prefix}\0`, limit: 1 };
  }

  /** Of a revision that the store has reached. */
  async has(revision: Revision, signal: AbortSignal | undefined): Promise<boolean> {
    const askedMs = this.nowMs();
    if (revision >= this.oldest && askedMs < this.trustedUntilMs) return true;
    const outcome = await this.store.list({ ...this.range, revision }, signal);
    if (!outcome.ok && outcome.reason === 'compacted') return false;
    this.oldest = revision;
    this.trustedUntilMs = askedMs + TRUSTED_MS;
    return true;
  }
}
