import { CATALOGUE } from './catalogue';
import { pod } from './core/pod';
import { service } from './core/service';
import type { KubeObject } from '../object';
import { DEFAULT_GATES, type FeatureGates } from './feature-gates';
import { gatedKinds } from './gated-kinds';

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

  it('give nodes a second range of addresses unless the gate is off', () => {
    const node = (...podCIDRs: readonly string[]): KubeObject => ({ metadata: { name: 'a' }, spec: { podCIDRs } });
    const both = node('10.1.0.0/24', 'fd00::/64');
    const { strategy } = kindWith({ IPv6DualStack: false }, 'Node');
    expect(strategy.prepareForCreate?.(both)).toMatchObject(node('10.1.0.0/24'));
    expect(strategy.prepareForUpdate?.(both, node('10.1.0.0/24'))).toMatchObject(node('10.1.0.0/24'));
    expect(strategy.prepareForUpdate?.(both, both)).toMatchObject(both);
    expect(kindWith({}, 'Node').strategy.prepareForCreate).toBeUndefined();
  });

  it('scale to zero with the gate only', () => {
    const autoscaler: KubeObject = {
      metadata: { name: 'a' },
      spec: {
        scaleTargetRef: { kind: 'Deployment', name: 'd' },
        minReplicas: 0,
        maxReplicas: 1,
        metrics: [{ type: 'External', external: { metric: { name: 'm' }, target: { type: 'Value', value: '1' } } }],
      },
    };
    const fields = (gates: Partial<FeatureGates>, object: KubeObject) =>
      kindWith(gates, 'HorizontalPodAutoscaler')
        .strategy.validateCreate?.(object)
        .map(({ field, message }) => `${field}: ${message}`);
    expect(fields({}, autoscaler)).toEqual(['spec.minReplicas: Invalid value: 0: must be greater than or equal to 1']);
    expect(fields({ HPAScaleToZero: true }, autoscaler)).toEqual([]);
    const onCpu: KubeObject = { ...autoscaler, spec: { ...(autoscaler['spec'] as object), metrics: [] } };
    expect(fields({ HPAScaleToZero: true }, onCpu)).toEqual([
      'spec.metrics: Forbidden: must specify at least one Object or External metric to support scaling to zero replicas',
    ]);
  });

  it('let claims grow unless the gate is off', () => {
    const claim = (storage: string): KubeObject => ({
      metadata: { name: 'a' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } },
      status: { phase: 'Bound' },
    });
    const grown = (gates: Partial<FeatureGates>) =>
      kindWith(gates, 'PersistentVolumeClaim').strategy.validateUpdate?.(claim('2Gi'), claim('1Gi'));
    expect(grown({})).toEqual([]);
    expect(grown({ ExpandPersistentVolumes: false })).toEqual([
      { reason: 'FieldValueForbidden', field: 'spec', message: 'Forbidden: field is immutable after creation' },
    ]);
    const growing: KubeObject = { ...claim('1Gi'), status: { conditions: [{ type: 'Resizing', status: 'True' }] } };
    const told = (gates: Partial<FeatureGates>) => {
      const [status] = kindWith(gates, 'PersistentVolumeClaim').subresources;
      return status?.strategy?.validateUpdate?.(growing, claim('1Gi')).map(({ field }) => field);
    };
    expect(told({})).toEqual([]);
    expect(told({ ExpandPersistentVolumes: false })).toEqual(['status.conditions']);
  });

  it('keep what annotations say of AppArmor unless the gate is off', () => {
    const annotations = { 'container.apparmor.security.beta.kubernetes.io/c': 'unconfined', team: 'a' };
    const daemonSet = (named: object): KubeObject => ({
      metadata: { name: 'a', annotations },
      spec: { template: { metadata: { annotations: named }, spec: { containers: [{ name: 'c' }] } } },
    });
    const { strategy } = kindWith({ AppArmor: false }, 'DaemonSet');
    expect(strategy.prepareForCreate?.(daemonSet(annotations))).toMatchObject({
      metadata: { annotations },
      spec: { template: { metadata: { annotations: { team: 'a' } } } },
    });
    expect(strategy.prepareForCreate?.(daemonSet(annotations))).not.toHaveProperty([
      'spec',
      'template',
      'metadata',
      'annotations',
      'container.apparmor.security.beta.kubernetes.io/c',
    ]);
    expect(strategy.prepareForUpdate?.(daemonSet(annotations), daemonSet(annotations))).toMatchObject(
      daemonSet(annotations),
    );
    expect(kindWith({}, 'DaemonSet').strategy.prepareForCreate?.(daemonSet(annotations))).toMatchObject(
      daemonSet(annotations),
    );
  });
});
