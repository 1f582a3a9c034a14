import { configMap } from '../../api/kinds/core/config-map';
import type { KubeObject } from '../../api/object';
import { loadBuiltinSchema } from '../../api/schema/builtin-schema';
import { localEntry } from '../../registry/local-entry';
import type { Revision } from '../../storage/store';
import type { ServedResource } from '../../resources/served-resource';
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
