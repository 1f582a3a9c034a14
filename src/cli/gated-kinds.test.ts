import { CATALOGUE } from '../api/kinds/catalogue';
import { pod } from '../api/kinds/core/pod';
import { service } from '../api/kinds/core/service';
import type { KubeObject } from '../api/object';
import { DEFAULT_GATES, gatedKinds, type FeatureGates } from './feature-gates';

function kindWith(gates: Partial<FeatureGates>, kind: string) {
  const found = gatedKinds(CATALOGUE, { ...DEFAULT_GATES, ...gates }).find((one) => one.kind === kind);
  if (found === undefined) throw new Error(`no ${kind}`);
  return found;
}

describe('the kinds behind feature gates', () => {
  it('have ephemeral containers unless the gate is off', () => {
    const names = (gates: Partial<FeatureGates>) => kindWith(gates, 'Pod').subresources.map(({ name }) => name);
    expect(names({})).toEqual(pod.subresources.map(({ name }) => name));
    expect(names({})).toContain('ephemeralcontainers');
    expect(names({ EphemeralContainers: false })).not.toContain('ephemeralcontainers');
  });

  it('speak of families unless the gate is off', () => {
    const sent: KubeObject = { metadata: { name: 'a' }, spec: { ipFamilyPolicy: 'RequireDualStack' } };
    const created = (gates: Partial<FeatureGates>) =>
      kindWith(gates, service.kind).strategy.prepareForCreate?.(sent)['spec'];
    expect(created({})).toHaveProperty('ipFamilyPolicy');
    expect(created({ IPv6DualStack: false })).not.toHaveProperty('ipFamilyPolicy');
  });
});
