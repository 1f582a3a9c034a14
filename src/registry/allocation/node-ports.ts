import { invalid } from '../../api/errors/field-error';
import { internalError, invalidObject, type StatusError } from '../../api/errors/status-error';
import type { ServicePort, ServiceSpec } from '../../api/schema/generated/core-v1';
import { needsHealthCheck } from '../../api/validation/service';
import type { NumberPool, TakeOutcome } from './number-pool';

/** Ports of every node under which services are reached from outside. */
export interface PortRange {
  readonly first: number;
  readonly last: number;
}

export function portRangeText({ first, last }: PortRange): string {
  return `${first}-${last}`;
}

/** All node ports that a service has: those of its ports, and the one for health checks. */
export function nodePortsOf({ ports = [], healthCheckNodePort = 0 }: ServiceSpec): readonly number[] {
  return [...ports.map(({ nodePort = 0 }) => nodePort), healthCheckNodePort].filter((port) => port > 0);
}

export interface NodePorts {
  readonly ports?: readonly ServicePort[];
  readonly healthCheckNodePort?: number;
}

interface Assignment {
  readonly range: PortRange;
  readonly pool: NumberPool;
  /** For messages. */
  readonly serviceName: string;
}

function hasNodePorts({ type }: ServiceSpec): boolean {
  return type === 'NodePort' || type === 'LoadBalancer';
}

/**
 * The node ports of a service as it shall be: kept where it had them, as wanted where it says so, any free ones else.
 * Takes from the pool, and releases nothing. Throws 422 for a port that cannot be had, 500 when none is left.
 */
export function assignNodePorts(spec: ServiceSpec, oldSpec: ServiceSpec | undefined, to: Assignment): NodePorts {
  const { ports = [] } = spec;
  const assigned = !hasNodePorts(spec)
    ? ports
    : oldSpec === undefined
      ? assignToNew(spec, ports, to)
      : assignToChanged(spec, ports, new Set(nodePortsOf({ ports: oldSpec.ports ?? [] })), to);
  const needed = oldSpec !== undefined && needsHealthCheck(oldSpec);
  return {
    ...(spec.ports === undefined ? {} : { ports: assigned }),
    ...(needsHealthCheck(spec) && !needed
      ? { healthCheckNodePort: healthCheckPort(spec.healthCheckNodePort ?? 0, to) }
      : {}),
  };
}

/** One number with several protocols is reached under one node port. */
function assignToNew(spec: ServiceSpec, ports: readonly ServicePort[], to: Assignment): readonly ServicePort[] {
  const given = new Map<number | undefined, number>();
  return ports.map((port, index) => {
    if (!port.nodePort && leavesOut(spec)) return port;
    const shared = given.get(port.port);
    if (shared !== undefined && (!port.nodePort || port.nodePort === shared)) return { ...port, nodePort: shared };
    const wanted = port.nodePort || ports.find((one) => one.port === port.port && one.nodePort)?.nodePort || 0;
    const nodePort = wanted === 0 ? takeAny(to, 'nodePort') : takeWanted(wanted, index, to);
    if (shared === undefined) given.set(port.port, nodePort);
    return { ...port, nodePort };
  });
}

function assignToChanged(
  spec: ServiceSpec,
  ports: readonly ServicePort[],
  had: ReadonlySet<number>,
  to: Assignment,
): readonly ServicePort[] {
  const taken = new Set(had);
  return ports.map((port, index) => {
    const wanted = port.nodePort ?? 0;
    if (taken.has(wanted) || (wanted === 0 && leavesOut(spec))) return port;
    const nodePort = wanted === 0 ? takeAny(to, 'nodePort') : takeWanted(wanted, index, to);
    taken.add(nodePort);
    return { ...port, nodePort };
  });
}

/** Some load balancers reach the pods without a detour over node ports. */
function leavesOut({ type, allocateLoadBalancerNodePorts }: ServiceSpec): boolean {
  return type === 'LoadBalancer' && allocateLoadBalancerNodePorts === false;
}

function takeAny({ pool, range }: Assignment, what: string): number {
  const index = pool.takeAny();
  if (index === undefined) throw internalError(`failed to allocate a ${what}: range is full`);
  return range.first + index;
}

function problem(outcome: Exclude<TakeOutcome, 'taken'>, range: PortRange): string {
  return outcome === 'occupied'
    ? 'provided port is already allocated'
    : `provided port is not in the valid range. The range of valid ports is ${portRangeText(range)}`;
}

function takeWanted(port: number, index: number, { pool, range, serviceName }: Assignment): number {
  const outcome = pool.take(port - range.first);
  if (outcome === 'taken') return port;
  throw invalidService(serviceName, `spec.ports[${index}].nodePort`, port, problem(outcome, range));
}

function invalidService(name: string, field: string, value: number, detail: string): StatusError {
  return invalidObject({ group: '', kind: 'Service' }, name, [invalid(field, value, detail)]);
}

function healthCheckPort(wanted: number, to: Assignment): number {
  if (wanted === 0) return takeAny(to, 'HealthCheck NodePort 0');
  const outcome = to.pool.take(wanted - to.range.first);
  if (outcome === 'taken') return wanted;
  throw internalError(`failed to allocate requested HealthCheck NodePort ${wanted}: ${problem(outcome, to.range)}`);
}
