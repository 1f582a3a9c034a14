import type { KubeObject } from '../object';
import { CATALOGUE } from './catalogue';
import { withGatedRules, type RuleGate } from './gated-rules';
import type { KindDefinition } from './kind-definition';

/** Every gate whose rule holds without it. */
const PERMISSIVE: readonly RuleGate[] = [
  'DownwardAPIHugePages',
  'HugePageStorageMediumSize',
  'MixedProtocolLBService',
  'PodAffinityNamespaceSelector',
];

function kindOf(kind: string): KindDefinition {
  const definition = CATALOGUE.find((one) => one.kind === kind);
  if (definition === undefined) throw new Error(`no kind ${kind}`);
  return definition;
}

/** The problems that a kind's validation has with one gate turned and without. */
function problems(kind: string, gate: RuleGate) {
  const permissive = withGatedRules(kindOf(kind), (one) => PERMISSIVE.includes(one));
  const strict = withGatedRules(kindOf(kind), (one) => PERMISSIVE.includes(one) !== (one === gate));
  const texts = (definition: KindDefinition, object: KubeObject, old?: KubeObject) =>
    (old === undefined
      ? definition.strategy.validateCreate?.(object)
      : definition.strategy.validateUpdate?.(object, old)
    )?.map(({ field, message }) => `${field}: ${message}`) ?? [];
  return (object: KubeObject, old?: KubeObject) => {
    const usual = texts(permissive, object, old);
    return texts(strict, object, old).filter((text) => !usual.includes(text));
  };
}

const metadata = { name: 'x', namespace: 'n' };

describe('without the gate DownwardAPIHugePages', () => {
  const FIELDS =
    '"limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage", "requests.memory"';
  const resourceFieldRef = { containerName: 'c', resource: 'limits.hugepages-2Mi', divisor: '1Mi' };
  const spec = {
    containers: [{ name: 'c', image: 'i', env: [{ name: 'A', valueFrom: { resourceFieldRef } }] }],
    volumes: [
      { name: 'v', downwardAPI: { items: [{ path: 'a', resourceFieldRef }] } },
      { name: 'w', projected: { sources: [{ downwardAPI: { items: [{ path: 'a', resourceFieldRef }] } }] } },
    ],
  };
  const refused = (path: string) => [
    `${path}.volumes[0].downwardAPI.items[0].resourceFieldRef.resource: Unsupported value: "limits.hugepages-2Mi": supported values: ${FIELDS}`,
    `${path}.volumes[1].projected.sources[0].downwardAPI.items[0].resourceFieldRef.resource: Unsupported value: "limits.hugepages-2Mi": supported values: ${FIELDS}`,
    `${path}.containers[0].env[0].valueFrom.resourceFieldRef.resource: Unsupported value: "limits.hugepages-2Mi": supported values: ${FIELDS}`,
  ];

  it('the downward API does not show huge pages, in pods and templates', () => {
    expect(problems('Pod', 'DownwardAPIHugePages')({ metadata, spec })).toEqual(refused('spec'));
    const cronJob = { metadata, spec: { jobTemplate: { spec: { template: { spec } } } } };
    expect(problems('CronJob', 'DownwardAPIHugePages')(cronJob)).toEqual(
      refused('spec.jobTemplate.spec.template.spec'),
    );
  });

  it('what shows them already goes on', () => {
    const deployment = (template: object): KubeObject => ({ metadata, spec: { template: { spec: template } } });
    const found = problems('Deployment', 'DownwardAPIHugePages');
    expect(found(deployment(spec), deployment(spec))).toEqual([]);
    expect(found(deployment(spec), deployment({ containers: [] }))).toHaveLength(3);
  });
});

test('without the gate HugePageStorageMediumSize a pod has pages of one size', () => {
  const pod = (...sizes: readonly string[]): KubeObject => ({
    metadata,
    spec: {
      containers: sizes.map((size, index) => ({
        name: `c${index}`,
        image: 'i',
        resources: { limits: { [`hugepages-${size}`]: '2Gi', memory: '1Gi' } },
      })),
    },
  });
  const found = problems('Pod', 'HugePageStorageMediumSize');
  expect(found(pod('2Mi', '2Mi'))).toEqual([]);
  expect(found(pod('2Mi', '1Gi'))).toEqual([
    'spec: Invalid value: sets.String{"hugepages-1Gi":sets.Empty{}, "hugepages-2Mi":sets.Empty{}}: must use a single hugepage size in a pod spec',
  ]);
  expect(found(pod('2Mi', '1Gi'), pod('2Mi', '1Gi'))).toEqual([]);
});

