import type { KubeObject } from '../api/object';
import type { Attributes } from './attributes';
import { listRulesOfNode, nodeAuthorizer } from './node';
import { NodeGraph } from './node-graph';

const pod = (name: string, nodeName: string, spec: object, annotations?: Record<string, string>): KubeObject => ({
  metadata: { name, namespace: 'ns', ...(annotations === undefined ? {} : { annotations }) },
  spec: { nodeName, serviceAccountName: 'robot', ...spec },
});

const graph = new NodeGraph();
const mounted = pod('p', 'n1', {
  imagePullSecrets: [{ name: 'pull' }],
  initContainers: [{ env: [{ valueFrom: { secretKeyRef: { name: 'init' } } }] }],
  containers: [
    {
      envFrom: [{ secretRef: { name: 'env' } }, { configMapRef: { name: 'env' } }],
      env: [{ valueFrom: { configMapKeyRef: { name: 'key' } } }],
    },
  ],
  volumes: [
    { name: 'a', persistentVolumeClaim: { claimName: 'claim' } },
    { name: 'b', secret: { secretName: 'vol' } },
    { name: 'c', projected: { sources: [{ secret: { name: 'proj' } }, { configMap: { name: 'proj' } }] } },
    { name: 'scratch', ephemeral: {} },
  ],
});
graph.putPod(mounted);
graph.putPod(pod('other', 'n2', { volumes: [{ secret: { secretName: 'theirs' } }] }));
graph.putPod(
  pod('mirror', 'n1', { volumes: [{ secret: { secretName: 'wanted' } }] }, { 'kubernetes.io/config.mirror': 'x' }),
);
graph.putVolume({
  metadata: { name: 'pv' },
  spec: {
    claimRef: { namespace: 'ns', name: 'claim' },
    csi: { nodeStageSecretRef: { namespace: 'csi', name: 'stage' } },
  },
});
graph.putVolume({ metadata: { name: 'free' }, spec: {} });
graph.putAttachment({ metadata: { name: 'va' }, spec: { nodeName: 'n1' } });

const rules = [{ verbs: ['get'], apiGroups: [''], resources: ['services'] }];
const node = (part: Partial<Attributes>): Attributes => ({
  user: { name: 'system:node:n1', groups: ['system:nodes'] },
  verb: 'get',
  resourceRequest: true,
  group: '',
  version: 'v1',
  resource: 'secrets',
  subresource: '',
  namespace: 'ns',
  name: '',
  path: '',
  ...part,
});
const authorize = nodeAuthorizer(graph, rules);
const NONE = "no relationship found between node 'n1' and this object";

