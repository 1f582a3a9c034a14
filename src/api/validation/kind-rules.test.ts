import { created, decoded, problemsOfChange, problemsOfNew, sentAs } from '../kinds/write.fixture';
import { validateClaimSpec } from './persistent-volume-claim';

/** Rules of single kinds that are easily let through, or taken too strictly. */

const metadata = { name: 'x', resourceVersion: '1' };

describe('an ingress', () => {
  const beta = sentAs('networking.k8s.io/v1beta1 Ingress');
  const v1 = sentAs('networking.k8s.io/v1 Ingress');
  const wildcard = { rules: [{ host: '*.example.com', http: { paths: [] } }] };
  const secret = { defaultBackend: { service: { name: 's', port: { number: 1 } } }, tls: [{ secretName: 'No_Name' }] };

  test('of the beta version may say anything below a host with a star', () => {
    expect(problemsOfNew(beta, { metadata, spec: wildcard })).toEqual([]);
    expect(problemsOfNew(v1, { metadata, spec: wildcard })).toEqual(['spec.rules[0].http.paths: Required value']);
  });

  test('keeps a wrong name of a secret that it has', () => {
    const old = decoded(v1, { metadata, spec: secret });
    expect(problemsOfNew(v1, { metadata, spec: secret })).toHaveLength(1);
    expect(problemsOfChange(v1, old, { metadata: { ...metadata, labels: { a: 'b' } } })).toEqual([]);
  });
});

describe('an ingress class', () => {
  const sent = sentAs('networking.k8s.io/v1 IngressClass');

  test('is checked whole when it changes', () => {
    const old = decoded(sent, { metadata, spec: { controller: 'a.b/c' } });
    expect(problemsOfChange(sent, old, { spec: { controller: '' } })).toEqual([
      'spec.controller: Invalid value: "": field is immutable',
      'spec.controller: Required value',
    ]);
  });
});

describe('a claim', () => {
  const sent = sentAs('v1 PersistentVolumeClaim');
  const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1' } } };

  test.each([
    [{ kind: 'PersistentVolumeClaim', name: 'c' }, []],
    [{ kind: 'PersistentVolumeClaim' }, ['spec.dataSource.name: Required value']],
    [{ name: 'c', apiGroup: 'g' }, ['spec.dataSource.kind: Required value']],
    [{ kind: 'VolumeSnapshot', name: 's' }, ['spec.dataSource: Invalid value: "VolumeSnapshot"']],
  ])('that begins as %j', (dataSource, problems) => {
    const errors = validateClaimSpec({ ...spec, dataSource }, 'spec');
    expect(errors.map(({ field, message }) => `${field}: ${message}`)).toEqual(problems);
  });

  test('of less than nothing is told so once', () => {
    const negative = { ...spec, resources: { requests: { storage: '-5' } } };
    expect(problemsOfNew(sent, { metadata, spec: negative })).toEqual([
      'spec.resources[storage]: Invalid value: "-5": must be greater than zero',
    ]);
  });
});

describe('a CSI driver', () => {
  const sent = sentAs('storage.k8s.io/v1 CSIDriver');

  test('keeps its policy for groups', () => {
    const old = decoded(sent, { metadata, spec: { fsGroupPolicy: 'None' } });
    const spec = { ...(old['spec'] as object), fsGroupPolicy: 'Bogus' };
    expect(problemsOfChange(sent, old, { spec })).toEqual([
      'spec.fsGroupPolicy: Invalid value: "Bogus": field is immutable',
    ]);
  });
});

describe('a storage class', () => {
  const sent = sentAs('storage.k8s.io/v1 StorageClass');
  const zone = (...values: readonly string[]) => ({ matchLabelExpressions: [{ key: 'zone', values }] });

  test.each([
    [[zone('a', 'b'), zone('a')], 0],
    [[zone('a', 'b'), zone('b', 'a')], 1],
    [[{ matchLabelExpressions: [] }], 1],
    [[zone('a'), {}, {}], 2],
  ])('with the topologies %j has %i repeats', (allowedTopologies, repeats) => {
    const problems = problemsOfNew(sent, { metadata, provisioner: 'p', allowedTopologies });
    expect(problems.filter((problem) => problem.includes('matchLabelExpressions: Duplicate value: ""'))).toHaveLength(
      repeats,
    );
  });
});

