import type { FieldError } from '../errors/field-error';
import type { KubeObject } from '../object';
import { validateConfigMap, validateConfigMapUpdate } from './config-map';
import { validateDeployment, validateDeploymentStatusUpdate, validateDeploymentUpdate } from './deployment';
import { validateLease } from './lease';
import { validateNamespace, validateNamespaceFinalize, validateNamespaceStatusUpdate } from './namespace';
import { validateNetworkPolicy } from './network-policy';
import { validatePriorityClass, validatePriorityClassUpdate } from './priority-class';
import { validateSecret, validateSecretUpdate } from './secret';

const metadata = { name: 'x' };

/** `field: message` of every problem, in order. */
function texts(errors: readonly FieldError[]): readonly string[] {
  return errors.map(({ field, message }) => `${field}: ${message}`);
}

const LABEL_VALUE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const CONFIG_KEY =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

describe('network policies', () => {
  test.each<[string, object, readonly string[]]>([
    ['an empty spec', {}, []],
    ['a named port', { ingress: [{ ports: [{ port: 'http', protocol: 'UDP' }] }] }, []],
    ['a range of ports', { egress: [{ ports: [{ port: 80, endPort: 90 }] }] }, []],
    [
      'a peer that is none',
      { ingress: [{ from: [{}] }] },
      ['spec.ingress[0].from[0]: Required value: must specify a peer'],
    ],
    [
      'two sorts of peers at once',
      { egress: [{ to: [{ ipBlock: { cidr: '10.0.0.0/8' }, podSelector: {} }] }] },
      ['spec.egress[0].to[0]: Forbidden: may not specify both ipBlock and another peer'],
    ],
    [
      'a block without addresses',
      { ingress: [{ from: [{ ipBlock: {} }] }] },
      ['spec.ingress[0].from[0].ipBlock.cidr: Required value'],
    ],
    [
      'an exception that is everything',
      { ingress: [{ from: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16', '10.0.0.0/8'] } }] }] },
      ['spec.ingress[0].from[0].ipBlock.except[1]: Invalid value: "10.0.0.0/8": must be a strict subset of `cidr`'],
    ],
    [
      'three types',
      { policyTypes: ['Ingress', 'Egress', 'Ingress'] },
      [
        'spec.policyTypes: Invalid value: []networking.PolicyType{"Ingress", "Egress", "Ingress"}: may not specify more than two policyTypes',
      ],
    ],
    [
      'a range that ends before it begins',
      { egress: [{ ports: [{ port: 80, endPort: 79 }, { port: 'a', endPort: 1 }, { endPort: 1 }] }] },
      [
        'spec.egress[0].ports[0].endPort: Invalid value: 79: must be greater than or equal to `port`',
        'spec.egress[0].ports[1].endPort: Invalid value: 1: may not be specified when `port` is non-numeric',
        'spec.egress[0].ports[2].endPort: Invalid value: 1: may not be specified when `port` is not specified',
      ],
    ],
    [
      'much at once',
      {
        podSelector: { matchLabels: { a: '?' } },
        ingress: [{ ports: [{ port: 0, protocol: 'X' }, { port: 'B' }], from: [{}, { ipBlock: { cidr: 'q' } }] }],
        egress: [{ to: [{}], ports: [{ port: 99999 }] }],
        policyTypes: ['A'],
      },
      [
        `spec.podSelector.matchLabels: Invalid value: "?": ${LABEL_VALUE}`,
        'spec.ingress[0].ports[0].protocol: Unsupported value: "X": supported values: "TCP", "UDP", "SCTP"',
        'spec.ingress[0].ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive',
        'spec.ingress[0].ports[1].port: Invalid value: "B": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
        'spec.ingress[0].ports[1].port: Invalid value: "B": must contain at least one letter or number (a-z, 0-9)',
        'spec.ingress[0].from[0]: Required value: must specify a peer',
        'spec.ingress[0].from[1].ipBlock.cidr: Invalid value: "q": not a valid CIDR',
        'spec.egress[0].ports[0].port: Invalid value: 99999: must be between 1 and 65535, inclusive',
        'spec.egress[0].to[0]: Required value: must specify a peer',
        'spec.policyTypes[0]: Unsupported value: "A": supported values: "Ingress", "Egress"',
      ],
    ],
  ])('with %s', (_case, spec, expected) => {
    expect(texts(validateNetworkPolicy({ metadata, spec }))).toEqual(expected);
  });

  test.each<[object, readonly string[]]>([
    [{ key: 'a', operator: 'In' }, ["values: Required value: must be specified when `operator` is 'In' or 'NotIn'"]],
    [
      { key: 'a', operator: 'Exists', values: ['x'] },
      ["values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'"],
    ],
    [{ key: 'a', operator: 'Gt', values: ['1'] }, ['operator: Invalid value: "Gt": not a valid selector operator']],
    [{ key: 'a', operator: 'NotIn', values: ['1'] }, []],
  ])('with the expression %j in a selector', (expression, expected) => {
    const errors = validateNetworkPolicy({ metadata, spec: { podSelector: { matchExpressions: [expression] } } });
    expect(texts(errors)).toEqual(expected.map((text) => `spec.podSelector.matchExpressions[0].${text}`));
  });
});

describe('deployments', () => {
  const template = {
    metadata: { labels: { app: 'a' } },
    spec: {
      restartPolicy: 'Always',
      dnsPolicy: 'ClusterFirst',
      containers: [{ name: 'c', image: 'i', imagePullPolicy: 'Always', terminationMessagePolicy: 'File' }],
    },
  };
  const valid = {
    replicas: 1,
    selector: { matchLabels: { app: 'a' } },
    template,
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } },
    progressDeadlineSeconds: 600,
  };
  const rolling = (rollingUpdate: object) => ({ strategy: { type: 'RollingUpdate', rollingUpdate } });

  test.each<[string, object, readonly string[]]>([
    ['nothing wrong', {}, []],
    [
      'no selector',
      { selector: undefined },
      [
        'spec.selector: Required value',
        'spec.template.metadata.labels: Invalid value: map[string]string{"app":"a"}: `selector` does not match template `labels`',
      ],
    ],
    [
      'an empty selector',
      { selector: {} },
      [
        'spec.selector: Invalid value: v1.LabelSelector{MatchLabels:map[string]string(nil), MatchExpressions:[]v1.LabelSelectorRequirement(nil)}: empty selector is invalid for deployment',
      ],
    ],
    [
      'an expression without values',
      { selector: { matchExpressions: [{ key: 'app', operator: 'In' }] } },
      [
        "spec.selector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
        'spec.selector: Invalid value: v1.LabelSelector{MatchLabels:map[string]string(nil), MatchExpressions:[]v1.LabelSelectorRequirement{v1.LabelSelectorRequirement{Key:"app", Operator:"In", Values:[]string(nil)}}}: invalid label selector',
      ],
    ],
    [
      'another selector than labels',
      { selector: { matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['a'] }] } },
      [
        'spec.template.metadata.labels: Invalid value: map[string]string{"app":"a"}: `selector` does not match template `labels`',
      ],
    ],
    ['replicas below zero', { replicas: -1 }, ['spec.replicas: Invalid value: -1: must be greater than or equal to 0']],
    [
      'a deadline below zero',
      { progressDeadlineSeconds: -1 },
      [
        'spec.progressDeadlineSeconds: Invalid value: -1: must be greater than or equal to 0',
        'spec.progressDeadlineSeconds: Invalid value: -1: must be greater than minReadySeconds',
      ],
    ],
    [
      'pods that never move',
      rolling({ maxSurge: '0%', maxUnavailable: 0 }),
      [
        'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: intstr.IntOrString{Type:0, IntVal:0, StrVal:""}: may not be 0 when `maxSurge` is 0',
      ],
    ],
    [
      'more unavailable than there are',
      rolling({ maxSurge: 1, maxUnavailable: '101%' }),
      [
        'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: intstr.IntOrString{Type:1, IntVal:0, StrVal:"101%"}: must not be greater than 100%',
      ],
    ],
    [
      'a recreation with parameters',
      { strategy: { type: 'Recreate', rollingUpdate: {} } },
      ["spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'"],
    ],
    [
      'an unknown strategy',
      { strategy: { type: 'BlueGreen' } },
      [
        'spec.strategy: Unsupported value: apps.DeploymentStrategy{Type:"BlueGreen", RollingUpdate:(*apps.RollingUpdateDeployment)(nil)}: supported values: "Recreate", "RollingUpdate"',
      ],
    ],
    [
      'pods that end',
      { template: { ...template, spec: { ...template.spec, restartPolicy: 'Never' } } },
      ['spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"'],
    ],
  ])('with %s', (_case, change, expected) => {
    expect(texts(validateDeployment({ metadata, spec: { ...valid, ...change } }))).toEqual(expected);
  });

  test('the selector cannot change', () => {
    const selector = { matchLabels: { app: 'a', t: 'u' } };
    const changed = { ...valid, selector, template: { ...template, metadata: { labels: selector.matchLabels } } };
    expect(texts(validateDeploymentUpdate({ metadata, spec: changed }, { metadata, spec: valid }))).toEqual([
      'spec.selector: Invalid value: v1.LabelSelector{MatchLabels:map[string]string{"app":"a", "t":"u"}, MatchExpressions:[]v1.LabelSelectorRequirement(nil)}: field is immutable',
    ]);
    expect(validateDeploymentUpdate({ metadata, spec: valid }, { metadata, spec: valid })).toEqual([]);
  });

  test.each<[object, object, readonly string[]]>([
    [{ replicas: 2, readyReplicas: 2, availableReplicas: 1 }, {}, []],
    [
      { replicas: 1, availableReplicas: 2 },
      {},
      [
        'status.availableReplicas: Invalid value: 2: cannot be greater than status.replicas',
        'status.availableReplicas: Invalid value: 2: cannot be greater than readyReplicas',
      ],
    ],
    [{ collisionCount: 1 }, { collisionCount: 2 }, ['status.collisionCount: Invalid value: 1: cannot be decremented']],
    [{}, { collisionCount: 2 }, ['status.collisionCount: Invalid value: 0: cannot be decremented']],
    [
      { replicas: -1 },
      {},
      [
        'status.replicas: Invalid value: -1: must be greater than or equal to 0',
        ...['updatedReplicas', 'readyReplicas', 'availableReplicas'].map(
          (field) => `status.${field}: Invalid value: 0: cannot be greater than status.replicas`,
        ),
      ],
    ],
  ])('the status %j after %j', (status, old, expected) => {
    expect(texts(validateDeploymentStatusUpdate({ metadata, status }, { metadata, status: old }))).toEqual(expected);
  });
});

