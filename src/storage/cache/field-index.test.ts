import type { KubeObject } from '../../api/object';
import type { CacheEntry, FieldInterest } from './cache';
import { FieldIndexes } from './field-index';

const read = (object: KubeObject): string => (object['spec'] as { nodeName: string }).nodeName;
const onNode = (value: string): FieldInterest => ({
  by: 'field',
  label: 'spec.nodeName',
  read,
  value,
  isIndexed: true,
});
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function podOn(nodeName: string, key: string): CacheEntry {
  const object = { kind: 'Pod', apiVersion: 'v1', metadata: {}, spec: { nodeName } } as KubeObject;
  return { key, object, field: (_label: string, valueOf: typeof read) => valueOf(object) } as CacheEntry;
}

const a = podOn('n1', 'a');
const b = podOn('n2', 'b');
const c = podOn('n1', 'c');

const always = (): boolean => true;

describe('the indexes of a resource', () => {
  /** Time passes only as a test says. */
  let nowMs: () => number;
  beforeEach(() => {
    nowMs = () => 0;
    jest.spyOn(performance, 'now').mockImplementation(() => nowMs());
  });
  afterEach(() => jest.restoreAllMocks());

  it('are made when they are first asked for, and know what has changed since', async () => {
    const indexes = new FieldIndexes(() => [c, b, a], always);
    expect(indexes.find(onNode('n1'))).toBeUndefined();
    await nextTurn();
    expect(indexes.find(onNode('n1'))).toEqual([a, c]);
    expect(indexes.find(onNode('n3'))).toEqual([]);
    const moved = podOn('n2', 'a');
    indexes.change(a, moved);
    indexes.change(c, undefined);
    indexes.change(undefined, podOn('n3', 'd'));
    expect(indexes.find(onNode('n1'))).toEqual([]);
    expect(indexes.find(onNode('n2'))).toEqual([moved, b]);
    expect(indexes.find(onNode('n3'))).toHaveLength(1);
  });

  it('have what changes while they are made, and give way to others meanwhile', async () => {
    let now = 0;
    nowMs = () => (now += 10);
    let entries = [a, b, c];
    const indexes = new FieldIndexes(
      () => entries,
      (entry) => entries.includes(entry),
    );
    expect(indexes.find(onNode('n2'))).toBeUndefined();
    await nextTurn();
    entries = [a, c];
    indexes.change(b, undefined);
    expect(indexes.find(onNode('n2'))).toBeUndefined();
    for (let turns = 0; turns < 5; turns++) await nextTurn();
    expect(indexes.find(onNode('n2'))).toEqual([]);
    expect(indexes.find(onNode('n1'))).toEqual([a, c]);
  });

  it('begin anew when everything is another', async () => {
    let entries = [a];
    const indexes = new FieldIndexes(
      () => entries,
      (entry) => entries.includes(entry),
    );
    indexes.find(onNode('n1'));
    await nextTurn();
    entries = [c];
    indexes.clear();
    expect(indexes.find(onNode('n1'))).toBeUndefined();
    await nextTurn();
    expect(indexes.find(onNode('n1'))).toEqual([c]);
  });

  it('do not tell of a value that very many have', async () => {
    const many = Array.from({ length: 2001 }, (_, index) => podOn('', `pod-${index}`));
    const indexes = new FieldIndexes(() => [...many, a], always);
    indexes.find(onNode('n1'));
    await nextTurn();
    expect(indexes.find(onNode(''))).toBeUndefined();
    expect(indexes.find(onNode('n1'))).toEqual([a]);
  });

  it('are made no further when the resource is closed', async () => {
    let reads = 0;
    const counted = [a, b, c].map(({ key }) => ({ key, field: () => String(reads++) }) as unknown as CacheEntry);
    nowMs = () => reads * 100;
    const indexes = new FieldIndexes(() => counted, always);
    indexes.find(onNode('n1'));
    indexes.close();
    for (let turns = 0; turns < 5; turns++) await nextTurn();
    expect(reads).toBeLessThan(3);
  });
});
