import type { FieldError } from '../errors/field-error';
import { defaultPod } from '../kinds/core/pod-defaults';
import type { KubeObject } from '../object';
import { take } from '../steps/both-forms.fixture';
import { checkInParts } from './check-each';
import { validatePodStatusUpdate } from './pod-status-update';
import { validatePodUpdate } from './pod-update';

const container = { name: 'c', image: 'i:1', terminationMessagePolicy: 'File', imagePullPolicy: 'IfNotPresent' };

function pod(
  spec: object = {},
  { annotations = {}, status = {} }: { annotations?: object; status?: object } = {},
): KubeObject {
  return defaultPod({
    metadata: { name: 'p', annotations: annotations as Record<string, string> },
    spec: { containers: [container], restartPolicy: 'Always', dnsPolicy: 'ClusterFirst', ...spec },
    status,
  });
}

function texts(errors: readonly FieldError[]): readonly string[] {
  return errors.map(({ field, message }) => `${field}: ${message}`);
}

const REFUSAL =
  'spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`, `spec.initContainers[*].image`, `spec.activeDeadlineSeconds` or `spec.tolerations` (only additions to existing tolerations)';

test('many containers are compared a few at a time, with the same outcome', () => {
  const containers = Array.from({ length: 500 }, (_, index) => ({ ...container, name: `c${index}` }));
  const old = pod({ containers });
  for (const change of [{ image: 'i:2' }, { image: '' }, { command: ['other'] }]) {
    const changed = pod({ containers: containers.map((one, index) => (index === 77 ? { ...one, ...change } : one)) });
    const { result, pauses } = take(checkInParts(() => validatePodUpdate(changed, old)));
    expect(texts(result)).toEqual(texts(validatePodUpdate(changed, old)));
    // The pod itself, the images, and what is beside them.
    expect(pauses).toBeGreaterThan(3 * containers.length);
  }
});

