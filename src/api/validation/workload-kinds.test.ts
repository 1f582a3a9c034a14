import { changed, created, decoded, problemsOfChange, problemsOfNew, sentAs } from '../kinds/write.fixture';

const metadata = { name: 'x', namespace: 'n' };
const containers = [{ name: 'c', image: 'i:1' }];
const template = { metadata: { labels: { app: 'a' } }, spec: { containers } };
const selector = { matchLabels: { app: 'a' } };
const jobTemplate = { spec: { restartPolicy: 'Never', containers } };
const MISMATCH = '`selector` does not match template `labels`';

describe('stateful sets', () => {
  const statefulSet = sentAs('apps/v1 StatefulSet');
  const spec = { selector, template, serviceName: 's' };

  test.each<[string, object, readonly string[]]>([
    ['a plain one', spec, []],
    [
      'no selector',
      { template },
      [
        'spec.selector: Required value',
        `spec.template.metadata.labels: Invalid value: map[string]string{"app":"a"}: ${MISMATCH}`,
      ],
    ],
    [
      'an unknown strategy',
      { ...spec, updateStrategy: { type: 'X' } },
      [
        "spec.updateStrategy: Invalid value: apps.StatefulSetUpdateStrategy{Type:\"X\", RollingUpdate:(*apps.RollingUpdateStatefulSetStrategy)(nil)}: must be 'RollingUpdate' or 'OnDelete'",
      ],
    ],
    [
      'pods that end by themselves',
      { ...spec, template: { ...template, spec: { containers, activeDeadlineSeconds: 3 } } },
      ['spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in StatefulSet is not Supported'],
    ],
  ])('%s', (_name, body, expected) => {
    expect(problemsOfNew(statefulSet, { metadata, spec: body })).toEqual(expected);
  });

  test('only replicas, template and update strategy can change', () => {
    const old = created(statefulSet, { metadata, spec });
    const wanted = old['spec'] as object;
    expect(problemsOfChange(statefulSet, old, { spec: { ...wanted, replicas: 3 } })).toEqual([]);
    expect(problemsOfChange(statefulSet, old, { spec: { ...wanted, serviceName: 'y' } })).toEqual([
      "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'template', and 'updateStrategy' are forbidden",
    ]);
  });

  test('a status counts no more pods than there are', () => {
    const old = created(statefulSet, { metadata, spec });
    const status = { replicas: 1, readyReplicas: 2, collisionCount: -1 };
    expect(problemsOfChange(statefulSet, old, { status }, 'status')).toEqual([
      'status.collisionCount: Invalid value: -1: must be greater than or equal to 0',
      'status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas',
    ]);
  });
});

describe('cron jobs', () => {
  it('keep their spec when their status changes', () => {
    const cronJob = sentAs('batch/v1 CronJob');
    const spec = { schedule: '* * * * *', suspend: true, jobTemplate: { spec: { template: { spec: {} } } } };
    const old = created(cronJob, { metadata, spec });
    const next = changed(
      cronJob,
      old,
      { metadata, spec: { ...spec, suspend: false }, status: { active: [] } },
      'status',
    );
    expect(next).toMatchObject({ spec: { suspend: true } });
  });
});