describe('an autoscaler', () => {
  const sent = sentAs('autoscaling/v2beta2 HorizontalPodAutoscaler');
  const base = { maxReplicas: 3, scaleTargetRef: { kind: 'Deployment', name: 'd' } };
  const cpu = { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 5 } } };
  const pods = { type: 'Pods', pods: { metric: { name: 'm' }, target: { type: 'AverageValue', averageValue: '2' } } };

  test('whose behaviour says that there are no policies is refused', () => {
    const behavior = { scaleDown: { policies: [] } };
    expect(problemsOfNew(sent, { metadata, spec: { ...base, behavior } })).toEqual([
      'spec.behavior.scaleDown.policies: Required value: must specify at least one Policy',
    ]);
    expect(problemsOfNew(sent, { metadata, spec: { ...base, behavior: { scaleDown: {} } } })).toEqual([]);
  });

  test('is kept with the CPU as the last of its metrics, as it comes back from the store', () => {
    const { strategy } = sent.definition;
    const object = created(sent, { metadata, spec: { ...base, metrics: [cpu, pods] } });
    expect(strategy.canonicalize?.(object)).toMatchObject({ spec: { metrics: [pods, cpu] } });
  });

  test('is told of a value that is not positive once, as Go prints it', () => {
    const nothing = { ...pods, pods: { ...pods.pods, target: { type: 'AverageValue', averageValue: '0' } } };
    expect(problemsOfNew(sent, { metadata, spec: { ...base, metrics: [nothing] } })).toEqual([
      'spec.metrics[0].pods.target.averageValue: Invalid value: resource.Quantity{i:resource.int64Amount{value:0, scale:0}, d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}, s:"0", Format:"DecimalSI"}: must be positive',
    ]);
  });
});

describe('a disruption budget', () => {
  const sent = sentAs('policy/v1beta1 PodDisruptionBudget');

  test('with a negative count in its status cannot be changed', () => {
    const old = { ...decoded(sent, { metadata, spec: {} }), status: { currentHealthy: -1 } };
    expect(problemsOfChange(sent, old, {})).toEqual([
      'status.currentHealthy: Invalid value: -1: must be greater than or equal to 0',
    ]);
  });
});

describe('a limit range', () => {
  const sent = sentAs('v1 LimitRange');

  test('compares a ratio with a negative minimum as well', () => {
    const limits = [{ type: 'Pod', min: { cpu: '-1' }, max: { cpu: '4' }, maxLimitRequestRatio: { cpu: '2' } }];
    expect(problemsOfNew(sent, { metadata, spec: { limits } }).join()).toContain(
      'ratio 2 is greater than max/min = -4.000000',
    );
  });
});

describe('a runtime class', () => {
  test('names its lists as kube-apiserver does', () => {
    const sent = sentAs('node.k8s.io/v1 RuntimeClass');
    const body = { metadata, handler: 'h', scheduling: { tolerations: [{}] }, overhead: { podFixed: { cpu: '-1' } } };
    expect(problemsOfNew(sent, body).map((problem) => problem.split(': ')[0])).toEqual([
      'overhead.limits[cpu]',
      'scheduling.tolerations.tolerations[0].operator',
    ]);
  });
});

describe('a stateful set', () => {
  const sent = sentAs('apps/v1 StatefulSet');
  const strategyOf = (updateStrategy?: object): unknown =>
    (decoded(sent, { metadata, spec: { updateStrategy } })['spec'] as Record<string, unknown>)['updateStrategy'];

  test('gets the parameters of its strategy with the strategy only', () => {
    expect(strategyOf()).toEqual({ type: 'RollingUpdate', rollingUpdate: { partition: 0 } });
    expect(strategyOf({ type: 'RollingUpdate' })).toEqual({ type: 'RollingUpdate' });
    expect(strategyOf({ type: 'RollingUpdate', rollingUpdate: {} })).toEqual({
      type: 'RollingUpdate',
      rollingUpdate: { partition: 0 },
    });
  });
});

describe('an image', () => {
  const sent = sentAs('v1 Pod');
  const policy = (image: string): unknown => {
    const pod = decoded(sent, { metadata, spec: { containers: [{ name: 'c', image }] } });
    return (pod['spec'] as { containers: readonly { imagePullPolicy?: string }[] }).containers[0]?.imagePullPolicy;
  };

  test('with a name that is too long is none whose newest is pulled', () => {
    expect(policy('a'.repeat(237))).toBe('Always');
    expect(policy('a'.repeat(238))).toBe('IfNotPresent');
  });
});

