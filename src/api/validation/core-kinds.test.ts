import type { FieldError } from '../errors/field-error';
import type { KubeObject } from '../object';
import { validateEndpoints } from './endpoints';
import { validateEvent, validateEventUpdate } from './event';
import { validateLimitRange } from './limit-range';
import { validateNode, validateNodeStatusUpdate, validateNodeUpdate } from './node';
import { validateReplicationController, validateReplicationControllerUpdate } from './replication-controller';
import {
  validateResourceQuota,
  validateResourceQuotaStatusUpdate,
  validateResourceQuotaUpdate,
} from './resource-quota';

/** `field: message` of every problem, in order. */
function texts(errors: readonly FieldError[]): readonly string[] {
  return errors.map(({ field, message }) => `${field}: ${message}`);
}

function object(fields: object, metadata: object = {}): KubeObject {
  return { metadata: { name: 'x', namespace: 'n', ...metadata }, ...fields };
}

function quantity(value: number, text: string): string {
  return (
    `resource.Quantity{i:resource.int64Amount{value:${value}, scale:0}, d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}, ` +
    `s:"${text}", Format:"DecimalSI"}`
  );
}

describe('endpoints', () => {
  test.each<[string, object, readonly string[]]>([
    ['nothing', {}, []],
    ['addresses alone', { subsets: [{ addresses: [{ ip: '2001:db8::1' }] }] }, []],
    [
      'an empty subset',
      { subsets: [{}] },
      ['subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`'],
    ],
    [
      'no address',
      { subsets: [{ notReadyAddresses: [{ ip: 'x' }] }] },
      [
        'subsets[0].notReadyAddresses[0].ip: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
        'subsets[0].notReadyAddresses[0].ip: Invalid value: "x": must be a valid IP address',
      ],
    ],
    [
      'two ports without names',
      { subsets: [{ addresses: [{ ip: '1.2.3.4' }], ports: [{ port: 1, protocol: 'TCP' }, { port: 0 }] }] },
      [
        'subsets[0].ports[0].name: Required value',
        'subsets[0].ports[1].name: Required value',
        'subsets[0].ports[1].port: Invalid value: 0: must be between 1 and 65535, inclusive',
        'subsets[0].ports[1].protocol: Required value',
      ],
    ],
  ])('of %s', (_what, fields, problems) => {
    expect(texts(validateEndpoints(object(fields)))).toEqual(problems);
  });
});

