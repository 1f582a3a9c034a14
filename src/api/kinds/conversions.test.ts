import fc from 'fast-check';
import type { KubeObject } from '../object';
import { definitionFromV1, definitionToV1 } from './apiextensions/definition-conversion';
import { autoscalerFromV1, autoscalerToV1 } from './autoscaling/autoscaler-conversion-v1';
import { autoscalerFromV2beta1, autoscalerToV2beta1 } from './autoscaling/autoscaler-conversion-v2beta1';
import { endpointSliceFromV1, endpointSliceToV1 } from './discovery/endpoint-slice-conversion';
import { eventsGroupFromCore, eventsGroupToCore } from './events/event-conversion';
import {
  priorityLevelDefaults,
  priorityLevelFromV1,
  priorityLevelFromV1beta3,
  priorityLevelToV1,
  priorityLevelToV1beta3,
} from './flowcontrol/priority-level-conversion';
import { ingressFromV1, ingressToV1 } from './networking/ingress-conversion';
import { runtimeClassFromV1, runtimeClassToV1 } from './node/runtime-class-conversion';
import { budgetFromV1, budgetToV1 } from './policy/budget-conversion';
import { bindingFromV1, bindingToV1 } from './rbac/binding-conversion';

const metadata = { name: 'x' };

describe('conversion between versions', () => {
  const beta: KubeObject = {
    metadata,
    spec: {
      backend: { serviceName: 's', servicePort: 80 },
      rules: [
        { host: 'h', http: { paths: [{ path: '/a', backend: { serviceName: 's', servicePort: 'http' } }] } },
        { http: { paths: [{ backend: { servicePort: 0, resource: { kind: 'K', name: 'n' } } }] } },
        { host: 'empty' },
      ],
    },
  };

  test('an ingress of v1beta1 has services in its backends in v1', () => {
    expect(ingressToV1(beta)).toEqual({
      metadata,
      spec: {
        defaultBackend: { service: { name: 's', port: { number: 80 } } },
        rules: [
          { host: 'h', http: { paths: [{ path: '/a', backend: { service: { name: 's', port: { name: 'http' } } } }] } },
          { http: { paths: [{ backend: { resource: { kind: 'K', name: 'n' } } }] } },
          { host: 'empty' },
        ],
      },
    });
  });

  test('a backend of an ingress that names no service says nothing of it in v1beta1', () => {
    const stable = { metadata: {}, spec: { defaultBackend: { service: { name: '', port: { number: 80 } } } } };
    expect(ingressFromV1(stable)['spec']).toEqual({ backend: { servicePort: 80 } });
  });

  const emptyLabel = 'pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match';
  const budgets: readonly [what: string, beta: unknown, stable: unknown][] = [
    ['of all pods', { matchExpressions: [{ key: emptyLabel, operator: 'DoesNotExist' }] }, {}],
    ['of no pods', {}, { matchExpressions: [{ key: emptyLabel, operator: 'Exists' }] }],
    ['of some pods', { matchLabels: { a: 'b' } }, { matchLabels: { a: 'b' } }],
  ];

  test.each(budgets)('a disruption budget %s is one in v1beta1 and in v1', (_what, inBeta, inStable) => {
    const budget = (selector: unknown): KubeObject => ({ metadata, spec: { minAvailable: 1, selector } });
    expect(budgetToV1(budget(inBeta))).toEqual(budget(inStable));
    expect(budgetFromV1(budget(inStable))).toEqual(budget(inBeta));
  });

  test('the label that stands for an empty selector never stands beside another requirement', () => {
    const selector = {
      matchLabels: { a: 'b', [emptyLabel]: '' },
      matchExpressions: [{ key: emptyLabel, operator: 'Exists' }],
    };
    expect(budgetFromV1({ metadata, spec: { selector } })).toEqual({
      metadata,
      spec: { selector: { matchLabels: { a: 'b' } } },
    });
    expect(budgetToV1({ metadata, spec: {} })).toEqual({ metadata, spec: {} });
  });

  test('an ingress comes back from v1 as it went', () => {
    expect(ingressFromV1(ingressToV1(beta))).toEqual(beta);
  });

  test('an endpoint of v1beta1 keeps in its topology where it is', () => {
    const endpoint = {
      addresses: ['1.1.1.1'],
      topology: { 'kubernetes.io/hostname': 'n', 'topology.kubernetes.io/zone': 'z', other: 'o' },
    };
    const converted = endpointSliceToV1({ metadata, endpoints: [endpoint] });
    expect(converted).toEqual({
      metadata,
      endpoints: [
        { addresses: ['1.1.1.1'], deprecatedTopology: { 'kubernetes.io/hostname': 'n', other: 'o' }, zone: 'z' },
      ],
    });
    expect(endpointSliceFromV1(converted)).toEqual({ metadata, endpoints: [endpoint] });
  });

  test('the host name of an endpoint is said once in v1 when it is the name of its node', () => {
    const onNode = { addresses: ['1.1.1.1'], nodeName: 'n' };
    const topology = { 'kubernetes.io/hostname': 'n' };
    expect(endpointSliceToV1({ metadata, endpoints: [{ ...onNode, topology }] })).toEqual({
      metadata,
      endpoints: [onNode],
    });
    const elsewhere = { ...onNode, deprecatedTopology: { 'kubernetes.io/hostname': 'h' } };
    expect(endpointSliceToV1(endpointSliceFromV1({ metadata, endpoints: [onNode, elsewhere] }))).toEqual({
      metadata,
      endpoints: [onNode, elsewhere],
    });
  });

  test('an event goes to the core group and back', () => {
    const event = {
      metadata,
      regarding: { name: 'p' },
      note: 'n',
      reportingController: 'c',
      deprecatedCount: 2,
      reason: 'r',
    };
    const core = eventsGroupToCore(event);
    expect(core).toMatchObject({
      involvedObject: { name: 'p' },
      message: 'n',
      reportingComponent: 'c',
      count: 2,
      source: {},
    });
    expect(eventsGroupFromCore(core)).toMatchObject(event);
  });

  const metrics = [
    { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 60 } } },
    { type: 'Resource', resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '1Gi' } } },
    { type: 'Pods', pods: { metric: { name: 'p' }, target: { type: 'AverageValue', averageValue: '5' } } },
    {
      type: 'External',
      external: { metric: { name: 'e', selector: { matchLabels: { a: 'b' } } }, target: { type: 'Value', value: '3' } },
    },
    {
      type: 'Object',
      object: {
        describedObject: { kind: 'K', name: 'n' },
        metric: { name: 'o' },
        target: { type: 'AverageValue', averageValue: '2' },
      },
    },
  ];

  test('the only metric that v1 knows is a field of it, the others are an annotation', () => {
    const converted = autoscalerToV1({
      metadata,
      spec: { maxReplicas: 3, metrics: metrics.slice(0, 2) },
      status: { conditions: null },
    });
    expect(converted.spec).toEqual({ maxReplicas: 3, targetCPUUtilizationPercentage: 60 });
    expect(converted.metadata.annotations).toEqual({
      'autoscaling.alpha.kubernetes.io/metrics':
        '[{"type":"Resource","resource":{"name":"memory","targetAverageValue":"1Gi"}}]',
    });
  });

  test('an autoscaler comes back from the older versions with all that it had', () => {
    const behavior = {
      scaleDown: { stabilizationWindowSeconds: 5, policies: [{ type: 'Pods', value: 1, periodSeconds: 2 }] },
    };
    fc.assert(
      fc.property(fc.subarray(metrics), fc.boolean(), (chosen, withBehavior) => {
        const status = {
          currentReplicas: 1,
          currentMetrics: null,
          conditions: [{ type: 'AbleToScale', status: 'True' }],
        };
        const object = {
          metadata,
          spec: {
            maxReplicas: 3,
            ...(chosen.length === 0 ? {} : { metrics: chosen }),
            ...(withBehavior ? { behavior } : {}),
          },
          status,
        };
        expect(autoscalerFromV2beta1(autoscalerToV2beta1(object))).toEqual(object);
        // v1 gives the CPU a field, from which it comes back last.
        const [cpu] = metrics;
        const reordered = [...chosen.filter((metric) => metric !== cpu), ...chosen.filter((metric) => metric === cpu)];
        expect(autoscalerFromV1(autoscalerToV1(object))).toEqual({
          ...object,
          spec: { ...object.spec, ...(chosen.length === 0 ? {} : { metrics: reordered }) },
        });
      }),
    );
  });

  test.each(['valueOf', 'constructor', '__proto__'])('members of annotated metrics may be called %s', (name) => {
    const annotated = {
      metadata: { name: 'x', annotations: { 'autoscaling.alpha.kubernetes.io/metrics': `[{"${name}":{"a":1}}]` } },
      spec: {},
    };
    const { spec } = autoscalerFromV1(annotated);
    expect(JSON.stringify(spec)).toBe(`{"metrics":[{"${name}":{"a":1}}]}`);
  });

  test('an annotation that is not JSON is no behaviour', () => {
    const annotated = {
      metadata: { name: 'x', annotations: { 'autoscaling.alpha.kubernetes.io/behavior': '{' } },
      spec: {},
    };
    expect(autoscalerFromV2beta1(annotated)).toEqual({ metadata, spec: {} });
  });
});