describe('daemon sets', () => {
  const daemonSet = sentAs('apps/v1 DaemonSet');
  const generation = 'deprecated.daemonset.template.generation';

  test('the server counts the changes of the template, whatever the client says', () => {
    const old = created(daemonSet, {
      metadata: { ...metadata, annotations: { [generation]: '-5' } },
      spec: { selector, template },
    });
    expect(old.metadata.annotations).toEqual({ [generation]: '1' });
    const same = changed(daemonSet, old, { metadata: { ...metadata, annotations: { [generation]: '9' } } });
    expect(same.metadata.annotations).toEqual({ [generation]: '1' });
    const wanted = old['spec'] as object;
    const next = changed(daemonSet, old, { spec: { ...wanted, template: { spec: {} } } });
    expect(next.metadata.annotations).toEqual({ [generation]: '2' });
    expect(changed(daemonSet, next, { metadata }, 'status').metadata.annotations).toEqual({ [generation]: '2' });
  });

  test.each<[string, object, readonly string[]]>([
    ['a plain one', {}, []],
    [
      'a strategy that there is not',
      { updateStrategy: { type: 'X' } },
      [
        'spec.updateStrategy: Unsupported value: apps.DaemonSetUpdateStrategy{Type:"X", RollingUpdate:(*apps.RollingUpdateDaemonSet)(nil)}: supported values: "RollingUpdate", "OnDelete"',
      ],
    ],
    [
      'an update that moves nothing',
      { updateStrategy: { rollingUpdate: { maxUnavailable: 0 } } },
      [
        'spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: intstr.IntOrString{Type:0, IntVal:0, StrVal:""}: cannot be 0',
      ],
    ],
    [
      'another selector',
      { selector: { matchLabels: { app: 'b' } } },
      [`spec.template.metadata.labels: Invalid value: map[string]string{"app":"a"}: ${MISMATCH}`],
    ],
  ])('%s', (_name, spec, expected) => {
    expect(problemsOfNew(daemonSet, { metadata, spec: { selector, template, ...spec } })).toEqual(expected);
  });
});

describe('jobs', () => {
  const job = sentAs('batch/v1 Job');

  test('a job selects its pods by its uid, and has their labels', () => {
    const object = created(job, { metadata, spec: { template: jobTemplate } });
    const labels = { 'controller-uid': object.metadata.uid, 'job-name': 'x' };
    expect(object).toMatchObject({
      metadata: { labels },
      spec: {
        selector: { matchLabels: { 'controller-uid': object.metadata.uid } },
        template: { metadata: { labels } },
      },
    });
  });

  test('has the labels of its pods before anybody looks whether they are any', () => {
    const template = { ...jobTemplate, metadata: { labels: { a: '/' } } };
    expect(created(job, { metadata, spec: { template } }).metadata.labels).toMatchObject({ a: '/' });
  });

  test.each<[string, object, readonly string[]]>([
    ['a plain one', { template: jobTemplate }, []],
    [
      'pods that start again for ever',
      { template: { spec: { containers } } },
      ['spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'],
    ],
    [
      'a selector of its own that is missing',
      { template: jobTemplate, manualSelector: true },
      [
        'spec.selector: Required value',
        `spec.template.metadata.labels: Invalid value: map[string]string(nil): ${MISMATCH}`,
      ],
    ],
  ])('%s', (_name, spec, expected) => {
    expect(problemsOfNew(job, { metadata, spec })).toEqual(expected);
  });

  test('what its pods were made from cannot change', () => {
    const old = created(job, { metadata, spec: { template: jobTemplate } });
    const wanted = old['spec'] as object;
    expect(problemsOfChange(job, old, { spec: { ...wanted, parallelism: 2 } })).toEqual([]);
    expect(problemsOfChange(job, old, { spec: { ...wanted, completions: 4 } })).toEqual([
      'spec.completions: Invalid value: 4: field is immutable',
    ]);
  });
});

describe('cron jobs', () => {
  test.each<[string, object, readonly string[]]>([
    ['a plain one', {}, []],
    ['no schedule', { schedule: '' }, ['spec.schedule: Required value']],
    [
      'an unknown policy',
      { concurrencyPolicy: 'x' },
      ['spec.concurrencyPolicy: Unsupported value: "x": supported values: "Allow", "Forbid", "Replace"'],
    ],
    [
      'a selector for its jobs',
      { jobTemplate: { spec: { template: jobTemplate, manualSelector: true } } },
      ['spec.jobTemplate.spec.manualSelector: Unsupported value: true: supported values: "nil", "false"'],
    ],
  ])('%s', (_name, spec, expected) => {
    const body = { metadata, spec: { schedule: '@daily', jobTemplate: { spec: { template: jobTemplate } }, ...spec } };
    expect(problemsOfNew(sentAs('batch/v1beta1 CronJob'), body)).toEqual(expected);
  });

  test('names leave room for the names of jobs', () => {
    const body = {
      metadata: { name: 'c'.repeat(53) },
      spec: { schedule: '@daily', jobTemplate: { spec: { template: jobTemplate } } },
    };
    expect(problemsOfNew(sentAs('batch/v1 CronJob'), body)).toEqual([
      `metadata.name: Invalid value: "${'c'.repeat(53)}": must be no more than 52 characters`,
    ]);
  });
});