describe('nodes', () => {
  const AVOID = 'scheduler.alpha.kubernetes.io/preferAvoidPods';

  test.each<[string, object, readonly string[]]>([
    ['addresses of both families', { spec: { podCIDRs: ['10.244.1.0/24', 'fd00::/64'] } }, []],
    ['no block', { spec: { podCIDRs: ['x'] } }, ['spec.podCIDRs[0]: Invalid value: []string{"x"}: must be valid CIDR']],
    [
      'two blocks of one family',
      { spec: { podCIDRs: ['10.1.0.0/24', '10.2.0.0/24'] } },
      [
        'spec.podCIDRs: Invalid value: []string{"10.1.0.0/24", "10.2.0.0/24"}: may specify no more than one CIDR for each IP family',
      ],
    ],
    [
      'an unknown effect',
      { spec: { taints: [{ key: 'a', effect: 'Foo' }, { key: 'b' }] } },
      [
        'metadata.taints[0].effect: Unsupported value: "Foo": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
        'metadata.taints[1].effect: Required value',
      ],
    ],
    [
      'a taint twice',
      {
        spec: {
          taints: [
            { key: 'a', effect: 'NoSchedule', value: '1' },
            { key: 'a', effect: 'NoExecute' },
            { key: 'a', effect: 'NoSchedule', value: '2' },
          ],
        },
      },
      [
        'metadata.taints[2]: Duplicate value: core.Taint{Key:"a", Value:"2", Effect:"NoSchedule", TimeAdded:<nil>}: taints must be unique by key and effect pair',
      ],
    ],
    [
      'less than nothing',
      { status: { capacity: { cpu: '-1' }, allocatable: { cpu: '-1' } } },
      [
        'status.capacity.cpu: Invalid value: "-1": must be greater than or equal to 0',
        'status.allocatable.cpu: Invalid value: "-1": must be greater than or equal to 0',
      ],
    ],
  ])('with %s', (_what, fields, problems) => {
    expect(texts(validateNode(object(fields)))).toEqual(problems);
  });

  test.each<[string, readonly string[]]>([
    [
      'x',
      [
        `metadata.annotations.AvoidPods: Invalid value: "${AVOID}": invalid character 'x' looking for beginning of value`,
      ],
    ],
    ['{"preferAvoidPods":[{}]}', [`metadata.annotations.${AVOID}[0].PodSignature: Required value`]],
    ['{"preferAvoidPods":[{"podSignature":{"podController":{"controller":true}}}]}', []],
  ])('that avoid pods of %s', (text, problems) => {
    expect(texts(validateNode(object({}, { annotations: { [AVOID]: text } })))).toEqual(problems);
  });

  const FIXED =
    '[]: Forbidden: node updates may only change labels, taints, or capacity (or configSource, if the DynamicKubeletConfig feature gate is enabled)';

  test('keep what only their kubelet may say', () => {
    const old = object({ spec: { podCIDRs: ['10.1.0.0/24'] } });
    const change = (spec: object) =>
      texts(validateNodeUpdate(object({ spec: { podCIDRs: ['10.1.0.0/24'], ...spec } }), old));
    expect(change({ externalID: 'x' })).toEqual([FIXED]);
    expect(change({ unschedulable: true, providerID: 'p' })).toEqual([]);
  });

  test('have settings from a whole key of a config map', () => {
    const configMap = { namespace: 'n', name: 'c', kubeletConfigKey: 'k' };
    const problems = (spec: object, config?: object) =>
      texts(validateNodeUpdate({ ...object({ spec }), status: { config } }, object({})));
    expect(problems({ configSource: { configMap } })).toEqual([]);
    expect(problems({ configSource: { configMap: { name: 'n', uid: 'u' } } })).toEqual([
      'spec.configSource.configMap.uid: Forbidden: uid must not be set in spec',
      'spec.configSource.configMap.namespace: Required value: namespace must be set',
      'spec.configSource.configMap.kubeletConfigKey: Required value: kubeletConfigKey must be set',
    ]);
    expect(problems({}, { active: { configMap } })).toEqual([
      'status.config.active.configMap.uid: Required value: uid must be set in status',
      'status.config.active.configMap.resourceVersion: Required value: resourceVersion must be set in status',
    ]);
  });

  test('are who they are once they are somebody', () => {
    const old = object({ spec: { podCIDRs: ['10.1.0.0/24'], providerID: 'a' } });
    const changed = object({ spec: { podCIDRs: ['10.2.0.0/24'], providerID: 'b' } });
    expect(texts(validateNodeUpdate(changed, old))).toEqual([
      'spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid',
      'spec.providerID: Forbidden: node updates may not change providerID except from "" to valid',
      FIXED,
    ]);
    expect(texts(validateNodeUpdate(changed, object({ spec: {} })))).toEqual([]);
  });

  test('have an address only once', () => {
    const address = { type: 'Hostname', address: 'a' };
    const status = { addresses: [address, { ...address, type: 'InternalDNS' }, address] };
    expect(texts(validateNodeStatusUpdate(object({ status }), object({})))).toEqual([
      'status.addresses[2]: Duplicate value: core.NodeAddress{Type:"Hostname", Address:"a"}',
    ]);
  });
});

describe('limit ranges', () => {
  test.each<[string, object | null, readonly string[]]>([
    ['nothing', null, []],
    [
      'a pod with defaults',
      { type: 'Pod', default: { cpu: '1' } },
      ["spec.limits[0].default: Forbidden: may not be specified when `type` is 'Pod'"],
    ],
    [
      'a minimum above the maximum',
      { type: 'Container', max: { cpu: '1' }, min: { cpu: '2' } },
      [`spec.limits[0].min[cpu]: Invalid value: ${quantity(2, '2')}: min value 2 is greater than max value 1`],
    ],
    [
      'a default below the minimum',
      { type: 'Container', min: { cpu: '2' }, default: { cpu: '1' } },
      [`spec.limits[0].default[cpu]: Invalid value: ${quantity(2, '2')}: min value 2 is greater than default value 1`],
    ],
    [
      'a ratio that nothing can have',
      { type: 'Container', min: { cpu: '1' }, max: { cpu: '2' }, maxLimitRequestRatio: { cpu: '3' } },
      [
        `spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: ${quantity(3, '3')}: ratio 3 is greater than max/min = 2.000000`,
      ],
    ],
    [
      'an unknown type',
      { type: 'Foo' },
      ['spec.limits[0].type: Invalid value: "Foo": must be a standard limit type or fully qualified'],
    ],
    [
      'claims without a size',
      { type: 'PersistentVolumeClaim' },
      [
        'spec.limits[0].limits: Required value: either minimum or maximum storage value is required, but neither was provided',
      ],
    ],
  ])('of %s', (_what, item, problems) => {
    const limits = item === null ? null : [item];
    expect(texts(validateLimitRange(object({ spec: { limits } })))).toEqual(problems);
  });

  test('have each type once', () => {
    const limits = [{ type: 'Pod' }, { type: 'Pod' }];
    expect(texts(validateLimitRange(object({ spec: { limits } })))).toEqual([
      'spec.limits[1].type: Duplicate value: "Pod"',
    ]);
  });
});