describe('leases and priority classes', () => {
  test('a lease lasts, and its transitions count up', () => {
    expect(validateLease({ metadata, spec: { leaseDurationSeconds: 1, leaseTransitions: 0 } })).toEqual([]);
    expect(validateLease({ metadata })).toEqual([]);
    expect(texts(validateLease({ metadata, spec: { leaseDurationSeconds: 0, leaseTransitions: -1 } }))).toEqual([
      'spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0',
      'spec.leaseTransitions: Invalid value: -1: must to greater or equal than 0',
    ]);
  });

  const reserved =
    "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: ";
  test.each<[KubeObject, readonly string[]]>([
    [{ metadata, value: 1_000_000_000, preemptionPolicy: 'Never' }, []],
    [
      { metadata, value: 1_000_000_001, preemptionPolicy: 'X' },
      [
        'value: Forbidden: maximum allowed value of a user defined priority is 1000000000',
        'preemptionPolicy: Unsupported value: "X": supported values: "PreemptLowerPriority", "Never"',
      ],
    ],
    [{ metadata, value: 1, preemptionPolicy: '' }, ['preemptionPolicy: Required value']],
    [{ metadata: { name: 'system-x' }, value: 1 }, [`${reserved}system-x is not a known system priority class`]],
    [{ metadata: { name: 'system-node-critical' }, value: 2_000_001_000 }, []],
    [
      { metadata: { name: 'system-node-critical' }, value: 5 },
      [`${reserved}value of system-node-critical PriorityClass must be 2000001000`],
    ],
    [
      { metadata: { name: 'system-cluster-critical' }, value: 2_000_000_000, globalDefault: true },
      [`${reserved}globalDefault of system-cluster-critical PriorityClass must be false`],
    ],
  ])('the priority class %j', (object, expected) => {
    expect(texts(validatePriorityClass(object))).toEqual(expected);
  });

  test('value and preemption policy of a priority class cannot change', () => {
    const old = { metadata, value: 1, preemptionPolicy: 'Never', description: 'a' };
    expect(validatePriorityClassUpdate({ ...old, description: 'b' }, old)).toEqual([]);
    expect(texts(validatePriorityClassUpdate({ ...old, value: 2, preemptionPolicy: 'Bad' }, old))).toEqual([
      'Value: Forbidden: may not be changed in an update.',
      'preemptionPolicy: Invalid value: "Bad": field is immutable',
    ]);
  });
});

