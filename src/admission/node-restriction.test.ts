import { admissionOutcome, admissionRequest, pod, podRequest } from '../../test/fixtures/admission-request';
import type { KubeObject, ObjectMeta } from '../api/object';
import { admissionChain } from './chain';
import { nodeRestriction } from './node-restriction';
import type { AdmissionAttributes } from './plugin';

const kubelet = { name: 'system:node:n1', groups: ['system:nodes'] };
const pods: Record<string, KubeObject> = {
  mine: pod({ nodeName: 'n1' }, { uid: 'u' }),
  far: pod({ nodeName: 'n2' }, { uid: 'u' }),
};
const chain = admissionChain([
  nodeRestriction({
    getPod: async (_namespace, name) => pods[name],
    getNode: async (name) => ({ metadata: { name, uid: 'node-uid' } }),
  }),
]);
const outcome = async (attributes: AdmissionAttributes) =>
  (await admissionOutcome(() => chain.mutate(attributes))).replace(/^.* (is forbidden: )/, '');

const owner = { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'node-uid', controller: true };
const mirror = (spec: object = {}, metadata: ObjectMeta = {}) =>
  podRequest(
    {},
    {
      user: kubelet,
      object: pod(
        { nodeName: 'n1', ...spec },
        { annotations: { 'kubernetes.io/config.mirror': 'x' }, ownerReferences: [owner], ...metadata },
      ),
    },
  );