describe('quotas', () => {
  test.each<[string, object, readonly string[]]>([
    ['counts', { hard: { 'count/foos.example.com': '1', pods: '2', 'requests.nvidia.com/gpu': '1' } }, []],
    [
      'an unknown resource',
      { hard: { foo: '1' } },
      [
        'spec.hard[foo]: Invalid value: "foo": must be a standard resource type or fully qualified',
        'spec.hard[foo]: Invalid value: "foo": must be a standard resource for quota',
      ],
    ],
    [
      'an unknown scope',
      { hard: { pods: '1' }, scopes: ['Foo'] },
      ['spec.scopes: Invalid value: []core.ResourceQuotaScope{"Foo"}: unsupported scope'],
    ],
    [
      'scopes without anything in both',
      { hard: { pods: '1' }, scopes: ['Terminating', 'NotTerminating'] },
      ['spec.scopes: Invalid value: []core.ResourceQuotaScope{"Terminating", "NotTerminating"}: conflicting scopes'],
    ],
    [
      'services in a scope of pods',
      { hard: { services: '1' }, scopes: ['BestEffort'] },
      ['spec.scopes: Invalid value: []core.ResourceQuotaScope{"BestEffort"}: unsupported scope applied to resource'],
    ],
    [
      'an operator that is none',
      { hard: {}, scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'Foo' }] } },
      ['spec.scopeSelector.matchExpressions.operator: Invalid value: "Foo": not a valid selector operator'],
    ],
    [
      'values where there are none',
      {
        scopeSelector: {
          matchExpressions: [
            { scopeName: 'PriorityClass', operator: 'Exists', values: ['x'] },
            { scopeName: 'BestEffort', operator: 'In' },
          ],
        },
      },
      [
        "spec.scopeSelector.matchExpressions.values: Invalid value: []string{\"x\"}: must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector",
        'spec.scopeSelector.matchExpressions.operator: Invalid value: "In": must be \'Exist\' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort and ResourceQuotaScopeNotBestEffort',
        "spec.scopeSelector.matchExpressions.values: Required value: must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
      ],
    ],
  ])('with %s', (_what, spec, problems) => {
    expect(texts(validateResourceQuota(object({ spec })))).toEqual(problems);
  });

  test('keep their scopes', () => {
    const spec = { hard: { pods: '1' }, scopes: ['BestEffort'] };
    expect(texts(validateResourceQuotaUpdate(object({ spec: { hard: {} } }), object({ spec })))).toEqual([
      'spec.scopes: Invalid value: []core.ResourceQuotaScope(nil): field is immutable',
    ]);
  });

  test('report the problems of a spec twice on update', () => {
    const spec = { hard: { 'requests.cpu': '1' }, scopes: ['BestEffort'] };
    const problem =
      'spec.scopes: Invalid value: []core.ResourceQuotaScope{"BestEffort"}: unsupported scope applied to resource';
    expect(texts(validateResourceQuotaUpdate(object({ spec }), object({ spec })))).toEqual([problem, problem]);
  });

  test('count nothing that is less than nothing', () => {
    expect(texts(validateResourceQuotaStatusUpdate(object({ status: { used: { pods: '-1' } } })))).toEqual([
      'status.used[pods]: Invalid value: "-1": must be greater than or equal to 0',
    ]);
  });
});

