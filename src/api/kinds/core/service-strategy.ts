import type { KubeObject } from '../../object';
import type { ServicePort, ServiceSpec } from '../../schema/generated/core-v1';
import { needsHealthCheck, validateService } from '../../validation/service';
import { specOf } from '../../validation/service-addresses';
import { validateServiceUpdate } from '../../validation/service-update';
import { deepEqual } from '../deep-equal';
import { mapAt } from '../field-values';
import type { Strategy } from '../kind-definition';
import { keepStatus, resetStatus, withFields } from '../strategies';

/** Three hours. */
const AFFINITY_SECONDS = 10_800;

function defaultPort(port: ServicePort): ServicePort {
  return port.targetPort === undefined || port.targetPort === 0 || port.targetPort === ''
    ? { ...port, targetPort: port.port ?? 0 }
    : port;
}

function defaultAffinityConfig({ sessionAffinity, sessionAffinityConfig: config }: ServiceSpec): object | undefined {
  if (sessionAffinity === 'None') return undefined;
  return sessionAffinity === 'ClientIP' && config?.clientIP?.timeoutSeconds === undefined
    ? { clientIP: { timeoutSeconds: AFFINITY_SECONDS } }
    : config;
}

/** The defaults that depend on other fields; type, protocol and affinity are the schema's. */
export function defaultService(service: KubeObject): KubeObject {
  const { ports, ...spec } = { ...DEFAULTS, ...specOf(service) };
  return withFields(service, 'spec', {
    ...(ports === undefined ? {} : { ports: ports.map(defaultPort) }),
    type: spec.type,
    sessionAffinity: spec.sessionAffinity,
    sessionAffinityConfig: defaultAffinityConfig(spec),
    externalTrafficPolicy: isExternal(spec) && !spec.externalTrafficPolicy ? 'Cluster' : spec.externalTrafficPolicy,
  });
}

/** Of a service without a spec. */
const DEFAULTS = { type: 'ClusterIP', sessionAffinity: 'None' } as const;

function isExternal({ type }: ServiceSpec): boolean {
  return type === 'NodePort' || type === 'LoadBalancer';
}

function hasAddress({ type }: ServiceSpec): boolean {
  return type !== 'ExternalName';
}

/** Fields of a feature that has come to its end are taken and forgotten. */
function withoutTopology(service: KubeObject): KubeObject {
  return 'topologyKeys' in mapAt(service, 'spec') ? withFields(service, 'spec', { topologyKeys: undefined }) : service;
}

/** Who says one address in the older field says it in the list, too. */
function listedAddress(service: KubeObject, old: KubeObject | undefined): KubeObject {
  const { clusterIP = '', clusterIPs = [] } = specOf(service);
  if (old === undefined) {
    return clusterIP !== '' && clusterIPs.length === 0
      ? withFields(service, 'spec', { clusterIPs: [clusterIP] })
      : service;
  }
  const { clusterIP: before = '', clusterIPs: listBefore = [] } = specOf(old);
  if (clusterIP === before || !deepEqual(clusterIPs, listBefore)) return service;
  return withFields(service, 'spec', { clusterIPs: clusterIP === '' ? undefined : [clusterIP] });
}

/** What the old type had been given and the new one has no use for, when the client left it as it was. */
function dropOfOldType(service: KubeObject, old: KubeObject): KubeObject {
  const spec = specOf(service);
  const before = specOf(old);
  const changes: Record<string, unknown> = {};
  if (hasAddress(before) && !hasAddress(spec) && deepEqual(spec.clusterIPs, before.clusterIPs)) {
    changes['clusterIP'] = undefined;
    changes['clusterIPs'] = undefined;
    if (deepEqual(spec.ipFamilies, before.ipFamilies)) changes['ipFamilies'] = undefined;
    if (spec.ipFamilyPolicy === before.ipFamilyPolicy) changes['ipFamilyPolicy'] = undefined;
  }
  if (isExternal(before) && !isExternal(spec)) {
    if (deepEqual(nodePorts(spec), nodePorts(before))) changes['ports'] = spec.ports?.map(withoutNodePort);
    changes['externalTrafficPolicy'] = undefined;
  }
  if (needsHealthCheck(before) && !needsHealthCheck(spec)) changes['healthCheckNodePort'] = undefined;
  if (before.type === 'LoadBalancer' && spec.type !== 'LoadBalancer') {
    for (const field of ['allocateLoadBalancerNodePorts', 'loadBalancerClass'] as const) {
      if (spec[field] === before[field]) changes[field] = undefined;
    }
  }
  return Object.keys(changes).length === 0 ? service : withFields(service, 'spec', changes);
}

function nodePorts({ ports = [] }: ServiceSpec): readonly number[] {
  return ports.map(({ nodePort = 0 }) => nodePort).filter((port) => port !== 0);
}

function withoutNodePort({ nodePort: _given, ...port }: ServicePort): ServicePort {
  return port;
}

/** Who is no load balancer any more has none of its addresses. */
function withoutBalancer(service: KubeObject, old: KubeObject): KubeObject {
  const isBalancer = (one: KubeObject): boolean => specOf(one).type === 'LoadBalancer';
  return isBalancer(old) && !isBalancer(service) ? withFields(service, 'status', { loadBalancer: {} }) : service;
}

const resetBalancer = resetStatus({ loadBalancer: {} });

/** Addresses and node ports themselves are given out when the object is stored. */
export const serviceStrategy: Strategy = {
  prepareForCreate: (service) => listedAddress(withoutTopology(resetBalancer(service)), undefined),
  prepareForUpdate: (service, old) =>
    dropOfOldType(listedAddress(withoutTopology(withoutBalancer(keepStatus(service, old), old)), old), old),
  validateCreate: validateService,
  validateUpdate: validateServiceUpdate,
};
