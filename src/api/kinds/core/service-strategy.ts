import type { KubeObject } from '../../object';
import type { ServicePort, ServiceSpec } from '../../schema/generated/core-v1';
import { needsHealthCheck, validateService } from '../../validation/service';
import { specOf } from '../../validation/service-addresses';
import { validateServiceUpdate } from '../../validation/service-update';
import { deepEqual } from '../deep-equal';
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

/** One address in the older field is in the list, too; releases before 1.20 stored no list. */
export function withListedAddress(service: KubeObject): KubeObject {
  const { clusterIP = '', clusterIPs = [] } = specOf(service);
  return clusterIP !== '' && clusterIPs.length === 0
    ? withFields(service, 'spec', { clusterIPs: [clusterIP] })
    : service;
}

/** An update that changes one of the fields changes the other. */
function listedAddress(service: KubeObject, old: KubeObject): KubeObject {
  const { clusterIP = '', clusterIPs = [] } = specOf(service);
  const { clusterIP: before = '', clusterIPs: listBefore = [] } = specOf(withListedAddress(old));
  // An older client that sends back what it has read drops the list, which it does not know.
  if (clusterIP === before && clusterIPs.length === 0 && listBefore.length > 0) {
    return withFields(service, 'spec', { clusterIPs: listBefore });
  }
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

/** A client that asks for one family only need not take the second one out of the lists. */
function withoutSecondFamily(service: KubeObject, old: KubeObject): KubeObject {
  const spec = specOf(service);
  if (spec.ipFamilyPolicy !== 'SingleStack') return service;
  const before = specOf(old);
  const firstOf = (field: 'clusterIPs' | 'ipFamilies') => {
    const list = spec[field] ?? [];
    return list.length > 1 && deepEqual(list, before[field]) ? { [field]: list.slice(0, 1) } : {};
  };
  const changes = { ...firstOf('clusterIPs'), ...firstOf('ipFamilies') };
  return Object.keys(changes).length === 0 ? service : withFields(service, 'spec', changes);
}

/** A Service that is no load balancer any more has none of its addresses. */
function withoutBalancer(service: KubeObject, old: KubeObject): KubeObject {
  const isBalancer = (one: KubeObject): boolean => specOf(one).type === 'LoadBalancer';
  return isBalancer(old) && !isBalancer(service) ? withFields(service, 'status', { loadBalancer: {} }) : service;
}

const resetBalancer = resetStatus({ loadBalancer: {} });

function prepareForCreate(service: KubeObject): KubeObject {
  return withListedAddress(resetBalancer(service));
}

function prepareForUpdate(service: KubeObject, old: KubeObject): KubeObject {
  const kept = withoutBalancer(keepStatus(service, old), old);
  return withoutSecondFamily(dropOfOldType(listedAddress(kept, old), old), old);
}

/** Addresses and node ports themselves are given out when the object is stored. */
export const serviceStrategy: Strategy = {
  prepareForCreate,
  prepareForUpdate,
  requiresResourceVersion: true,
  validateCreate: validateService,
  validateUpdate: validateServiceUpdate,
};

/** Without the gate no Service gets two families; one that has them keeps them. */
function withoutFamilies(service: KubeObject, old: KubeObject | undefined): KubeObject {
  const { ipFamilies = [], ipFamilyPolicy, clusterIPs = [] } = old === undefined ? {} : specOf(old);
  if (ipFamilyPolicy !== undefined || ipFamilies.length > 0 || clusterIPs.length > 1) return service;
  const { clusterIPs: sent } = specOf(service);
  return withFields(service, 'spec', {
    ipFamilies: undefined,
    ipFamilyPolicy: undefined,
    clusterIPs: sent?.slice(0, 1),
  });
}

/** The strategy of a server with `--feature-gates=IPv6DualStack=false`. */
export const singleStackServiceStrategy: Strategy = {
  ...serviceStrategy,
  prepareForCreate: (service) => withoutFamilies(prepareForCreate(service), undefined),
  prepareForUpdate: (service, old) => withoutFamilies(prepareForUpdate(service, old), old),
};