describe('what may change about a pod', () => {
  const tolerations = [{ key: 'a', operator: 'Exists', effect: 'NoExecute' }];
  test.each<[string, object, object]>([
    ['nothing', {}, {}],
    ['images', {}, { containers: [{ ...container, image: 'i:2' }] }],
    ['a deadline', {}, { activeDeadlineSeconds: 10 }],
    ['a nearer deadline', { activeDeadlineSeconds: 11 }, { activeDeadlineSeconds: 10 }],
    ['a further toleration', { tolerations }, { tolerations: [{ key: 'b', operator: 'Exists' }, ...tolerations] }],
    ['the time of a toleration', { tolerations }, { tolerations: [{ ...tolerations[0], tolerationSeconds: 5 }] }],
    ['a negative grace period', { terminationGracePeriodSeconds: -5 }, { terminationGracePeriodSeconds: 1 }],
    ['a gate less', { schedulingGates: [{ name: 'a' }, { name: 'b' }] }, { schedulingGates: [{ name: 'b' }] }],
    ['how an empty list is written', { nodeSelector: undefined }, { imagePullSecrets: [] }],
  ])('%s', (_what, old, spec) => {
    expect(texts(validatePodUpdate(pod(spec), pod(old)))).toEqual([]);
  });

  test.each<[string, object, object, readonly string[]]>([
    [
      'containers',
      {},
      { containers: [container, { ...container, name: 'd' }] },
      ['spec.containers: Forbidden: pod updates may not add or remove containers'],
    ],
    [
      'init containers',
      {},
      { initContainers: [{ ...container, name: 'd' }] },
      ['spec.initContainers: Forbidden: pod updates may not add or remove containers'],
    ],
    [
      'a later deadline',
      { activeDeadlineSeconds: 5 },
      { activeDeadlineSeconds: 6 },
      ['spec.activeDeadlineSeconds: Invalid value: 6: must be less than or equal to previous value'],
    ],
    [
      'no deadline',
      { activeDeadlineSeconds: 5 },
      {},
      ['spec.activeDeadlineSeconds: Invalid value: "null": must not update from a positive integer to nil value'],
    ],
    [
      'a deadline in the past, told twice',
      {},
      { activeDeadlineSeconds: -1 },
      [
        'spec.activeDeadlineSeconds: Invalid value: -1: must be between 1 and 2147483647, inclusive',
        'spec.activeDeadlineSeconds: Invalid value: -1: must be between 0 and 2147483647, inclusive',
      ],
    ],
    [
      'a toleration gone',
      { tolerations },
      {},
      ['spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds'],
    ],
    ['the node', {}, { nodeName: 'n' }, [`${REFUSAL}\n  core.PodSpec{\n+ \tnodeName: "n",\n  }\n`]],
    [
      'another gate',
      {},
      { schedulingGates: [{ name: 'a' }] },
      ["spec.schedulingGates: Forbidden: only deletion is allowed, but found new scheduling gate 'a'"],
    ],
    [
      'no image, told twice',
      {},
      { containers: [{ ...container, image: '' }] },
      ['spec.containers[0].image: Required value', 'spec.containers[0].image: Required value'],
    ],
  ])('refused: %s', (_what, old, spec, expected) => {
    expect(texts(validatePodUpdate(pod(spec), pod(old)))).toEqual(expected);
  });

  test('annotations that were acted upon stay', () => {
    const apparmor = 'container.apparmor.security.beta.kubernetes.io/c';
    const mirror = 'kubernetes.io/config.mirror';
    const spec = { nodeName: 'n' };
    const bare = pod(spec);
    const marked = pod(spec, { annotations: { [apparmor]: 'unconfined', [mirror]: 'x' } });
    expect(texts(validatePodUpdate(marked, marked))).toEqual([]);
    expect(texts(validatePodUpdate(bare, marked))).toEqual([
      `metadata.annotations[${apparmor}]: Forbidden: may not remove or update AppArmor annotations`,
      `metadata.annotations[${mirror}]: Forbidden: may not remove or update mirror pod annotation`,
    ]);
    expect(texts(validatePodUpdate(marked, bare))).toEqual([
      `metadata.annotations[${apparmor}]: Forbidden: may not add AppArmor annotations`,
      `metadata.annotations[${mirror}]: Forbidden: may not add mirror pod annotation`,
    ]);
  });
});

describe('reports about a pod', () => {
  function reported(status: object, old: object = {}, spec: object = {}): readonly string[] {
    return texts(validatePodStatusUpdate(pod(spec, { status }), pod(spec, { status: old })));
  }
  const ended = { containerStatuses: [{ name: 'c', state: { terminated: { exitCode: 1 } } }] };
  const runs = { containerStatuses: [{ name: 'c', state: { running: {} } }] };

  test.each<[string, readonly string[]]>([
    ['Always', []],
    ['OnFailure', []],
    ['Never', ['status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state']],
  ])('a container that has failed runs again when the pod says %s', (restartPolicy, expected) => {
    expect(reported(runs, ended, { restartPolicy })).toEqual(expected);
  });

  test('addresses are addresses, one of each family', () => {
    const ADDRESS = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';
    expect(reported({ podIPs: [{ ip: '1.1.1.1' }, { ip: '::1' }] })).toEqual([]);
    expect(reported({ podIPs: [{ ip: 'x' }] })).toEqual([`status.podIPs[0]: Invalid value: "x": ${ADDRESS}`]);
    expect(reported({ podIPs: [{ ip: '1.1.1.1' }, { ip: '1.1.1.1' }] })).toEqual([
      'status.podIPs: Invalid value: [{"ip":"1.1.1.1"},{"ip":"1.1.1.1"}]: may specify no more than one IP for each IP family',
      'status.podIPs[1]: Duplicate value: "1.1.1.1"',
    ]);
  });

  test('a nominated node has a name, which is looked at when it changes', () => {
    expect(reported({ nominatedNodeName: 'A' }, { nominatedNodeName: 'A' })).toEqual([]);
    expect(reported({ nominatedNodeName: 'A' })).toHaveLength(1);
  });
});