describe('NodeRestriction', () => {
  it('does not concern other users', async () => {
    expect(await outcome(podRequest())).toBe('admitted');
  });

  it.each([
    [mirror(), 'admitted'],
    [podRequest({ nodeName: 'n1' }, { user: kubelet }), 'node "n1" can only create mirror pods'],
    [mirror({ nodeName: 'n2' }), 'node "n1" can only create pods with spec.nodeName set to itself'],
    [mirror({}, { ownerReferences: [] }), 'node "n1" can only create pods with an owner reference set to itself'],
    [
      mirror({}, { ownerReferences: [{ ...owner, controller: false }] }),
      'node "n1" can only create pods with a controller owner reference set to itself',
    ],
    [
      mirror({}, { ownerReferences: [{ ...owner, blockOwnerDeletion: true }] }),
      'node "n1" must not set blockOwnerDeletion on an owner reference',
    ],
    [mirror({}, { ownerReferences: [{ ...owner, uid: 'x' }] }), 'node n1 UID mismatch: expected x got node-uid'],
    [
      mirror({ volumes: [{ name: 'v', configMap: { name: 'c' } }] }),
      'node "n1" can not create pods that reference configmaps',
    ],
    [
      mirror({ volumes: [{ name: 'v', persistentVolumeClaim: {} }] }),
      'node "n1" can not create pods that reference persistentvolumeclaims',
    ],
  ])('lets a kubelet create mirrors of its own pods only (%#)', async (attributes, expected) => {
    expect(await outcome(attributes)).toContain(expected);
  });

  it('lets a kubelet change and remove the pods on its node only', async () => {
    const change = (name: string, part: Partial<AdmissionAttributes>) =>
      outcome(podRequest({}, { user: kubelet, name, object: pods[name], oldObject: pods[name], ...part }));
    const remove = { operation: 'DELETE', object: undefined } as const;
    const status = { operation: 'UPDATE', subresource: 'status' } as const;
    expect(await change('mine', remove)).toBe('admitted');
    expect(await change('far', remove)).toBe('node "n1" can only delete pods with spec.nodeName set to itself');
    expect(await change('mine', status)).toBe('admitted');
    expect(await change('far', status)).toContain(
      'can only update pod status for pods with spec.nodeName set to itself',
    );
    expect(await change('mine', { ...status, object: pod({ nodeName: 'n1' }, { labels: { a: 'b' } }) })).toBe(
      'node "n1" cannot update labels through pod status',
    );
    const eviction = { subresource: 'eviction', object: { metadata: {} } };
    expect(await change('mine', eviction)).toBe('admitted');
    expect(await change('far', eviction)).toBe('node n1 can only evict pods with spec.nodeName set to itself');
    expect(await change('none', eviction)).toBe('pod "none" not found');
    expect(await change('mine', { subresource: 'binding', object: { metadata: {} } })).toBe(
      "unexpected pod subresource \"binding\", only 'status' and 'eviction' are allowed",
    );
  });

  const node = (part: Partial<AdmissionAttributes>) =>
    outcome(admissionRequest({ user: kubelet, resource: 'nodes', namespace: '', name: 'n1', ...part }));
  const labelled = (labels: Record<string, string>, spec: object = {}): KubeObject => ({
    metadata: { name: 'n1', labels },
    spec,
  });

  it('lets a kubelet say where its node is, not what it is for', async () => {
    const fine = { 'kubernetes.io/hostname': 'n1', 'node.kubernetes.io/x': '1', 'plain.io/a': 'b', plain: 'c' };
    expect(await node({ object: labelled(fine) })).toBe('admitted');
    expect(await node({ object: labelled({ 'sub.k8s.io/z': '2', 'node-restriction.kubernetes.io/x': '1' }) })).toBe(
      'node "n1" is not allowed to set the following labels: node-restriction.kubernetes.io/x, sub.k8s.io/z',
    );
    expect(await node({ name: 'n2', object: { metadata: { name: 'n2' } } })).toBe(
      'node "n1" is not allowed to modify node "n2"',
    );
    const update = { operation: 'UPDATE', oldObject: labelled({ 'x.k8s.io/a': '1' }, { taints: [] }) } as const;
    expect(await node({ ...update, object: labelled({}) })).toBe('is not allowed to modify labels: x.k8s.io/a');
    expect(await node({ ...update, object: labelled({ 'x.k8s.io/a': '1' }, { taints: [{ key: 'k' }] }) })).toBe(
      'node "n1" is not allowed to modify taints',
    );
    const owned = { metadata: { ...labelled({ 'x.k8s.io/a': '1' }).metadata, ownerReferences: [owner] }, spec: {} };
    expect(await node({ ...update, object: owned })).toBe('node "n1" is not allowed to modify ownerReferences');
  });

  it.each([
    [undefined, 'node requested token not bound to a pod'],
    [{ apiVersion: 'v1', kind: 'Pod', name: 'mine' }, 'node requested token with a pod binding without a uid'],
    [
      { apiVersion: 'v1', kind: 'Pod', name: 'mine', uid: 'x' },
      'the UID in the bound object reference (x) does not match',
    ],
    [
      { apiVersion: 'v1', kind: 'Pod', name: 'far', uid: 'u' },
      'node requested token bound to a pod scheduled on a different node',
    ],
    [{ apiVersion: 'v1', kind: 'Pod', name: 'mine', uid: 'u' }, 'admitted'],
  ])('gives a kubelet tokens for its own pods only: %j', async (boundObjectRef, expected) => {
    const object = { metadata: {}, spec: { boundObjectRef } };
    const request = admissionRequest({
      user: kubelet,
      resource: 'serviceaccounts',
      subresource: 'token',
      name: 'sa',
      object,
    });
    expect(await outcome(request)).toContain(expected);
  });

  it('lets a kubelet report the growth of a volume and nothing else about its claim', async () => {
    const claim = (status: object): KubeObject => ({ metadata: { name: 'c' }, status });
    const report = (status: object) =>
      outcome(
        admissionRequest({
          user: kubelet,
          operation: 'UPDATE',
          resource: 'persistentvolumeclaims',
          subresource: 'status',
          name: 'c',
          object: claim(status),
          oldObject: claim({ phase: 'Bound' }),
        }),
      );
    expect(await report({ phase: 'Bound', capacity: { storage: '2Gi' }, allocatedResources: {} })).toBe('admitted');
    expect(await report({ phase: 'Lost' })).toContain('other than status.capacity and status.conditions');
  });

  it('keeps leases and CSINodes to the node of their name', async () => {
    const lease = (name: string) =>
      outcome(
        admissionRequest({
          user: kubelet,
          group: 'coordination.k8s.io',
          resource: 'leases',
          namespace: 'kube-node-lease',
          object: { metadata: { name } },
        }),
      );
    expect(await lease('n1')).toBe('admitted');
    expect(await lease('n2')).toBe('can only access node lease with the same name as the requesting node');
  });
});