describe('config maps and secrets', () => {
  test.each([
    ['a-b_c.d', []],
    ['a b', [CONFIG_KEY]],
    ['', [CONFIG_KEY]],
    ['.', ["must not be '.'"]],
    ['..', ["must not be '..'"]],
    ['..a', ["must not start with '..'"]],
    ['k'.repeat(254), ['must be no more than 253 characters']],
  ])('the key %j', (key, problems) => {
    const expected = problems.map((problem) => `data[${key}]: Invalid value: ${JSON.stringify(key)}: ${problem}`);
    expect(texts(validateConfigMap({ metadata, data: { [key]: '' } }))).toEqual(expected);
    expect(texts(validateSecret({ metadata, data: { [key]: '' } }))).toEqual(expected);
  });

  test('a key is in data or in binary data', () => {
    expect(texts(validateConfigMap({ metadata, data: { a: '1' }, binaryData: { a: 'YQ==' } }))).toEqual([
      'data[a]: Invalid value: "a": duplicate of key present in binaryData',
    ]);
  });

  test('the data may have a mebibyte together', () => {
    const half = 512 * 1024;
    const binary = Buffer.alloc(half).toString('base64');
    expect(validateConfigMap({ metadata, data: { a: 'x'.repeat(half) }, binaryData: { b: binary } })).toEqual([]);
    expect(
      texts(validateConfigMap({ metadata, data: { a: 'x'.repeat(half + 1) }, binaryData: { b: binary } })),
    ).toEqual(['[]: Too long: must have at most 1048576 bytes']);
    expect(texts(validateSecret({ metadata, data: { a: Buffer.alloc(2 * half + 1).toString('base64') } }))).toEqual([
      'data: Too long: must have at most 1048576 bytes',
    ]);
  });

  test('what is immutable stays so, and so does its data', () => {
    const old = { metadata, immutable: true, data: { a: '1' } };
    expect(validateConfigMapUpdate({ ...old, metadata: { name: 'x', labels: { l: '1' } } }, old)).toEqual([]);
    expect(texts(validateConfigMapUpdate({ metadata, data: { a: '2' } }, old))).toEqual([
      'immutable: Forbidden: field is immutable when `immutable` is set',
      'data: Forbidden: field is immutable when `immutable` is set',
    ]);
    expect(texts(validateSecretUpdate({ ...old, type: 'b' }, { ...old, type: 'a' }))).toEqual([
      'type: Invalid value: "b": field is immutable',
    ]);
  });

  const base64 = (text: string) => Buffer.from(text).toString('base64');
  test.each<[string, object, readonly string[]]>([
    ['example.com/any', {}, []],
    ['kubernetes.io/basic-auth', {}, ['data[%s][username]: Required value', 'data[%s][password]: Required value']],
    ['kubernetes.io/basic-auth', { username: '' }, []],
    ['kubernetes.io/ssh-auth', { 'ssh-privatekey': '' }, ['data[%s][ssh-privatekey]: Required value']],
    ['kubernetes.io/tls', { 'tls.crt': '' }, ['data[tls.key]: Required value']],
    ['kubernetes.io/dockercfg', {}, ['data[.dockercfg]: Required value']],
    ['kubernetes.io/dockerconfigjson', { '.dockerconfigjson': base64('{}') }, []],
    [
      'kubernetes.io/dockerconfigjson',
      { '.dockerconfigjson': base64('[') },
      ['data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": unexpected end of JSON input'],
    ],
    [
      'kubernetes.io/dockerconfigjson',
      { '.dockerconfigjson': base64('x') },
      [
        'data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": invalid character \'x\' looking for beginning of value',
      ],
    ],
    [
      'kubernetes.io/dockerconfigjson',
      { '.dockerconfigjson': base64('[]') },
      [
        'data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": json: cannot unmarshal array into Go value of type map[string]interface {}',
      ],
    ],
    [
      'kubernetes.io/service-account-token',
      {},
      ['metadata.annotations[kubernetes.io/service-account.name]: Required value'],
    ],
  ])('a secret of type %s with %j', (type, data, expected) => {
    expect(texts(validateSecret({ metadata, type, data }))).toEqual(expected);
  });
});

