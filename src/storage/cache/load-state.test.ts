import type { ListOutcome, ListRange, Revision, Store } from '../store';
import { LoadOvertakenError, loadPages } from './load-state';

const KEYS = ['/a', '/b', '/c', '/d', '/e'];
const REVISION = 7 as Revision;
const { signal } = new AbortController();

/** Five keys, and what was asked for. */
class FiveKeys implements Pick<Store, 'list'> {
  readonly asked: ListRange[] = [];
  failure: Error | undefined;
  compacted = false;

  async list(range: ListRange): Promise<ListOutcome> {
    this.asked.push(range);
    if (this.asked.length > 1 && this.failure !== undefined) throw this.failure;
    if (this.asked.length > 1 && this.compacted) return { ok: false, reason: 'compacted', current: REVISION };
    const found = KEYS.filter((key) => key >= (range.start ?? ''));
    const items = found.slice(0, range.limit).map((key) => ({ key, value: Buffer.from(key), revision: REVISION }));
    return { ok: true, revision: REVISION, items, remaining: found.length - items.length };
  }
}

describe('loadPages', () => {
  let store: FiveKeys;
  beforeEach(() => (store = new FiveKeys()));

  it('gives out every key once, all at the revision of the first page', async () => {
    const keys: string[] = [];
    for await (const page of loadPages(store, '/', 2, signal)) {
      expect(page.revision).toBe(REVISION);
      keys.push(...page.items.map(({ key }) => key));
    }
    expect(keys).toEqual(KEYS);
    expect(store.asked.map(({ revision }) => revision)).toEqual([undefined, REVISION, REVISION]);
  });

  it('has asked for the next page when it gives out one', async () => {
    const asked: number[] = [];
    for await (const _page of loadPages(store, '/', 2, signal)) asked.push(store.asked.length);
    expect(asked).toEqual([2, 3, 3]);
  });

  it("throws what a later page failed with when it is that page's turn", async () => {
    store.failure = new Error('unreachable');
    const pages = loadPages(store, '/', 2, signal);
    expect((await pages.next()).done).toBe(false);
    await expect(pages.next()).rejects.toThrow('unreachable');
  });

  it('fails nowhere else when a failed page is never asked for', async () => {
    store.failure = new Error('unreachable');
    for await (const page of loadPages(store, '/', 2, signal)) {
      expect(page.items).toHaveLength(2);
      break;
    }
    await new Promise((resolve) => setImmediate(resolve));
  });

  it('says so when its revision was compacted on the way', async () => {
    store.compacted = true;
    const pages = loadPages(store, '/', 2, signal);
    await pages.next();
    await expect(pages.next()).rejects.toThrow(LoadOvertakenError);
  });
});