describe('conversion of the alpha versions', () => {
  const RBAC = 'rbac.authorization.k8s.io';

  test('a runtime class has its fields in a spec', () => {
    const alpha = { metadata, spec: { runtimeHandler: 'h', overhead: { podFixed: { cpu: '1' } } } };
    const stable = { metadata, handler: 'h', overhead: { podFixed: { cpu: '1' } } };
    expect(runtimeClassToV1(alpha)).toEqual(stable);
    expect(runtimeClassFromV1(stable)).toEqual(alpha);
    expect(runtimeClassToV1({ metadata })).toEqual({ metadata, handler: '' });
  });

  test('a runtime class comes back from v1alpha1 as it went', () => {
    const text = fc.string({ maxLength: 5 });
    const runtimeClass = fc.record(
      {
        metadata: fc.constant(metadata),
        handler: text,
        overhead: fc.record({ podFixed: fc.dictionary(text, text) }, { requiredKeys: [] }),
        scheduling: fc.record(
          { nodeSelector: fc.dictionary(text, text), tolerations: fc.array(fc.record({ key: text })) },
          { requiredKeys: [] },
        ),
      },
      { requiredKeys: ['metadata', 'handler'] },
    );
    fc.assert(
      fc.property(runtimeClass, (object) => {
        expect(runtimeClassToV1(runtimeClassFromV1(object))).toEqual(object);
      }),
    );
  });

  test.each([
    ['a user', { kind: 'User', name: 'u' }, { apiGroup: RBAC }, { apiVersion: `${RBAC}/v1alpha1` }],
    ['a group', { kind: 'Group', name: 'g' }, { apiGroup: RBAC }, { apiVersion: `${RBAC}/v1alpha1` }],
    ['an account', { kind: 'ServiceAccount', name: 's', namespace: 'n' }, {}, { apiVersion: 'v1' }],
    ['of another group', { kind: 'Robot', name: 'r' }, { apiGroup: 'x.io' }, { apiVersion: 'x.io/' }],
    ['of the core group', { kind: 'Robot', name: 'r' }, {}, {}],
  ])('a subject that is %s names a version in v1alpha1 and a group later', (_what, subject, stable, alpha) => {
    const later: KubeObject = { metadata, subjects: [{ ...subject, ...stable }] };
    const first: KubeObject = { metadata, subjects: [{ ...subject, ...alpha }] };
    expect(bindingFromV1(later)).toEqual(first);
    expect(bindingToV1(first)).toEqual(later);
  });

  test('the kind of a subject decides its group where RBAC knows it, and else the version', () => {
    const groups = (subject: object) => bindingToV1({ metadata, subjects: [{ name: 'x', ...subject }] })['subjects'];
    expect(groups({ kind: 'User', apiVersion: 'other/v1' })).toEqual([{ kind: 'User', name: 'x', apiGroup: RBAC }]);
    expect(groups({ kind: 'Robot', apiVersion: 'x.io/v2' })).toEqual([{ kind: 'Robot', name: 'x', apiGroup: 'x.io' }]);
    expect(groups({ kind: 'Robot', apiVersion: 'a/b/c' })).toEqual([{ kind: 'Robot', name: 'x' }]);
  });

  test('the user * of v1alpha1 is everyone who is authenticated; later a star is a name', () => {
    const everyone = { metadata, subjects: [{ kind: 'User', name: '*', apiVersion: `${RBAC}/v1alpha1` }] };
    expect(bindingToV1(everyone)).toEqual({
      metadata,
      subjects: [{ kind: 'Group', name: 'system:authenticated', apiGroup: RBAC }],
    });
    expect(bindingFromV1({ metadata, subjects: [{ kind: 'User', name: '*', apiGroup: RBAC }] })).toEqual(everyone);
  });

  test('a binding that can be stored comes back from v1alpha1 as it went', () => {
    const name = fc.string({ minLength: 1, maxLength: 5 }).filter((text) => text !== '*');
    const subject = fc.oneof(
      fc.record({ kind: fc.constantFrom('User', 'Group'), name, apiGroup: fc.constant(RBAC) }),
      fc.record({ kind: fc.constant('ServiceAccount'), name, namespace: name }),
    );
    const binding = fc.record(
      {
        metadata: fc.constant(metadata),
        subjects: fc.option(fc.array(subject)),
        roleRef: fc.record({ apiGroup: fc.constant(RBAC), kind: fc.constant('Role'), name }),
      },
      { requiredKeys: ['metadata', 'roleRef'] },
    );
    fc.assert(
      fc.property(binding, (object) => {
        expect(bindingToV1(bindingFromV1(object))).toEqual(object);
      }),
    );
  });
});