describe('the name of a cluster in the metadata of a template', () => {
  test('is kept', () => {
    const sent = sentAs('v1 PodTemplate');
    const template = { metadata: { clusterName: 'c' }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    expect(decoded(sent, { metadata, template })).toMatchObject({ template: { metadata: { clusterName: 'c' } } });
  });
});

describe('a prefix that a name is made from', () => {
  test.each(['Role', 'ClusterRole', 'RoleBinding', 'ClusterRoleBinding'])('of a %s may not be two dots', (kind) => {
    const { validateName } = sentAs(`rbac.authorization.k8s.io/v1 ${kind}`).definition;
    expect(validateName('..', true)).toEqual(["may not be '..'"]);
    expect(validateName('a:', true)).toEqual([]);
  });

  test('is the whole name where that follows from the rest', () => {
    const prefixed = { ...metadata, name: 'v1.example.com', generateName: 'v1.' };
    const spec = { group: 'example.com', version: 'v1', groupPriorityMinimum: 1, versionPriority: 1 };
    const sent = sentAs('apiregistration.k8s.io/v1 APIService');
    expect(problemsOfNew(sent, { metadata: prefixed, spec })).toEqual([
      'metadata.generateName: Invalid value: "v1.": must be `spec.version+"."+spec.group`: "v1.example.com"',
    ]);
    const definition = sentAs('apiextensions.k8s.io/v1 CustomResourceDefinition');
    expect(problemsOfNew(definition, { metadata: { name: 'a.b', generateName: 'a' }, spec: {} })).toEqual(
      expect.arrayContaining(['metadata.generateName: Invalid value: "a": must be spec.names.plural+"."+spec.group']),
    );
  });
});

describe('a conversion webhook that says nothing', () => {
  const conversionOf = (webhook: object): unknown => {
    const sent = sentAs('apiextensions.k8s.io/v1 CustomResourceDefinition');
    const { spec } = decoded(sent, { metadata, spec: { conversion: { strategy: 'None', webhook } } });
    return (spec as { conversion: unknown }).conversion;
  };

  test('is none', () => {
    expect(conversionOf({})).toEqual({ strategy: 'None' });
    expect(conversionOf({ conversionReviewVersions: [] })).toEqual({ strategy: 'None' });
    expect(conversionOf({ conversionReviewVersions: ['v1'] })).toHaveProperty('webhook');
  });
});

describe('a claim in the template of a stateful set', () => {
  test('is a claim, whatever kind was sent', () => {
    const sent = sentAs('apps/v1 StatefulSet');
    const volumeClaimTemplates = [{ apiVersion: 'x/v9', kind: 'Volume', metadata: { name: 'v' } }, {}];
    expect(decoded(sent, { metadata, spec: { volumeClaimTemplates } })).toMatchObject({
      spec: {
        volumeClaimTemplates: [
          { kind: 'PersistentVolumeClaim', apiVersion: 'v1', metadata: { name: 'v' } },
          { kind: 'PersistentVolumeClaim', apiVersion: 'v1' },
        ],
      },
    });
  });
});

describe('a second source of a volume', () => {
  test.each([
    ['gcePersistentDisk', { pdName: 'x' }, 'gcePersistentDisk'],
    ['downwardAPI', {}, 'downwarAPI'],
    ['cephfs', {}, 'cephFS'],
  ])('%s is refused by the name that the wire has', (source, value, name) => {
    const volumes = [{ name: 'v', hostPath: { path: '/' }, [source]: value }];
    const spec = { containers: [{ name: 'c', image: 'i' }], volumes };
    expect(problemsOfNew(sentAs('v1 Pod'), { metadata, spec })).toEqual([
      `spec.volumes[0].${name}: Forbidden: may not specify more than 1 volume type`,
    ]);
  });
});

describe('a load balancer with a protocol that there is not', () => {
  test('is told so once', () => {
    const spec = { type: 'LoadBalancer', ports: [{ port: 1, protocol: 'x' }] };
    expect(problemsOfNew(sentAs('v1 Service'), { metadata, spec })).toEqual([
      'spec.ports[0].protocol: Unsupported value: "x": supported values: "SCTP", "TCP", "UDP"',
    ]);
  });
});

describe('a backend of an ingress of the beta version', () => {
  test.each(['extensions/v1beta1', 'networking.k8s.io/v1beta1'])(
    'of %s whose port is an empty text has one',
    (version) => {
      const sent = sentAs(`${version} Ingress`);
      expect(problemsOfNew(sent, { metadata, spec: { backend: { servicePort: '' } } })).toEqual([
        'spec.backend.serviceName: Required value',
        'spec.backend: Required value: port name or number is required',
      ]);
      expect(problemsOfNew(sent, { metadata, spec: { backend: { servicePort: 0 } } })).toEqual([
        'spec.backend: Invalid value: "": resource or service backend is required',
      ]);
    },
  );
});

describe('what has no handler in an init container', () => {
  test.each([
    ['lifecycle', 'core.Lifecycle{PostStart:(*core.Handler)(nil), PreStop:(*core.Handler)(nil)}'],
    [
      'livenessProbe',
      'core.Probe{Handler:core.Handler{Exec:(*core.ExecAction)(nil), HTTPGet:(*core.HTTPGetAction)(nil), TCPSocket:(*core.TCPSocketAction)(nil)}, InitialDelaySeconds:0, TimeoutSeconds:1, PeriodSeconds:10, SuccessThreshold:1, FailureThreshold:3}',
    ],
  ])('is shown as Go prints it: %s', (field, literal) => {
    const initContainers = [{ name: 'i', image: 'i', [field]: {} }];
    const spec = { initContainers, containers: [{ name: 'c', image: 'i' }] };
    expect(problemsOfNew(sentAs('v1 Pod'), { metadata, spec })).toContain(
      `spec.initContainers[0].${field}: Invalid value: ${literal}: must not be set for init containers`,
    );
  });
});

describe('the source of a configuration of a node', () => {
  test('that names none is shown as Go prints it', () => {
    const sent = sentAs('v1 Node');
    expect(problemsOfChange(sent, decoded(sent, { metadata }), { spec: { configSource: {} } })).toEqual([
      'spec.configSource: Invalid value: core.NodeConfigSource{ConfigMap:(*core.ConfigMapNodeConfigSource)(nil)}: exactly one reference subfield must be non-nil',
    ]);
  });
});

describe('a quantity in a message', () => {
  const shown = (quantity: unknown): string => {
    const limits = [{ type: 'Container', min: { memory: quantity }, max: { memory: '0' } }];
    const [problem = ''] = problemsOfNew(sentAs('v1 LimitRange'), { metadata, spec: { limits } });
    return /resource\.Quantity\{.*?Format:"\w*"\}/.exec(problem)?.[0] ?? problem;
  };
  const literal = (value: number, scale: number, text: string, format: string): string =>
    `resource.Quantity{i:resource.int64Amount{value:${value}, scale:${scale}}, d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}, s:"${text}", Format:"${format}"}`;

  test.each<[unknown, string]>([
    ['1', literal(1, 0, '1', 'DecimalSI')],
    ['100m', literal(100, -3, '100m', 'DecimalSI')],
    ['1m', literal(1, -3, '1m', 'DecimalSI')],
    ['1k', literal(1, 3, '1k', 'DecimalSI')],
    ['10P', literal(10, 15, '10P', 'DecimalSI')],
    ['1e3', literal(1, 3, '1e3', 'DecimalExponent')],
    ['1Ki', literal(1024, 0, '1Ki', 'BinarySI')],
    ['3Gi', literal(3_221_225_472, 0, '3Gi', 'BinarySI')],
    ['0.5', literal(5, -1, '', 'DecimalSI')],
    [1.5, literal(15, -1, '', 'DecimalSI')],
  ])('%j is shown as Go holds it', (quantity, text) => {
    expect(shown(quantity)).toBe(text);
  });
});

describe('an autoscaler of v2beta1', () => {
  test('shows a quantity that was not given as one without a format', () => {
    const metrics = [{ type: 'Pods', pods: { metricName: 'm' } }];
    const spec = { maxReplicas: 3, scaleTargetRef: { kind: 'Deployment', name: 'd' }, metrics };
    expect(problemsOfNew(sentAs('autoscaling/v2beta1 HorizontalPodAutoscaler'), { metadata, spec })).toEqual([
      'spec.metrics[0].pods.target.averageValue: Invalid value: resource.Quantity{i:resource.int64Amount{value:0, scale:0}, d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}, s:"", Format:""}: must be positive',
    ]);
  });
});
