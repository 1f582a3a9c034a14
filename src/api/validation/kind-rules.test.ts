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