describe('conversion of custom resource definitions', () => {
  const column = fc.record({
    name: fc.constantFrom('A', 'B'),
    type: fc.constant('string'),
    jsonPath: fc.constant('.a'),
  });
  const part = fc.record(
    {
      schema: fc.record({ openAPIV3Schema: fc.record({ type: fc.constantFrom('object', 'string') }) }),
      subresources: fc.constantFrom({ status: {} }, { scale: { specReplicasPath: '.spec.r' } }),
      additionalPrinterColumns: fc.array(column, { minLength: 1, maxLength: 2 }),
    },
    { requiredKeys: [] },
  );
  const webhook = fc.record({
    clientConfig: fc.constant({ url: 'https://a' }),
    conversionReviewVersions: fc.constant(['v1']),
  });
  const conversion = fc.oneof(
    fc.constant({ strategy: 'None' }),
    webhook.map((value) => ({ strategy: 'Webhook', webhook: value })),
  );
  const definition = fc.record({
    metadata: fc.constant(metadata),
    spec: fc.record(
      {
        group: fc.constant('g.b'),
        versions: fc
          .array(part, { minLength: 1, maxLength: 3 })
          .map((parts) =>
            parts.map((own, index) => ({ name: `v${index}`, served: true, storage: index === 0, ...own })),
          ),
        conversion,
        preserveUnknownFields: fc.constant(true),
      },
      { requiredKeys: ['group', 'versions', 'conversion'] },
    ),
  });

  test('a definition comes back from v1beta1 as it went', () => {
    fc.assert(
      fc.property(definition, (object) => {
        expect(definitionToV1(definitionFromV1(object))).toEqual(object);
      }),
    );
  });

  test('what all versions have alike is said once in v1beta1', () => {
    const schema = { openAPIV3Schema: { type: 'object' } };
    const versions = ['v1', 'v2'].map((name) => ({ name, served: true, storage: name === 'v1' }));
    const object = { metadata, spec: { versions: versions.map((version) => ({ ...version, schema })) } };
    expect(definitionFromV1(object)).toEqual({
      metadata,
      spec: { version: 'v1', validation: schema, versions, preserveUnknownFields: false },
    });
  });
});

