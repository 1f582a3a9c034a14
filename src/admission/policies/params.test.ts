import { Turn } from '../../async/turn';
import type { KindDefinition } from '../../api/kinds/kind-definition';
import type { KubeObject } from '../../api/object';
import type { RegistryReader } from '../../resources/registry-reader';
import { policyParams } from './params';

const CONFIG_MAPS = { namespaced: true, storagePrefix: 'configmaps', resource: 'configmaps' } as KindDefinition;

/** The parameters of the namespace `ns`, and which of them have been asked for. */
function sourceOf(objects: readonly KubeObject[]) {
  const asked: string[] = [];
  const reader = {
    *each(storagePrefix: string, namespace: string) {
      expect([storagePrefix, namespace]).toEqual(['configmaps', 'ns']);
      for (const object of objects) {
        asked.push(object.metadata.name!);
        yield object;
      }
    },
  };
  const params = policyParams(reader as unknown as RegistryReader, () => CONFIG_MAPS, {
    toVersion: (object) => object,
  });
  return { source: params({ apiVersion: 'v1', kind: 'ConfigMap' }, 'ns')!, asked };
}

const configMaps = Array.from({ length: 100 }, (_, index) => ({
  metadata: { name: `c${index}`, labels: { odd: String(index % 2 === 1) } },
}));

it('selects parameters by their labels', async () => {
  const names: unknown[] = [];
  const odd = [{ key: 'odd', operator: 'in' as const, values: ['true'] }];
  for await (const { metadata } of sourceOf(configMaps).source.list(odd, new Turn('a test'))) names.push(metadata.name);
  expect(names).toHaveLength(50);
  expect(names[0]).toBe('c1');
});

it('has none of the parameters before its turn, and lets others have theirs in between', async () => {
  const { source, asked } = sourceOf(configMaps);
  const turn = new Turn('a test');
  const next = jest.spyOn(turn, 'next');
  for await (const { metadata } of source.list([], turn)) expect(asked.at(-1)).toBe(metadata.name);
  expect(asked).toHaveLength(100);
  expect(next).toHaveBeenCalled();
});
