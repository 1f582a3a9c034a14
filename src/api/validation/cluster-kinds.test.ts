import { problemsOfChange, problemsOfNew, sentAs } from '../kinds/write.fixture';
import { requiredEntropyBits } from './priority-level';

const metadata = { name: 'x' };

function backend(service: object): object {
  return { rules: [{ http: { paths: [{ path: '/', pathType: 'Prefix', backend: { service } }] } }] };
}

/** Kind, what it is about, the fields besides metadata, the problems. */
const CASES: readonly (readonly [kind: string, name: string, body: object, problems: readonly string[]])[] = [
  ['networking.k8s.io/v1 Ingress', 'a service', { spec: backend({ name: 's', port: { number: 80 } }) }, []],
  [
    'networking.k8s.io/v1 Ingress',
    'a port that is none',
    { spec: backend({ name: 's', port: { number: 70_000 } }) },
    [
      'spec.rules[0].http.paths[0].backend.service.port.number: Invalid value: 70000: must be between 1 and 65535, inclusive',
    ],
  ],
  [
    'networking.k8s.io/v1beta1 Ingress',
    'fields as the older version calls them',
    { spec: { backend: { servicePort: 80 } } },
    ['spec.backend.serviceName: Required value'],
  ],
  [
    'networking.k8s.io/v1 Ingress',
    'nothing',
    { spec: {} },
    ['spec: Invalid value: []networking.IngressRule(nil): either `defaultBackend` or `rules` must be specified'],
  ],
  ['networking.k8s.io/v1 IngressClass', 'no controller', { spec: {} }, ['spec.controller: Required value']],
  [
    'discovery.k8s.io/v1 EndpointSlice',
    'an address of the other sort, and ports without names',
    { addressType: 'IPv4', endpoints: [{ addresses: ['::1'] }], ports: [{ port: 1 }, { port: 2 }] },
    [
      'endpoints[0].addresses[0]: Invalid value: "::1": must be a valid IPv4 address',
      'ports[1].name: Duplicate value: ""',
    ],
  ],
  [
    'node.k8s.io/v1 RuntimeClass',
    'a toleration twice',
    {
      handler: 'h',
      scheduling: {
        tolerations: [
          { key: 'x', operator: 'Exists' },
          { key: 'x', operator: 'Exists' },
        ],
      },
    },
    [
      'scheduling.tolerations[1]: Duplicate value: core.Toleration{Key:"x", Operator:"Exists", Value:"", Effect:"", TolerationSeconds:(*int64)(nil)}',
    ],
  ],
  [
    'storage.k8s.io/v1 StorageClass',
    'an empty key and an unknown policy',
    { provisioner: 'p', parameters: { '': 'x' }, reclaimPolicy: 'Recycle' },
    [
      'parameters: Invalid value: "": field can not be empty.',
      'reclaimPolicy: Unsupported value: "Recycle": supported values: "Delete", "Retain"',
    ],
  ],
  [
    'storage.k8s.io/v1 CSINode',
    'each problem is reported twice',
    { spec: { drivers: [{ name: 'd' }] } },
    ['spec.drivers[0].nodeID: Required value', 'spec.drivers[0].nodeID: Required value'],
  ],
  [
    'storage.k8s.io/v1 VolumeAttachment',
    'no source',
    { spec: { attacher: 'a.b', nodeName: 'n', source: {} } },
    ['spec.source: Required value: must specify exactly one of inlineVolumeSpec and persistentVolumeName'],
  ],
  [
    'storage.k8s.io/v1 VolumeAttachment',
    'a volume of its own that says what only objects say, and has two sources',
    {
      spec: {
        attacher: 'a.b',
        nodeName: 'n',
        source: {
          inlineVolumeSpec: {
            accessModes: ['X'],
            capacity: { storage: '1' },
            persistentVolumeReclaimPolicy: 'Delete',
            nodeAffinity: {},
            storageClassName: 's',
            volumeMode: 'Block',
            nfs: { server: 's', path: 'p' },
            csi: { driver: 'd', volumeHandle: 'h' },
          },
        },
      },
    },
    [
      'capacity: Forbidden: may not be specified in the context of inline volumes',
      'accessModes: Unsupported value: "X": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce"',
      'persistentVolumeReclaimPolicy: Forbidden: may only be Retain in the context of inline volumes',
      'nodeAffinity: Forbidden: may not be specified in the context of inline volumes',
      'nfs.path: Invalid value: "p": must be an absolute path',
      'csi: Forbidden: may not specify more than 1 volume type',
      'storageClassName: Forbidden: may not be specified in the context of inline volumes',
      'volumeMode: Forbidden: may not specify volumeMode other than Filesystem in the context of inline volumes',
    ].map((problem) => `spec.source.inlineVolumeSpec.${problem}`),
  ],
  [
    'apiregistration.k8s.io/v1 APIService',
    'a name that says something else',
    { spec: { group: 'g.b', version: 'v1', groupPriorityMinimum: 1, versionPriority: 1 } },
    ['metadata.name: Invalid value: "x": must be `spec.version+"."+spec.group`: "v1.g.b"'],
  ],
  [
    'flowcontrol.apiserver.k8s.io/v1beta1 FlowSchema',
    'a rule about nothing',
    {
      spec: {
        priorityLevelConfiguration: { name: 'l' },
        rules: [{ subjects: [{ kind: 'User', user: { name: 'u' } }] }],
      },
    },
    ['spec.rules[0]: Required value: at least one of resourceRules and nonResourceRules has to be non-empty'],
  ],
  [
    'flowcontrol.apiserver.k8s.io/v1beta1 PriorityLevelConfiguration',
    'more queues than a hash can tell apart',
    {
      spec: {
        type: 'Limited',
        limited: {
          limitResponse: { type: 'Queue', queuing: { queues: 100_000_000, handSize: 8, queueLengthLimit: 1 } },
        },
      },
    },
    [
      'spec.limited.limitResponse.queuing.queues: Invalid value: 100000000: must not be greater than 10000000',
      'spec.limited.limitResponse.queuing.handSize: Invalid value: 8: required entropy bits of deckSize 100000000 and handSize 8 should not be greater than 60',
    ],
  ],
  [
    'flowcontrol.apiserver.k8s.io/v1 PriorityLevelConfiguration',
    'numbers that are none of its kind',
    {
      spec: {
        type: 'Limited',
        limited: {
          nominalConcurrencyShares: -1,
          lendablePercent: 101,
          borrowingLimitPercent: -1,
          limitResponse: { type: 'Reject' },
        },
        exempt: {},
      },
    },
    [
      'spec.exempt: Forbidden: must be nil if the type is not Exempt',
      'spec.limited.nominalConcurrencyShares: Invalid value: -1: must be a non-negative integer',
      'spec.limited.lendablePercent: Invalid value: 101: must be between 0 and 100, inclusive',
      'spec.limited.borrowingLimitPercent: Invalid value: -1: if specified, must be a non-negative integer',
    ],
  ],
  [
    'flowcontrol.apiserver.k8s.io/v1beta1 PriorityLevelConfiguration',
    'a negative part',
    { spec: { type: 'Limited', limited: { assuredConcurrencyShares: -1, limitResponse: { type: 'Reject' } } } },
    ['spec.limited.assuredConcurrencyShares: Invalid value: -1: must be positive'],
  ],
  [
    'policy/v1beta1 PodSecurityPolicy',
    'what is allowed twice, or by default alone',
    {
      spec: {
        seLinux: { rule: 'RunAsAny' },
        runAsUser: { rule: 'RunAsAny' },
        runAsGroup: { rule: 'RunAsAny', ranges: [{ min: 5, max: 1 }] },
        supplementalGroups: { rule: 'RunAsAny' },
        fsGroup: { rule: 'RunAsAny' },
        allowedCSIDrivers: [{ name: 'a_b' }],
        runtimeClass: { allowedRuntimeClassNames: ['x', 'x'], defaultRuntimeClassName: 'z' },
      },
    },
    [
      'spec.runAsGroup.ranges: Invalid value: []policy.IDRange{policy.IDRange{Min:5, Max:1}}: Ranges must be empty',
      expect.stringContaining('spec.allowedCSIDrivers.allowedCSIDriver[0].name: Invalid value: "a_b"') as string,
      'spec.runtimeClass.allowedRuntimeClassNames[1]: Duplicate value: "x"',
      'spec.runtimeClass.allowedRuntimeClassNames: Required value: default "z" must be allowed',
    ],
  ],
  [
    'policy/v1beta1 PodSecurityPolicy',
    'no names of users, and another order for groups',
    {
      spec: {
        seLinux: { rule: 'RunAsAny' },
        runAsUser: { rule: 'RunAsAny' },
        runAsGroup: { rule: 'X', ranges: [{ min: 5, max: 1 }] },
        supplementalGroups: { rule: 'RunAsAny' },
        fsGroup: { rule: 'RunAsAny' },
        runtimeClass: { allowedRuntimeClassNames: ['*'], defaultRuntimeClassName: 'z' },
      },
    },
    ['spec.runAsGroup.rule: Unsupported value: "X": supported values: "MustRunAs", "RunAsAny", "MayRunAs"'],
  ],
  [
    'policy/v1beta1 PodSecurityPolicy',
    'host paths after the first that is missing',
    {
      spec: {
        seLinux: { rule: 'RunAsAny' },
        runAsUser: { rule: 'RunAsAny' },
        supplementalGroups: { rule: 'RunAsAny' },
        fsGroup: { rule: 'RunAsAny' },
        allowedHostPaths: [{ pathPrefix: '/a/..' }, {}, { pathPrefix: '/../b' }, {}],
      },
    },
    [
      'spec.allowedHostPaths[0]: Invalid value: "/a/..": must not contain \'..\'',
      'spec.allowedHostPaths[1]: Required value: is required',
    ],
  ],
  [
    'policy/v1beta1 PodSecurityPolicy',
    'rules that there are not',
    {
      spec: {
        seLinux: { rule: 'X' },
        runAsUser: { rule: 'RunAsAny' },
        supplementalGroups: { rule: 'RunAsAny' },
        fsGroup: { rule: 'RunAsAny' },
      },
    },
    ['spec.seLinux.rule: Unsupported value: "X": supported values: "MustRunAs", "RunAsAny"'],
  ],
];

