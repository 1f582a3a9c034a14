import { CATALOGUE } from '../kinds/catalogue';
import type { KubeObject } from '../object';

const NOW = Date.parse('2024-01-01T00:01:00Z');
const metadata = { name: 'x', creationTimestamp: '2024-01-01T00:00:00Z' };

function cells(
  resource: string,
  object: Omit<KubeObject, 'metadata'> & { readonly metadata?: object },
): readonly unknown[] {
  const definition = CATALOGUE.find((candidate) => candidate.resource === resource);
  return definition?.table?.cells({ ...object, metadata: { ...metadata, ...object.metadata } }, NOW) ?? [];
}

const template = {
  metadata: { labels: { a: 'b' } },
  spec: {
    containers: [
      { name: 'c1', image: 'i:1' },
      { name: 'c2', image: 'i:2' },
    ],
  },
};

describe('table cells', () => {
  test.each<[string, string, Omit<KubeObject, 'metadata'> & { readonly metadata?: object }, readonly unknown[]]>([
    ['a namespace', 'namespaces', { status: { phase: 'Active' } }, ['x', 'Active', '60s']],
    ['a config map', 'configmaps', { data: { a: '' }, binaryData: { b: '', c: '' } }, ['x', 3, '60s']],
    ['a secret', 'secrets', { type: 'Opaque', data: { a: '' } }, ['x', 'Opaque', 1, '60s']],
    ['a service account', 'serviceaccounts', { secrets: [{ name: 's' }] }, ['x', 1, '60s']],
    ['a lease', 'leases', { spec: { holderIdentity: 'me' } }, ['x', 'me', '60s']],
    ['a priority class', 'priorityclasses', { value: 7 }, ['x', 7, false, '60s']],
    ['a storage version of which nothing is known', 'storageversions', {}, ['x', '<unset>', '<unset>', '60s']],
    [
      'a storage version',
      'storageversions',
      {
        status: {
          commonEncodingVersion: 'v1',
          storageVersions: ['a', 'b', 'c', 'd'].map((apiServerID) => ({ apiServerID, encodingVersion: 'v1' })),
        },
      },
      ['x', 'v1', 'a=v1,b=v1,c=v1 + 1 more...', '60s'],
    ],
    ['a limit range', 'limitranges', {}, ['x', '2024-01-01T00:00:00Z']],
    [
      'a network policy',
      'networkpolicies',
      {
        spec: {
          podSelector: {
            matchLabels: { b: '2', a: '1' },
            matchExpressions: [{ key: 'c', operator: 'In', values: ['y', 'x'] }],
          },
        },
      },
      ['x', 'a=1,b=2,c in (x,y)', '60s'],
    ],
    ['a network policy for all pods', 'networkpolicies', { spec: { podSelector: {} } }, ['x', '<none>', '60s']],
    [
      'a deployment',
      'deployments',
      {
        spec: { replicas: 3, template, selector: { matchLabels: { app: 'a' } } },
        status: { readyReplicas: 2, updatedReplicas: 1 },
      },
      ['x', '2/3', 1, 0, '60s', 'c1,c2', 'i:1,i:2', 'app=a'],
    ],
    [
      'a job that is running',
      'jobs',
      { spec: { completions: 4, template }, status: { succeeded: 2, startTime: '2024-01-01T00:00:30Z' } },
      ['x', '2/4', '30s', '60s', 'c1,c2', 'i:1,i:2', '<none>'],
    ],
    [
      'a cron job',
      'cronjobs',
      { spec: { schedule: '@daily', suspend: true, jobTemplate: { spec: { template } } }, status: { active: [{}] } },
      ['x', '@daily', 'True', 1, '<none>', '60s', 'c1,c2', 'i:1,i:2', '<none>'],
    ],
    [
      'a service',
      'services',
      {
        spec: {
          type: 'NodePort',
          clusterIPs: ['10.0.0.1'],
          ports: [
            { port: 80, nodePort: 30000, protocol: 'TCP' },
            { port: 53, protocol: 'UDP' },
          ],
          selector: { a: '1' },
        },
      },
      ['x', 'NodePort', '10.0.0.1', '<none>', '80:30000/TCP,53/UDP', '60s', 'a=1'],
    ],
    [
      'a service without an address',
      'services',
      { spec: { type: 'LoadBalancer' } },
      ['x', 'LoadBalancer', '<none>', '<pending>', '<none>', '60s', '<none>'],
    ],
    [
      'endpoints',
      'endpoints',
      { subsets: [{ addresses: [{ ip: '1.1.1.1' }, { ip: '::1' }], ports: [{ port: 80 }, { port: 81 }] }] },
      ['x', '1.1.1.1:80,[::1]:80,1.1.1.1:81 + 1 more...', '60s'],
    ],
    [
      'an ingress',
      'ingresses',
      {
        spec: { rules: [{ host: 'a' }, { host: 'b' }, { host: 'c' }, { host: 'd' }], tls: [{}] },
        status: { loadBalancer: { ingress: [{ hostname: 'h' }, { ip: '1.1.1.1' }] } },
      },
      ['x', '<none>', 'a,b,c + 1 more...', '1.1.1.1,h', '80, 443', '60s'],
    ],
    [
      'a node',
      'nodes',
      {
        metadata: { labels: { 'node-role.kubernetes.io/master': '', 'kubernetes.io/role': 'edge' } },
        spec: { unschedulable: true },
        status: {
          conditions: [{ type: 'Ready', status: 'True' }],
          addresses: [{ type: 'InternalIP', address: '1.1.1.1' }],
          nodeInfo: { kubeletVersion: 'v1' },
        },
      },
      [
        'x',
        'Ready,SchedulingDisabled',
        'edge,master',
        '60s',
        'v1',
        '1.1.1.1',
        '<none>',
        '<unknown>',
        '<unknown>',
        '<unknown>',
      ],
    ],
    [
      'a role binding',
      'rolebindings',
      {
        roleRef: { kind: 'Role', name: 'r' },
        subjects: [
          { kind: 'User', name: 'u1' },
          { kind: 'User', name: 'u2' },
          { kind: 'ServiceAccount', namespace: 'n', name: 's' },
        ],
      },
      ['x', 'Role/r', '60s', 'u1, u2', '', 'n/s'],
    ],
    [
      'a resource quota',
      'resourcequotas',
      { status: { hard: { pods: '4', 'limits.cpu': '2', configmaps: '9' }, used: { pods: '1' } } },
      ['x', '60s', 'configmaps: 0/9, pods: 1/4', 'limits.cpu: 0/2'],
    ],
    [
      'an event',
      'events',
      {
        involvedObject: { kind: 'Pod', name: 'p' },
        source: { component: 'kubelet', host: 'n1' },
        type: 'Normal',
        reason: 'Started',
        message: ' m\n',
        firstTimestamp: '2024-01-01T00:00:10Z',
        lastTimestamp: null,
      },
      ['50s', 'Normal', 'Started', 'pod/p', '', 'kubelet, n1', 'm', '50s', 1, 'x'],
    ],
    [
      'an autoscaler',
      'horizontalpodautoscalers',
      {
        spec: {
          scaleTargetRef: { kind: 'Deployment', name: 'd' },
          minReplicas: 2,
          maxReplicas: 5,
          metrics: [
            { type: 'Pods', pods: { target: { averageValue: '100Mi' } } },
            { type: 'Resource', resource: { target: { averageUtilization: 50 } } },
            { type: 'Object', object: {} },
          ],
        },
        status: { currentReplicas: 3, currentMetrics: [{ type: 'Pods', pods: { current: { averageValue: '70m' } } }] },
      },
      ['x', 'Deployment/d', '70m/100Mi, <unknown>/50% + 1 more...', '2', 5, 3, '60s'],
    ],
    [
      'an unavailable API service',
      'apiservices',
      {
        spec: { service: { namespace: 'n', name: 's' } },
        status: { conditions: [{ type: 'Available', status: 'False', reason: 'Missing' }] },
      },
      ['x', 'n/s', 'False (Missing)', '60s'],
    ],
  ])('of %s', (_case, resource, object, expected) => {
    expect(cells(resource, object)).toEqual(expected);
  });
});
