import { configMap } from '../../api/kinds/core/config-map';
import type { KubeObject } from '../../api/object';
import { loadBuiltinSchema } from '../../api/schema/builtin-schema';
import { take } from '../../api/steps/both-forms.fixture';
import { localEntry } from '../../registry/local-entry';
import type { Revision } from '../../storage/store';
import type { ServedResource } from '../../resources/served-resource';
import { EntryCache } from './entry-cache';
import { LONGEST_REMEMBERED_LIST, WireForm } from './wire-form';

const served = {
  definition: configMap,
  version: configMap.versions[0]!,
  type: loadBuiltinSchema().kind('', 'v1', 'ConfigMap')!,
  listKind: 'ConfigMapList',
  custom: false,
} as unknown as ServedResource;

const entriesOf = (count: number) =>
  Array.from({ length: count }, (_, index) =>
    localEntry(`/registry/configmaps/n/c${index}`, index as Revision, {
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: { name: `c${index}` },
    }),
  );

describe('the Protobuf items of lists', () => {
  it.each([
    ['are encoded once for short lists', LONGEST_REMEMBERED_LIST, 2],
    ['push nothing out of memory for a long list', LONGEST_REMEMBERED_LIST + 1, 4],
  ])('%s', (_what, count, times) => {
    const encode = jest.fn((_type: unknown, { metadata }: KubeObject) => Buffer.from(metadata.name ?? ''));
    const items = new WireForm(served).protobufItems(encode);
    const entries = entriesOf(count);
    for (let round = 0; round < 2; round++) {
      expect(Buffer.concat(items.pieces(entries, 7, 9)).toString()).toBe('\x12\x02c7\x12\x02c8');
    }
    expect(encode).toHaveBeenCalledTimes(times);
  });
});

describe('a large object in another version', () => {
  const COUNT = 5_000;
  const annotations = Object.fromEntries(Array.from({ length: COUNT }, (_, index) => [`key-${index}`, 'v']));
  const fromStorage = jest.fn((object: KubeObject): KubeObject => ({ ...object, spec: { added: true } }));
  const version = { ...served.version, convert: { fromStorage, toStorage: (object: KubeObject) => object } };
  const converting = { ...served, version } as ServedResource;
  const entry = localEntry('/registry/configmaps/n/large', 1 as Revision, { metadata: { name: 'large', annotations } });

  it('is converted and printed a part at a time, as it would be at once', () => {
    const { result, pauses } = take(new WireForm(converting).convertSteps(entry));
    expect(result.body.toString()).toBe(new WireForm(converting).body(entry).toString());
    expect(result.object).toEqual(new WireForm(converting).object(entry));
    expect(pauses).toBeGreaterThan(COUNT);
  });

  it('is made once, until it is released, however little is remembered', () => {
    const form = new WireForm(converting);
    take(form.hold(entry)!);
    jest.spyOn(EntryCache.prototype, 'find').mockReturnValue(undefined);
    jest.spyOn(EntryCache.prototype, 'get').mockImplementation((of, make) => make(of) as unknown);
    fromStorage.mockClear();
    expect(form.hold(entry)).toBeUndefined();
    form.body(entry);
    form.object(entry);
    expect(fromStorage).not.toHaveBeenCalled();
    form.release(entry);
    form.body(entry);
    expect(fromStorage).toHaveBeenCalledTimes(1);
    jest.restoreAllMocks();
  });
});