describe('namespaces', () => {
  const problem = 'Invalid value: "bad": name is neither a standard finalizer name nor is it fully qualified';

  test("finalizers have a domain, unless they are the system's", () => {
    expect(validateNamespace({ metadata, spec: { finalizers: ['kubernetes', 'a.b/c'] } })).toEqual([]);
    expect(texts(validateNamespace({ metadata, spec: { finalizers: ['bad'] } }))).toEqual([
      `spec.finalizers: ${problem}`,
    ]);
    expect(texts(validateNamespaceFinalize({ metadata, spec: { finalizers: ['bad'] } }))).toEqual([
      `spec.finalizers[0]: ${problem}`,
    ]);
  });

  test('the phase follows from the deletion timestamp', () => {
    const terminating = {
      metadata: { ...metadata, deletionTimestamp: '2024-01-01T00:00:00Z' },
      status: { phase: 'Terminating' },
    };
    expect(validateNamespaceStatusUpdate({ metadata, status: { phase: 'Active' } })).toEqual([]);
    expect(validateNamespaceStatusUpdate(terminating)).toEqual([]);
    expect(texts(validateNamespaceStatusUpdate({ ...terminating, status: { phase: 'Active' } }))).toEqual([
      'status.Phase: Invalid value: "Active": may only be \'Terminating\' if `deletionTimestamp` is not empty',
    ]);
    expect(texts(validateNamespaceStatusUpdate({ ...terminating, metadata }))).toEqual([
      'status.Phase: Invalid value: "Terminating": may only be \'Active\' if `deletionTimestamp` is empty',
    ]);
  });
});
