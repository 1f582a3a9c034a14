import type { KubeObject } from '../api/object';
import { jsonEqual } from '../api/patch/json-equal';
import type { ServiceLookup } from '../client/service-resolver';
import type { RemoteApi } from './remote-api';

/** What the condition `Available` of an APIService says, with kube-apiserver's reasons and messages. */
export interface Availability {
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}

export const PASSED: Availability = { status: 'True', reason: 'Passed', message: 'all checks passed' };

interface Port {
  readonly name?: string;
  readonly port?: number;
}

interface Subset {
  readonly addresses?: readonly unknown[];
  readonly ports?: readonly Port[];
}

/** What is wrong with the service before it is asked; undefined: nothing that can be seen. */
export function serviceProblem({ service }: RemoteApi, lookup: ServiceLookup): Availability | undefined {
  const { namespace, name, port } = service;
  const of = `service/${name} in ${JSON.stringify(namespace)}`;
  const found = lookup.getService(namespace, name);
  if (found === undefined) return unavailable('ServiceNotFound', `${of} is not present`);
  const { type = 'ClusterIP', ports = [] } = (found['spec'] ?? {}) as { type?: string; ports?: readonly Port[] };
  // Endpoints are for those with a cluster IP.
  if (type !== 'ClusterIP') return undefined;
  const servicePort = ports.find((one) => one.port === port);
  if (servicePort === undefined) return unavailable('ServicePortError', `${of} is not listening on port ${port}`);
  const endpoints = lookup.getEndpoints(namespace, name);
  if (endpoints === undefined) return unavailable('EndpointsNotFound', `cannot find endpoints for ${of}`);
  const portName = servicePort.name ?? '';
  const isReady = ((endpoints['subsets'] ?? []) as readonly Subset[]).some(
    ({ addresses = [], ports: offered = [] }) =>
      addresses.length > 0 && offered.some((one) => (one.name ?? '') === portName),
  );
  if (isReady) return undefined;
  return unavailable(
    'MissingEndpoints',
    `endpoints for ${of} have no addresses with port name ${JSON.stringify(portName)}`,
  );
}

/** There was no response of an API server. */
export function failedDiscovery(message: string): Availability {
  return unavailable('FailedDiscoveryCheck', message);
}

function unavailable(reason: string, message: string): Availability {
  return { status: 'False', reason, message };
}

interface Condition {
  readonly type?: string;
  readonly status?: string;
  readonly lastTransitionTime?: string;
}

/** The APIService with the condition, or itself when it says so already. `now`: RFC 3339, whole seconds. */
export function withAvailability(object: KubeObject, availability: Availability, now: string): KubeObject {
  const status = (object['status'] ?? {}) as { readonly conditions?: readonly Condition[] };
  const conditions = status.conditions ?? [];
  const before = conditions.find(({ type }) => type === 'Available');
  const since = before?.status === availability.status ? (before.lastTransitionTime ?? now) : now;
  const condition = { type: 'Available', lastTransitionTime: since, ...availability };
  if (before !== undefined && jsonEqual(before, condition)) return object;
  const changed =
    before === undefined ? [...conditions, condition] : conditions.map((one) => (one === before ? condition : one));
  return { ...object, status: { ...status, conditions: changed } };
}