describe('a node', () => {
  it.each<[Partial<Attributes>]>([
    ...['pull', 'init', 'env', 'vol', 'proj'].map((name): [Partial<Attributes>] => [{ name }]),
    ...['env', 'key', 'proj'].map((name): [Partial<Attributes>] => [{ resource: 'configmaps', name, verb: 'watch' }]),
    [{ namespace: 'csi', name: 'stage' }],
    [{ resource: 'persistentvolumeclaims', name: 'claim' }],
    [{ resource: 'persistentvolumeclaims', name: 'p-scratch' }],
    [{ resource: 'persistentvolumeclaims', subresource: 'status', verb: 'patch', name: 'claim' }],
    [{ resource: 'persistentvolumes', namespace: '', name: 'pv' }],
    [{ group: 'storage.k8s.io', resource: 'volumeattachments', namespace: '', name: 'va' }],
    [{ resource: 'serviceaccounts', subresource: 'token', verb: 'create', name: 'robot' }],
    [{ group: 'coordination.k8s.io', resource: 'leases', namespace: 'kube-node-lease', name: 'n1', verb: 'update' }],
    [{ group: 'storage.k8s.io', resource: 'csinodes', namespace: '', name: 'n1', verb: 'delete' }],
    [{ resource: 'services', name: 'x' }],
  ])('reaches %j', async (part) => {
    expect(await authorize(node(part))).toEqual({ decision: 'allow', reason: '' });
  });

  it.each<[Partial<Attributes>, string]>([
    [{ name: 'theirs' }, NONE],
    [{ name: 'wanted' }, NONE],
    [{ name: 'vol', namespace: 'elsewhere' }, NONE],
    [{ name: 'vol', verb: 'update' }, 'can only read resources of this type'],
    [{ name: 'vol', subresource: 'x' }, 'cannot read subresource'],
    [{ verb: 'list' }, 'No Object name found'],
    [{ verb: 'list', namespace: '' }, 'can only read namespaced object of this type'],
    [{ resource: 'persistentvolumes', namespace: '', name: 'free' }, NONE],
    [{ resource: 'persistentvolumes', namespace: '', verb: 'list' }, 'can only get individual resources of this type'],
    [
      { resource: 'persistentvolumeclaims', verb: 'patch', name: 'claim' },
      'can only get individual resources of this type',
    ],
    [
      { resource: 'persistentvolumeclaims', subresource: 'status', verb: 'delete', name: 'claim' },
      'can only get/update/patch this type',
    ],
    [{ group: 'storage.k8s.io', resource: 'volumeattachments', namespace: '', name: 'x' }, NONE],
    [{ resource: 'serviceaccounts', name: 'robot' }, 'can only create tokens for individual service accounts'],
    [
      { resource: 'serviceaccounts', verb: 'create', name: 'robot' },
      'can only create token subresource of service account',
    ],
    [{ resource: 'serviceaccounts', subresource: 'token', verb: 'create', name: 'default' }, NONE],
    [
      { group: 'coordination.k8s.io', resource: 'leases', namespace: 'kube-node-lease', name: 'n2' },
      'can only access node lease with the same name as the requesting node',
    ],
    [
      { group: 'coordination.k8s.io', resource: 'leases', name: 'n1' },
      'can only access leases in the "kube-node-lease" system namespace',
    ],
    [
      { group: 'coordination.k8s.io', resource: 'leases', verb: 'list' },
      'can only get, create, update, patch, or delete a node lease',
    ],
    [
      { group: 'storage.k8s.io', resource: 'csinodes', namespace: '', name: 'n2' },
      'can only access CSINode with the same name as the requesting node',
    ],
    [{ resource: 'endpoints' }, ''],
  ])('does not reach %j', async (part, reason) => {
    expect(await authorize(node(part))).toEqual({ decision: 'no-opinion', reason });
  });

  it('is one only by name and group together', async () => {
    for (const user of [
      { name: 'system:node:n1', groups: ['system:authenticated'] },
      { name: 'n1', groups: ['system:nodes'] },
    ]) {
      expect(await authorize(node({ user, name: 'vol' }))).toEqual({ decision: 'no-opinion', reason: '' });
    }
    const nameless = { name: 'system:node:', groups: ['system:nodes'] };
    expect(await authorize(node({ user: nameless, name: 'vol' }))).toMatchObject({ decision: 'no-opinion' });
    expect(listRulesOfNode({ name: 'system:node:n1', groups: ['system:nodes'] }, '').incomplete).toBe(true);
  });
});

describe('the graph of nodes', () => {
  it('counts: what two pods need stays while one of them is there', () => {
    const counted = new NodeGraph();
    const volumes = [{ secret: { secretName: 's' } }];
    counted.putPod(pod('a', 'n1', { volumes }));
    counted.putPod(pod('b', 'n1', { volumes }));
    counted.putPod(pod('b', 'n1', { volumes }));
    counted.deletePod(pod('a', 'n1', {}));
    expect(counted.leadsTo('n1', 'secret', 'ns', 's')).toBe(true);
    counted.deletePod(pod('b', 'n1', {}));
    expect(counted.leadsTo('n1', 'secret', 'ns', 's')).toBe(false);
  });

  it('follows a volume that is bound to another claim, or goes', () => {
    const bound = new NodeGraph();
    bound.putPod(mounted);
    const volume = (name: string): KubeObject => ({
      metadata: { name: 'v' },
      spec: { claimRef: { namespace: 'ns', name }, csi: { nodePublishSecretRef: { name: 'key' } } },
    });
    bound.putVolume(volume('claim'));
    expect([bound.leadsTo('n1', 'volume', '', 'v'), bound.leadsTo('n1', 'secret', 'ns', 'key')]).toEqual([true, true]);
    bound.putVolume(volume('other'));
    expect([bound.leadsTo('n1', 'volume', '', 'v'), bound.leadsTo('n1', 'secret', 'ns', 'key')]).toEqual([
      false,
      false,
    ]);
    bound.putVolume(volume('claim'));
    bound.deleteVolume(volume('claim'));
    expect(bound.leadsTo('n1', 'volume', '', 'v')).toBe(false);
  });
});
