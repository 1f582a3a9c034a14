import type { KubeObject } from '../../object';
import { namespace } from './namespace';
import { hasNameLabel, labelledNamespace } from './namespace-label';

const LABEL = 'kubernetes.io/metadata.name';

describe('a namespace under the gate NamespaceDefaultLabelName', () => {
  const { applyDefaults, strategy } = labelledNamespace(namespace);
  const named = (labels?: Readonly<Record<string, string>>): KubeObject => ({
    metadata: { name: 'a', ...(labels === undefined ? {} : { labels }) },
  });

  it.each<[string, KubeObject]>([
    ['has its name as a label', named()],
    ['keeps its other labels', named({ other: 'kept' })],
    ['cannot say another name', named({ other: 'kept', [LABEL]: 'b' })],
  ])('%s', (_, object) => {
    const labels = { ...object.metadata.labels, [LABEL]: 'a' };
    expect(applyDefaults?.(object, 'v1').metadata.labels).toEqual(labels);
    expect(strategy.prepareForCreate?.(object).metadata.labels).toEqual(labels);
    expect(strategy.prepareForUpdate?.(object, object).metadata.labels).toEqual(labels);
  });

  it('has no label before it has a name', () => {
    expect(applyDefaults?.({ metadata: { generateName: 'a-' } }, 'v1').metadata).toEqual({ generateName: 'a-' });
  });

  it('is known by it', () => {
    expect([named(), named({ [LABEL]: 'a' }), named({ [LABEL]: 'b' })].map(hasNameLabel)).toEqual([false, true, false]);
  });
});