describe('autoscalers', () => {
  const scaleTargetRef = { kind: 'Deployment', name: 'd' };

  test.each<[string, string, object, readonly string[]]>([
    ['v1', 'a plain one', { maxReplicas: 3 }, []],
    [
      'v1',
      'no use of the CPU',
      { maxReplicas: 3, targetCPUUtilizationPercentage: 0 },
      ['spec.metrics[0].resource.target.averageUtilization: Invalid value: 0: must be greater than 0'],
    ],
    [
      'v2',
      'fewer than the fewest',
      { maxReplicas: 3, minReplicas: 5 },
      ['spec.maxReplicas: Invalid value: 3: must be greater than or equal to `minReplicas`'],
    ],
    [
      'v2',
      'a metric of another sort',
      { maxReplicas: 3, metrics: [{ type: 'Pods' }] },
      ['spec.metrics[0].pods: Required value: must populate information for the given metric source'],
    ],
    [
      'v2',
      'two targets',
      {
        maxReplicas: 3,
        metrics: [
          {
            type: 'External',
            external: { metric: { name: 'q' }, target: { type: 'Value', value: '1', averageValue: '30' } },
          },
        ],
      },
      [
        'spec.metrics[0].external.target.value: Forbidden: may not set both a target value for metric and a per-pod target',
      ],
    ],
    [
      'v2',
      'an endless memory',
      { maxReplicas: 3, behavior: { scaleDown: { stabilizationWindowSeconds: 3601 } } },
      ['spec.behavior.scaleDown.stabilizationWindowSeconds: Invalid value: 3601: must be less than or equal to 3600'],
    ],
  ])('%s: %s', (version, _name, spec, expected) => {
    const sent = sentAs(`autoscaling/${version} HorizontalPodAutoscaler`);
    expect(problemsOfNew(sent, { metadata, spec: { scaleTargetRef, ...spec } })).toEqual(expected);
  });
});

describe('disruption budgets', () => {
  test('percentages end at a hundred', () => {
    const budget = sentAs('policy/v1beta1 PodDisruptionBudget');
    expect(problemsOfNew(budget, { metadata, spec: { minAvailable: '101%' } })).toEqual([
      'spec.minAvailable: Invalid value: intstr.IntOrString{Type:1, IntVal:0, StrVal:"101%"}: must not be greater than 100%',
    ]);
  });

  test('v1 checks the numbers of the status, v1beta1 does not', () => {
    const status = { disruptionsAllowed: -1 };
    const old = decoded(sentAs('policy/v1 PodDisruptionBudget'), { metadata, spec: { minAvailable: 1 } });
    expect(problemsOfChange(sentAs('policy/v1 PodDisruptionBudget'), old, { status }, 'status')).toEqual([
      'status.disruptionsAllowed: Invalid value: -1: must be greater than or equal to 0',
    ]);
    expect(problemsOfChange(sentAs('policy/v1beta1 PodDisruptionBudget'), old, { status }, 'status')).toEqual([]);
  });
});

describe('controller revisions', () => {
  test('data are there to stay', () => {
    const revision = sentAs('apps/v1 ControllerRevision');
    expect(problemsOfNew(revision, { metadata, revision: -1 })).toEqual([
      'data: Required value: data is mandatory',
      'revision: Invalid value: -1: must be greater than or equal to 0',
    ]);
    expect(problemsOfChange(revision, { metadata, data: { a: 1 }, revision: 1 }, { data: 5 })).toEqual([
      'data: Invalid value: runtime.Unknown{TypeMeta:runtime.TypeMeta{APIVersion:"", Kind:""}, Raw:[]uint8{0x35}, ContentEncoding:"", ContentType:"application/json"}: field is immutable',
    ]);
  });
});
