import { filledInParts } from '../../fill-later';
import type { KubeObject } from '../../object';
import type { Pod } from '../../schema/generated/core-v1';
import { take } from '../../steps/both-forms.fixture';
import { counted, mostReads } from '../../steps/counted.fixture';
import { ephemeralContainersStrategy, podGracePeriodSeconds, podStatusStrategy, podStrategy } from './pod-strategy';

function pod(spec: object, rest: object = {}): KubeObject {
  return { metadata: { name: 'p', ...(rest as { metadata?: object }).metadata }, spec, status: { phase: 'Running' } };
}

function created(object: KubeObject): Pod {
  return podStrategy.prepareForCreate?.(object) ?? object;
}

const containers = [{ name: 'c', image: 'i:1' }];

describe('creating a pod', () => {
  test('its status begins anew', () => {
    expect(created(pod({ containers })).status).toEqual({ phase: 'Pending', qosClass: 'BestEffort' });
  });

  test('one with scheduling gates waits for them', () => {
    expect(created(pod({ containers, schedulingGates: [{ name: 'a' }] })).status?.conditions).toMatchObject([
      { type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' },
    ]);
  });

  test('what only subresources offer is dropped', () => {
    const { spec } = created(pod({ containers: [{ name: 'c' }], ephemeralContainers: [{ name: 'e' }] }));
    expect(spec).toEqual({ containers: [{ name: 'c' }] });
  });

  const POD = 'seccomp.security.alpha.kubernetes.io/pod';
  const CONTAINER = 'container.seccomp.security.alpha.kubernetes.io/c';

  test.each([
    [{ type: 'Unconfined' }, 'unconfined'],
    [{ type: 'RuntimeDefault' }, 'runtime/default'],
    [{ type: 'Localhost', localhostProfile: 'a/b.json' }, 'localhost/a/b.json'],
  ])('seccomp profiles and annotations follow each other: %j', (seccompProfile, annotation) => {
    const securityContext = { seccompProfile };
    const fields = { securityContext, containers: [{ name: 'c', securityContext }] };
    const annotations = { [POD]: annotation, [CONTAINER]: annotation };
    expect(created(pod(fields)).metadata.annotations).toEqual(annotations);
    const bare = { securityContext: {}, containers: [{ name: 'c' }] };
    expect(created(pod(bare, { metadata: { annotations } })).spec).toEqual(fields);
    expect(created(pod(fields, { metadata: { annotations } })).spec).toEqual(fields);
  });
});

test('a pod of many containers is made a few at a time, with the same outcome', () => {
  const seccompProfile = { type: 'RuntimeDefault' };
  const many = Array.from({ length: 1_000 }, (_, index) => ({
    name: `c${index}`,
    resources: { requests: { cpu: '1' } },
    ...(index % 2 === 0 ? { securityContext: { seccompProfile } } : {}),
  }));
  const wanted = pod({ containers: many, initContainers: many }, { metadata: { annotations: { a: 'b' } } });
  const prepare = (object: KubeObject) => () => podStrategy.prepareForCreate?.(object);
  const { result } = take(filledInParts(prepare(wanted)));
  expect(result).toEqual(created(wanted));
  expect(Object.keys(result?.metadata.annotations ?? {})).toHaveLength(501);
  // To see whether there are profiles at all, and to put the lists together, each container is looked at once.
  const bare = pod({ containers: [], initContainers: many.map(({ name, resources }) => ({ name, resources })) });
  expect(mostReads(filledInParts(prepare(counted(wanted))))).toBeLessThan(6 * many.length);
  expect(mostReads(filledInParts(prepare(counted(bare))))).toBeLessThan(6 * many.length);
});

describe('changing a pod', () => {
  const old = pod({ containers, ephemeralContainers: [{ name: 'e' }] }, { metadata: { ownerReferences: [] } });

  test('status and ephemeral containers stay', () => {
    const changed = podStrategy.prepareForUpdate?.({ ...pod({ containers }), status: { phase: 'Failed' } }, old);
    expect(changed?.['status']).toEqual({ phase: 'Running' });
    expect((changed as Pod).spec?.ephemeralContainers).toEqual([{ name: 'e' }]);
  });

  test('only ephemeral containers come through their subresource', () => {
    const sent = {
      ...pod({ containers: [], ephemeralContainers: [{ name: 'e' }, { name: 'f' }] }),
      metadata: { name: 'p', resourceVersion: '5', labels: { a: 'b' } },
      status: { phase: 'Failed' },
    };
    expect(ephemeralContainersStrategy.prepareForUpdate?.(sent, old)).toEqual({
      ...pod({ containers, ephemeralContainers: [{ name: 'e' }, { name: 'f' }] }),
      metadata: { name: 'p', ownerReferences: [], resourceVersion: '5' },
    });
  });

  test('a report of its status touches neither spec nor owners', () => {
    const sent = {
      metadata: {
        name: 'p',
        labels: { a: 'b' },
        ownerReferences: [{ apiVersion: 'v1', kind: 'A', name: 'a', uid: 'u' }],
      },
      spec: {},
      status: { phase: 'Failed' },
    };
    expect(podStatusStrategy.prepareForUpdate?.(sent, old)).toEqual({
      metadata: { name: 'p', labels: { a: 'b' }, ownerReferences: [] },
      spec: old['spec'],
      status: { phase: 'Failed' },
    });
  });
});

describe('deleting a pod', () => {
  const running = { nodeName: 'n', terminationGracePeriodSeconds: 30 };
  test.each([
    ['as its spec says', running, 'Running', undefined, 30],
    ['as asked for', running, 'Running', 5, 5],
    ['at once', running, 'Running', 0, 0],
    ['at once where no node has it', { terminationGracePeriodSeconds: 30 }, 'Pending', 9, 0],
    ['at once when it has failed', running, 'Failed', 9, 0],
    ['at once when it has succeeded', running, 'Succeeded', undefined, 0],
  ])('%s', (_what, spec, phase, requested, seconds) => {
    expect(podGracePeriodSeconds({ metadata: {}, spec, status: { phase } }, requested)).toBe(seconds);
  });
});
