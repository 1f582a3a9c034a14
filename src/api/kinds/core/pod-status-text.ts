import type { Container, ContainerState, ContainerStatus, Pod } from '../../schema/generated/core-v1';

/** What a pod is doing, in the words that kubectl shows. */
export interface PodSummary {
  readonly status: string;
  readonly restarts: number;
  readonly ready: number;
  readonly total: number;
}

const UNREACHABLE = 'NodeLost';

function isSidecar(container: Container | undefined): boolean {
  return container?.restartPolicy === 'Always';
}

function endReason({ terminated }: ContainerState): string | undefined {
  if (terminated === undefined) return undefined;
  if (terminated.reason) return terminated.reason;
  return terminated.signal ? `Signal:${terminated.signal}` : `ExitCode:${terminated.exitCode ?? 0}`;
}

interface Initialization {
  /** Undefined once all init containers have done their work. */
  readonly status: string | undefined;
  readonly restarts: number;
  readonly sidecarRestarts: number;
  readonly readySidecars: number;
}

function initStatus({ state = {} }: ContainerStatus, index: number, count: number): string {
  const reason = endReason(state) ?? state.waiting?.reason ?? '';
  return reason === '' || reason === 'PodInitializing' ? `Init:${index}/${count}` : `Init:${reason}`;
}

/** Up to the first init container that is not done. */
function initialization({ spec = {}, status = {} }: Pod): Initialization {
  const containers = spec.initContainers ?? [];
  let restarts = 0;
  let sidecarRestarts = 0;
  let readySidecars = 0;
  for (const [index, one] of (status.initContainerStatuses ?? []).entries()) {
    const sidecar = isSidecar(containers.find(({ name }) => name === one.name));
    restarts += one.restartCount ?? 0;
    if (sidecar) sidecarRestarts += one.restartCount ?? 0;
    if (one.state?.terminated !== undefined && (one.state.terminated.exitCode ?? 0) === 0) continue;
    if (sidecar && one.started) {
      if (one.ready) readySidecars += 1;
      continue;
    }
    return { status: initStatus(one, index, containers.length), restarts, sidecarRestarts, readySidecars };
  }
  return { status: undefined, restarts, sidecarRestarts, readySidecars };
}

function hasReadyCondition({ status }: Pod): boolean {
  return (status?.conditions ?? []).some(({ type, status: value }) => type === 'Ready' && value === 'True');
}

/** The first container, in order, that has something to say speaks for the pod. */
function runningStatus(pod: Pod, fallback: string): string {
  const statuses = pod.status?.containerStatuses ?? [];
  const reasons = statuses.map(({ state = {} }) => state.waiting?.reason || endReason(state));
  const reason = reasons.find((one) => one !== undefined && one !== '') ?? fallback;
  const someRun = statuses.some(
    ({ ready, state = {} }, index) => ready && state.running !== undefined && !reasons[index],
  );
  if (reason !== 'Completed' || !someRun) return reason;
  return hasReadyCondition(pod) ? 'Running' : 'NotReady';
}

function phaseText({ status = {} }: Pod): string {
  const gated = (status.conditions ?? []).some(
    ({ type, reason }) => type === 'PodScheduled' && reason === 'SchedulingGated',
  );
  return gated ? 'SchedulingGated' : status.reason || (status.phase ?? '');
}

function overallStatus(pod: Pod, status: string): string {
  if (!pod.metadata.deletionTimestamp) return status;
  return pod.status?.reason === UNREACHABLE ? 'Unknown' : 'Terminating';
}

/** What `kubectl get pods` shows of the pod's containers. */
export function summarizePod(pod: Pod): PodSummary {
  const { containers, initContainers } = pod.spec ?? {};
  const total = (containers ?? []).length + (initContainers ?? []).filter(isSidecar).length;
  const init = initialization(pod);
  if (init.status !== undefined) {
    return { status: overallStatus(pod, init.status), restarts: init.restarts, ready: init.readySidecars, total };
  }
  const statuses = pod.status?.containerStatuses ?? [];
  const readyContainers = statuses.filter(
    ({ ready, state = {} }) =>
      ready && state.running !== undefined && !state.waiting?.reason && state.terminated === undefined,
  ).length;
  return {
    status: overallStatus(pod, runningStatus(pod, phaseText(pod))),
    restarts: init.sidecarRestarts + statuses.reduce((sum, { restartCount = 0 }) => sum + restartCount, 0),
    ready: init.readySidecars + readyContainers,
    total,
  };
}
