import { podTable } from './pod-table';

interface Row {
  readonly spec?: object;
  readonly status?: object;
  readonly metadata?: object;
}

const one = { containers: [{ name: 'c' }] };
const running = { running: { startedAt: '2020-01-01T00:00:00Z' } };

/** Ready, status and restarts. */
function cells({ spec = one, status = {}, metadata = {} }: Row): readonly unknown[] {
  const object = { metadata: { name: 'p', creationTimestamp: '2020-01-01T00:00:00Z', ...metadata }, spec, status };
  return podTable.cells(object, Date.parse('2020-01-01T00:01:00Z'));
}

function ended(exitCode: number, rest: object = {}): object {
  return { terminated: { exitCode, ...rest } };
}

describe('the table of pods', () => {
  test.each<[string, Row, readonly unknown[]]>([
    ['a new pod', { status: { phase: 'Pending' } }, ['0/1', 'Pending', 0]],
    [
      'some containers are ready',
      {
        spec: { containers: [{}, {}] },
        status: {
          phase: 'Running',
          containerStatuses: [
            { state: running, ready: true, restartCount: 3 },
            { state: running, ready: false, restartCount: 2 },
          ],
        },
      },
      ['1/2', 'Running', 5],
    ],
    [
      'a container that keeps crashing',
      {
        status: {
          phase: 'Running',
          containerStatuses: [{ state: { waiting: { reason: 'CrashLoopBackOff' } }, restartCount: 7 }],
        },
      },
      ['0/1', 'CrashLoopBackOff', 7],
    ],
    [
      'an exit code',
      { status: { phase: 'Failed', containerStatuses: [{ state: ended(3) }] } },
      ['0/1', 'ExitCode:3', 0],
    ],
    [
      'a signal',
      { status: { phase: 'Failed', containerStatuses: [{ state: ended(1, { signal: 9 }) }] } },
      ['0/1', 'Signal:9', 0],
    ],
    ['a reason of the pod', { status: { phase: 'Failed', reason: 'Evicted' } }, ['0/1', 'Evicted', 0]],
    [
      'the second of two init containers',
      {
        spec: { containers: [{}], initContainers: [{ name: 'a' }, { name: 'b' }] },
        status: {
          phase: 'Pending',
          initContainerStatuses: [
            { name: 'a', state: ended(0), restartCount: 1 },
            { name: 'b', state: running },
          ],
        },
      },
      ['0/1', 'Init:1/2', 1],
    ],
    [
      'a failed init container',
      {
        spec: { containers: [{}], initContainers: [{ name: 'a' }] },
        status: { phase: 'Pending', initContainerStatuses: [{ name: 'a', state: ended(2, { reason: 'Error' }) }] },
      },
      ['0/1', 'Init:Error', 0],
    ],
    [
      'an init container killed',
      { status: { initContainerStatuses: [{ state: ended(2, { signal: 15 }) }] } },
      ['0/1', 'Init:Signal:15', 0],
    ],
    [
      'an init container whose image cannot be had',
      {
        status: { initContainerStatuses: [{ state: { waiting: { reason: 'ImagePullBackOff' } } }] },
      },
      ['0/1', 'Init:ImagePullBackOff', 0],
    ],
    [
      'init containers of which none has begun',
      {
        spec: { containers: [{}], initContainers: [{ name: 'a' }] },
        status: { initContainerStatuses: [{ state: { waiting: { reason: 'PodInitializing' } } }] },
      },
      ['0/1', 'Init:0/1', 0],
    ],
    [
      'one container done, the other running',
      {
        spec: { containers: [{}, {}] },
        status: {
          phase: 'Running',
          containerStatuses: [{ state: ended(0, { reason: 'Completed' }) }, { state: running, ready: true }],
        },
      },
      ['1/2', 'NotReady', 0],
    ],
    [
      'the same, and the pod is ready',
      {
        spec: { containers: [{}, {}] },
        status: {
          phase: 'Running',
          conditions: [{ type: 'Ready', status: 'True' }],
          containerStatuses: [{ state: ended(0, { reason: 'Completed' }) }, { state: running, ready: true }],
        },
      },
      ['1/2', 'Running', 0],
    ],
    [
      'a sidecar counts',
      {
        spec: { containers: [{ name: 'c' }], initContainers: [{ name: 's', restartPolicy: 'Always' }] },
        status: {
          phase: 'Running',
          initContainerStatuses: [{ name: 's', started: true, ready: true, state: running, restartCount: 1 }],
          containerStatuses: [{ name: 'c', state: running, ready: true, restartCount: 2 }],
        },
      },
      ['2/2', 'Running', 3],
    ],
    [
      'a gated pod',
      { status: { phase: 'Pending', conditions: [{ type: 'PodScheduled', reason: 'SchedulingGated' }] } },
      ['0/1', 'SchedulingGated', 0],
    ],
    [
      'a pod on its way out',
      { metadata: { deletionTimestamp: '2020-01-01T00:00:00Z' }, status: { phase: 'Running' } },
      ['0/1', 'Terminating', 0],
    ],
    [
      'the same on a lost node',
      { metadata: { deletionTimestamp: '2020-01-01T00:00:00Z' }, status: { phase: 'Running', reason: 'NodeLost' } },
      ['0/1', 'Unknown', 0],
    ],
  ])('%s', (_what, row, expected) => {
    expect(cells(row).slice(1, 4)).toEqual(expected);
  });

  test('wide output tells where the pod is and what it waits for', () => {
    const row = {
      spec: { ...one, nodeName: 'n1', readinessGates: [{ conditionType: 'a/b' }, { conditionType: 'c' }] },
      status: {
        nominatedNodeName: 'n2',
        podIPs: [{ ip: '1.2.3.4' }],
        conditions: [{ type: 'a/b', status: 'True' }],
      },
    };
    expect(cells(row).slice(4)).toEqual(['60s', '1.2.3.4', 'n1', 'n2', '1/2']);
    expect(cells({}).slice(5)).toEqual(['<none>', '<none>', '<none>', '<none>']);
  });

  test.each([
    ['Succeeded', ['Succeeded', 'The pod has completed successfully.']],
    ['Failed', ['Failed', 'The pod failed.']],
    ['Running', undefined],
  ])('the row of a pod that is %s', (phase, expected) => {
    const [condition] = podTable.conditions?.({ metadata: {}, status: { phase } }) ?? [];
    expect(condition && [condition.reason, condition.message]).toEqual(expected);
  });
});