describe('a priority level', () => {
  const ZERO = 'flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares';
  const level = (limited: object, annotations?: Readonly<Record<string, string>>): KubeObject => ({
    metadata: { name: 'x', ...(annotations && { annotations }) },
    spec: { type: 'Limited', limited },
  });
  const old = level({ assuredConcurrencyShares: 5, limitResponse: { type: 'Reject' } });

  test('has nominal shares in later versions, and lends nothing where nothing is said', () => {
    const renamed = level({ nominalConcurrencyShares: 5, limitResponse: { type: 'Reject' }, lendablePercent: 0 });
    expect(priorityLevelToV1(old)).toEqual(renamed);
    expect(priorityLevelToV1beta3(old)).toEqual(renamed);
    expect(priorityLevelFromV1(renamed)).toEqual(old);
    expect(priorityLevelFromV1beta3(renamed)).toEqual(old);
  });

  test('without limits is the same in all versions', () => {
    const exempt = { metadata, spec: { type: 'Exempt', exempt: { lendablePercent: 3 } } };
    expect(priorityLevelToV1(exempt)).toEqual(exempt);
    expect(priorityLevelFromV1(exempt)).toEqual(exempt);
  });

  test('without any shares says so by an annotation in older versions', () => {
    const jail = level({ nominalConcurrencyShares: 0, lendablePercent: 0 });
    const older = level({ assuredConcurrencyShares: 0 }, { [ZERO]: '' });
    expect(priorityLevelFromV1(jail)).toEqual(older);
    expect(priorityLevelToV1(older)).toEqual(jail);
    expect(priorityLevelDefaults(older, 'v1beta1')).toEqual(older);
    expect(priorityLevelFromV1(level({ nominalConcurrencyShares: 1 }, { [ZERO]: '' }))).toEqual(
      level({ assuredConcurrencyShares: 1 }),
    );
  });

  test.each([
    ['v1beta1', 'assuredConcurrencyShares'],
    ['v1beta2', 'assuredConcurrencyShares'],
    ['v1beta3', 'nominalConcurrencyShares'],
  ])('has thirty shares in %s where none are named', (version, field) => {
    expect(priorityLevelDefaults(level({ [field]: 0 }), version)).toEqual(level({ [field]: 30 }));
  });
});
