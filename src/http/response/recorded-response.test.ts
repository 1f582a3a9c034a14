import type { CacheEntry } from '../../storage/cache/cache';
import { eachItem, type ListParts } from './lists/list-parts';
import { MAX_RECORDED_BYTES, NOT_RECORDED, recordedList } from './recorded-response';

const COMMA = Buffer.from(',');
const entriesOf = (count: number, bytes: number): CacheEntry[] =>
  Array.from({ length: count }, () => ({ body: Buffer.alloc(bytes) }) as unknown as CacheEntry);
const listOf = (entries: readonly CacheEntry[], item: () => Uint8Array) => ({
  head: Buffer.from('{"items":['),
  items: eachItem(COMMA, false, () => [item()]),
  entries,
  tail: Buffer.from(']}\n'),
});
const recordedText = (list: ListParts): Promise<string> => recordedList(list.entries, () => list, 'test');

describe('the list that the audit log records', () => {
  afterEach(() => jest.restoreAllMocks());

  it('is the answer as JSON, with the items that are made later', async () => {
    const small = Buffer.from('"small"');
    const list = listOf(entriesOf(3, 10), () => small);
    expect(await recordedText(list)).toBe('{"items":["small","small","small"]}');
    const later = (entry: CacheEntry): Promise<readonly Uint8Array[]> | undefined =>
      entry === list.entries[1] ? Promise.resolve([Buffer.from('"large"')]) : undefined;
    expect(await recordedText({ ...list, later })).toBe('{"items":["small","large","small"]}');
  });

  it('is none where the objects are too long, and no row is made of them', async () => {
    const item = jest.fn(() => COMMA);
    expect(await recordedText(listOf(entriesOf(5, MAX_RECORDED_BYTES / 4), item))).toBe(NOT_RECORDED);
    expect(item).not.toHaveBeenCalled();
  });

  it('is none where the rows are too long, and those beyond are not made', async () => {
    const row = Buffer.alloc(MAX_RECORDED_BYTES / 16, 0x61);
    const item = jest.fn(() => row);
    expect(await recordedText(listOf(entriesOf(1000, 100), item))).toBe(NOT_RECORDED);
    expect(item.mock.calls.length).toBeLessThan(100);
  });

  it('is made in turns with others', async () => {
    let now = 0;
    jest.spyOn(performance, 'now').mockImplementation(() => (now += 1));
    const order: string[] = [];
    const item = (): Uint8Array => {
      order.push('item');
      return COMMA;
    };
    const recorded = recordedText(listOf(entriesOf(1000, 100), item));
    setImmediate(() => order.push('other'));
    await recorded;
    expect(order.indexOf('other')).toBeGreaterThan(0);
    expect(order.indexOf('other')).toBeLessThan(999);
  });
});