test('without the gate MixedProtocolLBService a load balancer has one protocol', () => {
  const service = (type: string, ...protocols: readonly string[]): KubeObject => ({
    metadata,
    spec: {
      type,
      ports: protocols.map((protocol) => ({ name: protocol.toLowerCase(), protocol, port: 53, targetPort: 53 })),
    },
  });
  const found = problems('Service', 'MixedProtocolLBService');
  const port = (protocol: string) =>
    `core.ServicePort{Name:"${protocol.toLowerCase()}", Protocol:"${protocol}", AppProtocol:(*string)(nil), Port:53, TargetPort:intstr.IntOrString{Type:0, IntVal:53, StrVal:""}, NodePort:0}`;
  expect(found(service('LoadBalancer', 'TCP', 'UDP'))).toEqual([
    `spec.ports: Invalid value: []core.ServicePort{${port('TCP')}, ${port('UDP')}}: may not contain more than 1 protocol when type is 'LoadBalancer'`,
  ]);
  expect(found(service('LoadBalancer', 'TCP'))).toEqual([]);
  expect(found(service('ClusterIP', 'TCP', 'UDP'))).toEqual([]);
  expect(found(service('LoadBalancer', 'TCP', 'UDP'), service('ClusterIP', 'TCP', 'UDP'))).toEqual([]);
  expect(found(service('LoadBalancer', 'TCP', 'UDP'), service('LoadBalancer', 'TCP'))).toHaveLength(1);
});

test('without the gate PodAffinityNamespaceSelector no quota is of pods with affinity across namespaces', () => {
  const byScope: KubeObject = { metadata, spec: { hard: { pods: '1' }, scopes: ['CrossNamespacePodAffinity'] } };
  const matchExpressions = [{ scopeName: 'CrossNamespacePodAffinity', operator: 'Exists' }];
  const bySelector: KubeObject = { metadata, spec: { hard: { pods: '1' }, scopeSelector: { matchExpressions } } };
  const found = problems('ResourceQuota', 'PodAffinityNamespaceSelector');
  expect(found(byScope)).toEqual([
    'spec.scopes: Invalid value: []core.ResourceQuotaScope{"CrossNamespacePodAffinity"}: unsupported scope',
  ]);
  expect(found(bySelector)).toEqual([
    'spec.scopeSelector.matchExpressions.scopeName: Invalid value: "CrossNamespacePodAffinity": unsupported scope',
  ]);
  expect(found(byScope, byScope)).toEqual([]);
});

describe('with the gate PodDeletionCost', () => {
  const withCost = (cost: string): KubeObject => ({
    metadata: { ...metadata, annotations: { 'controller.kubernetes.io/pod-deletion-cost': cost } },
    spec: { containers: [] },
  });
  const found = problems('Pod', 'PodDeletionCost');

  it.each(['0', '-0', '10', '-08', '-2147483648', '2147483647'])('%s is a cost', (cost) => {
    expect(found(withCost(cost))).toEqual([]);
  });

  it.each(['', '+1', '01', '-', '1.5', 'x', '2147483648'])('%j is none', (cost) => {
    expect(found(withCost(cost))).toEqual([
      `metadata.annotations[controller.kubernetes.io/pod-deletion-cost]: Invalid value: ${JSON.stringify(cost)}: must be a 32bit integer`,
    ]);
  });

  it('a template names it in the same way, and a cost that is none already may stay', () => {
    const replicaSet = (cost: string): KubeObject => ({ metadata, spec: { template: withCost(cost) } });
    const ofReplicaSet = problems('ReplicaSet', 'PodDeletionCost');
    expect(ofReplicaSet(replicaSet('x'))).toEqual([
      'spec.template.annotations[controller.kubernetes.io/pod-deletion-cost]: Invalid value: "x": must be a 32bit integer',
    ]);
    expect(ofReplicaSet(replicaSet('x'), replicaSet('y'))).toEqual([]);
  });
});

test('kinds that no gate concerns stay as they are', () => {
  expect(withGatedRules(kindOf('ConfigMap'), () => false)).toBe(kindOf('ConfigMap'));
});