describe('events', () => {
  const plain = { involvedObject: { namespace: 'n' }, type: 'Normal' };
  const timed = {
    ...plain,
    eventTime: '2020-01-01T00:00:00.000001Z',
    reportingComponent: 'c.example.com',
    reportingInstance: 'i',
    action: 'A',
    reason: 'R',
  };
  const strict = { group: 'events.k8s.io', version: 'v1' };

  test.each<[string, object, object | undefined, readonly string[]]>([
    ['of the old form', plain, undefined, []],
    ['of the new form', timed, strict, []],
    [
      'about another namespace',
      { ...plain, involvedObject: { namespace: 'other' } },
      undefined,
      ['involvedObject.namespace: Invalid value: "other": does not match event.namespace'],
    ],
    [
      'without a reporter',
      { ...timed, reportingInstance: '', action: undefined },
      undefined,
      ['reportingInstance: Required value', 'action: Required value'],
    ],
    ['of an unknown type', { ...timed, type: 'Foo' }, strict, ['type: Invalid value: "": has invalid value: Foo']],
    ['of an unknown type, for old clients', { ...plain, type: 'Foo' }, undefined, []],
    [
      'with old fields',
      { ...timed, source: { component: 'x' }, count: 1, firstTimestamp: 'x' },
      strict,
      [
        'firstTimestamp: Invalid value: "": needs to be unset',
        'count: Invalid value: "": needs to be unset',
        'source: Invalid value: "": needs to be unset',
      ],
    ],
    [
      'with half a series',
      { ...timed, series: { count: 1 } },
      strict,
      ['series.count: Invalid value: "": should be at least 2', 'series.lastObservedTime: Required value'],
    ],
    [
      'with a finalizer that has no domain',
      { ...timed, metadata: { name: 'e', namespace: 'n', finalizers: ['bare'] } },
      strict,
      [
        'metadata.finalizers[0]: Invalid value: "bare": name is neither a standard finalizer name nor is it fully qualified',
      ],
    ],
    [
      'that say too much',
      { ...timed, message: 'x'.repeat(1025) },
      strict,
      ['message: Invalid value: "": can have at most 1024 characters'],
    ],
  ])('%s', (_what, fields, requested, problems) => {
    expect(texts(validateEvent(object(fields), requested as typeof strict | undefined))).toEqual(problems);
  });

  test('may be changed without the rules of new ones, but for those of all versions', () => {
    const old = object(timed);
    expect(texts(validateEventUpdate(object({ ...timed, series: { count: 0 } }), old))).toEqual([]);
    expect(texts(validateEventUpdate(object({ ...timed, reportingInstance: 'x'.repeat(129) }), old))).toEqual([
      'reportingInstance: Invalid value: "": can have at most 128 characters',
    ]);
  });

  test('want finalizers with domains in the strict version, when they change as well', () => {
    const old = object(timed);
    const bare = { ...old, metadata: { ...old.metadata, finalizers: ['bare'] } };
    expect(texts(validateEventUpdate(bare, old))).toEqual([]);
    expect(texts(validateEventUpdate(bare, old, strict))).toEqual([
      'metadata.finalizers[0]: Invalid value: "bare": name is neither a standard finalizer name nor is it fully qualified',
    ]);
  });
});

describe('replication controllers', () => {
  const container = { name: 'c', image: 'i', imagePullPolicy: 'Always', terminationMessagePolicy: 'File' };
  const template = {
    metadata: { labels: { a: 'b' } },
    spec: { containers: [container], restartPolicy: 'Always', dnsPolicy: 'ClusterFirst' },
  };

  test.each<[string, object, readonly string[]]>([
    ['all they need', { selector: { a: 'b' }, template }, []],
    ['nothing', {}, ['spec.selector: Required value', 'spec.template: Required value']],
    [
      'a selector of others',
      { selector: { a: 'c' }, template },
      [
        'spec.template.metadata.labels: Invalid value: map[string]string{"a":"b"}: `selector` does not match template `labels`',
      ],
    ],
    [
      'fewer than no replicas',
      { selector: { a: 'b' }, template, replicas: -1 },
      ['spec.replicas: Invalid value: -1: must be greater than or equal to 0'],
    ],
  ])('with %s', (_what, spec, problems) => {
    expect(texts(validateReplicationController(object({ spec })))).toEqual(problems);
    expect(texts(validateReplicationControllerUpdate(object({ spec })))).toEqual([...problems, ...problems]);
  });
});
