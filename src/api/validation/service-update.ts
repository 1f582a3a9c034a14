import { invalid, type FieldError } from '../errors/field-error';
import type { KubeObject } from '../object';
import type { LoadBalancerIngress, ServiceSpec, ServiceStatus } from '../schema/generated/core-v1';
import { isAddress } from './addresses';
import { checkThen } from './check-each';
import { validateDnsSubdomain } from './pod/field-rules';
import { needsHealthCheck, validateService } from './service';
import { specOf, validateClusterIpsUpdate, validateFamiliesUpdate } from './service-addresses';
import { checkEach } from './check-each';

const HEALTH_CHECK_PORT_CHANGED =
  'cannot change healthCheckNodePort on loadBalancer service with externalTraffic=Local during update';

/** The port that load balancers have been told of stays as long as they need one. */
function validateHealthCheckPort(object: KubeObject, old: KubeObject): readonly FieldError[] {
  const spec = specOf(object);
  const oldSpec = specOf(old);
  if (!needsHealthCheck(spec) || !needsHealthCheck(oldSpec)) return [];
  const { healthCheckNodePort: port = 0 } = spec;
  return port === (oldSpec.healthCheckNodePort ?? 0)
    ? []
    : [invalid('spec.healthCheckNodePort', port, HEALTH_CHECK_PORT_CHANGED)];
}

/** A class is chosen when the service becomes a load balancer, and then for good. */
function validateBalancerClass(spec: ServiceSpec, oldSpec: ServiceSpec): readonly FieldError[] {
  if (spec.type !== 'LoadBalancer' || oldSpec.type !== 'LoadBalancer') return [];
  const { loadBalancerClass } = spec;
  return loadBalancerClass === oldSpec.loadBalancerClass
    ? []
    : [invalid('spec.loadBalancerClass', loadBalancerClass ?? 'null', 'may not change once set')];
}

export function validateServiceUpdate(object: KubeObject, old: KubeObject): readonly FieldError[] {
  const spec = specOf(object);
  const oldSpec = specOf(old);
  const fields = (): readonly FieldError[] => [
    ...validateClusterIpsUpdate(spec, oldSpec),
    ...validateFamiliesUpdate(spec, oldSpec),
    ...validateBalancerClass(spec, oldSpec),
    ...validateService(object),
  ];
  return checkThen(fields, (errors) => (errors.length > 0 ? errors : validateHealthCheckPort(object, old)));
}

function validateIngress({ ip = '', hostname = '' }: LoadBalancerIngress, path: string): readonly FieldError[] {
  return [
    ...(ip === '' || isAddress(ip) ? [] : [invalid(`${path}.ip`, ip, 'must be a valid IP address')]),
    ...(hostname === '' ? [] : validateDnsSubdomain(hostname, `${path}.hostname`)),
    ...(isAddress(hostname) ? [invalid(`${path}.hostname`, hostname, 'must be a DNS name, not an IP address')] : []),
  ];
}

export function validateServiceStatusUpdate(object: KubeObject): readonly FieldError[] {
  const { loadBalancer } = (object['status'] ?? {}) as ServiceStatus;
  return checkEach(loadBalancer?.ingress, (ingress, index) =>
    validateIngress(ingress, `status.loadBalancer.ingress[${index}]`),
  );
}