test.each(CASES)('%s: %s', (kind, _name, body, problems) => {
  expect(problemsOfNew(sentAs(kind), { metadata, ...body })).toEqual(problems);
});

describe('webhook configurations', () => {
  const hook = {
    name: 'w.example.com',
    admissionReviewVersions: ['v1'],
    sideEffects: 'None',
    clientConfig: { url: 'https://a/b' },
    rules: [{ operations: ['CREATE'], apiGroups: ['g'], apiVersions: ['v1'], resources: ['r'] }],
  };

  test.each<[string, object, readonly string[]]>([
    ['a plain one', {}, []],
    [
      'a name without a domain',
      { name: 'w' },
      ['webhooks[0].name: Invalid value: "w": should be a domain with at least three segments separated by dots'],
    ],
    [
      'a URL with more than a path',
      { clientConfig: { url: 'https://a/b?c=d#e' } },
      [
        'webhooks[0].clientConfig.url: Invalid value: "e": fragments are not permitted in the URL',
        'webhooks[0].clientConfig.url: Invalid value: "c=d": query parameters are not permitted in the URL',
      ],
    ],
    [
      'a URL without a host',
      { clientConfig: { url: 'https:///a' } },
      ['webhooks[0].clientConfig.url: Invalid value: "": host must be provided; desired format: https://host[/path]'],
    ],
    [
      'conditions without a name or an expression, or with the name of another',
      {
        matchConditions: [
          { name: 'a', expression: 'true' },
          { name: 'a', expression: 'true' },
          { name: '', expression: ' ' },
        ],
      },
      [
        'webhooks[0].matchConditions[1].name: Duplicate value: "a"',
        'webhooks[0].matchConditions[2].expression: Required value',
        'webhooks[0].matchConditions[2].name: Required value',
      ],
    ],
    [
      'too many conditions',
      { matchConditions: Array.from({ length: 65 }, (_, index) => ({ name: `c${index}`, expression: 'true' })) },
      ['webhooks[0].matchConditions: Too many: 65: must have at most 64 items'],
    ],
    [
      'a path with a hole',
      { clientConfig: { service: { name: 's', namespace: 'n', path: '/a//b' } } },
      ['webhooks[0].clientConfig.service.path: Invalid value: "/a//b": segment[1] may not be empty'],
    ],
    [
      'resources that overlap',
      { rules: [{ ...hook.rules[0], resources: ['r/*', 'r/status'] }] },
      [
        'webhooks[0].rules[0].resources[1]: Invalid value: "r/status": if \'r/*\' is present, must not specify r/status',
      ],
    ],
  ])('%s', (_name, change, problems) => {
    const sent = sentAs('admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration');
    expect(problemsOfNew(sent, { metadata, webhooks: [{ ...hook, ...change }] })).toEqual(problems);
  });

  test('v1beta1 takes webhooks that v1 does not', () => {
    const webhooks = [
      { ...hook, sideEffects: 'Some' },
      { ...hook, sideEffects: 'Some' },
    ];
    const v1 = sentAs('admissionregistration.k8s.io/v1 MutatingWebhookConfiguration');
    const beta = sentAs('admissionregistration.k8s.io/v1beta1 MutatingWebhookConfiguration');
    expect(problemsOfNew(beta, { metadata, webhooks })).toEqual([]);
    expect(problemsOfNew(v1, { metadata, webhooks })).toHaveLength(3);
    // What the old object has, an update by v1 may keep.
    expect(problemsOfChange(v1, { metadata, webhooks }, {})).toEqual([]);
  });
});

test('the bits of a hand are those of the number of different hands', () => {
  expect(requiredEntropyBits(2, 1)).toBe(1);
  expect(requiredEntropyBits(64, 8)).toBe(48);
  expect(requiredEntropyBits(128, 6)).toBe(42);
});
