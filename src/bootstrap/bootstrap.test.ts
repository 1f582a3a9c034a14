import { DEFAULT_RELEASE } from '../api/kubernetes-release';
import { defaultObjects } from './default-objects';
import { defaultRbacObjects, reconcileRbacObject } from './default-rbac';

const addresses = { securePort: 6443, serviceRange: '10.0.0.0/24' };

describe('the default objects', () => {
  it('are the system namespaces first, and the kubernetes Service on the first address of the range', () => {
    const objects = defaultObjects(addresses);
    expect(objects.slice(0, 4).map(({ object }) => object.metadata.name)).toEqual([
      'kube-system',
      'kube-public',
      'kube-node-lease',
      'default',
    ]);
    const service = objects.find(({ resource }) => resource === 'services')?.object;
    expect(service?.spec).toMatchObject({ clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'] });
  });
});

describe('the default roles and bindings', () => {
  const all = defaultRbacObjects(DEFAULT_RELEASE);
  const viewer = all.find(({ object }) => object.metadata.name === 'system:public-info-viewer')!.object;
  const masters = all.find(({ resource }) => resource === 'clusterrolebindings')!.object;

  it('are as many as upstream has', () => {
    const count = (wanted: string) => all.filter(({ resource }) => resource === wanted).length;
    expect([count('clusterroles'), count('clusterrolebindings'), count('roles'), count('rolebindings')]).toEqual([
      60, 41, 7, 7,
    ]);
  });

  it('let everybody ask who they are from the release on that has it', () => {
    const resourcesOf = (minor: string) =>
      (
        defaultRbacObjects({ major: '1', minor }).find(({ object }) => object.metadata.name === 'system:basic-user')
          ?.object.rules as readonly { readonly resources: readonly string[] }[]
      ).flatMap(({ resources }) => resources);
    expect(resourcesOf('28')).toContain('selfsubjectreviews');
    expect(resourcesOf('20')).toEqual(['selfsubjectaccessreviews', 'selfsubjectrulesreviews']);
  });

  it('let monitoring read the health checks as metrics from the release on that has them', () => {
    const pathsOf = (minor: string) =>
      (
        defaultRbacObjects({ major: '1', minor }).find(({ object }) => object.metadata.name === 'system:monitoring')
          ?.object.rules as readonly { readonly nonResourceURLs: readonly string[] }[]
      ).flatMap(({ nonResourceURLs }) => nonResourceURLs);
    expect(pathsOf('26')).toContain('/metrics/slis');
    expect(pathsOf('25')).not.toContain('/metrics/slis');
  });

  it('stay as they are when nothing is missing, also with more than the default', () => {
    expect(reconcileRbacObject(viewer, viewer)).toBeUndefined();
    const more = { ...viewer, rules: [{ verbs: ['*'], nonResourceURLs: ['*'] }] };
    expect(reconcileRbacObject(more, viewer)).toBeUndefined();
  });

  it('get back rules and subjects that were taken away', () => {
    const changed = reconcileRbacObject({ ...viewer, rules: [] }, viewer);
    expect(changed?.rules).not.toHaveLength(0);
    expect(reconcileRbacObject({ ...masters, subjects: [] }, masters)?.subjects).toEqual(masters.subjects);
  });

  it('are left alone when an administrator says so', () => {
    const kept = {
      ...viewer,
      rules: [],
      metadata: { ...viewer.metadata, annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'false' } },
    };
    expect(reconcileRbacObject(kept, viewer)).toBeUndefined();
  });
});
