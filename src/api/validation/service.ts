import { duplicate, forbiddenField, invalid, notSupported, required, type FieldError } from '../errors/field-error';
import { checkEach, checkEachPart, checkThen } from './check-each';
import type { KubeObject } from '../object';
import type { ServicePort, ServiceSpec } from '../schema/generated/core-v1';
import { validateAddress, validateRoutableAddress } from './addresses';
import { parseCidr } from './cidr';
import { invalidLiteral, servicePortLiteral } from './go-literal';
import { validateLabels } from './object-meta';
import { validateDnsLabel, validateDnsSubdomain, validateQualifiedName } from './pod/field-rules';
import { validatePortName, validatePortNumber } from './ports';
import { isHeadless, specOf, validateClusterIps } from './service-addresses';

const TYPES = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];
const PROTOCOLS = ['SCTP', 'TCP', 'UDP'];
const AFFINITIES = ['ClientIP', 'None'];
const TRAFFIC_POLICIES = ['Cluster', 'Local'];
/** A day. */
const MAX_AFFINITY_SECONDS = 86_400;
const KUBELET_PORT = 10_250;
const SOURCE_RANGES_ANNOTATION = 'service.beta.kubernetes.io/load-balancer-source-ranges';

function validateExternalName({ clusterIPs = [], ipFamilies = [], ipFamilyPolicy, externalName = '' }: ServiceSpec) {
  const detail = 'may not be set for ExternalName services';
  // The dot at the end says that the name is complete.
  const name = externalName.endsWith('.') ? externalName.slice(0, -1) : externalName;
  return [
    ...(clusterIPs.length > 0 ? [forbiddenField('spec.clusterIPs', detail)] : []),
    ...(ipFamilies.length > 0 ? [forbiddenField('spec.ipFamilies', detail)] : []),
    ...(ipFamilyPolicy === undefined ? [] : [forbiddenField('spec.ipFamilyPolicy', detail)]),
    ...(name === '' ? [required('spec.externalName', '')] : validateDnsSubdomain(name, 'spec.externalName')),
  ];
}

function validateType(spec: ServiceSpec): readonly FieldError[] {
  const { type, ports = [] } = spec;
  const headless = (): readonly FieldError[] =>
    isHeadless(spec) ? [invalid('spec.clusterIPs[0]', 'None', `may not be set to 'None' for ${type} services`)] : [];
  switch (type) {
    case 'LoadBalancer':
      return [
        ...checkEach(ports, ({ port }, index) =>
          port === KUBELET_PORT
            ? [
                invalid(
                  `spec.ports[${index}]`,
                  port,
                  `may not expose port ${port} externally since it is used by kubelet`,
                ),
              ]
            : [],
        ),
        ...headless(),
      ];
    case 'NodePort':
      return headless();
    case 'ExternalName':
      return validateExternalName(spec);
    default:
      return [];
  }
}

function validatePort(port: ServicePort, needsName: boolean, names: Set<string>, path: string): readonly FieldError[] {
  const { name = '', protocol = '', targetPort = 0, appProtocol } = port;
  const target = `${path}.targetPort`;
  const errors: FieldError[] = [];
  if (name !== '') {
    errors.push(...validateDnsLabel(name, `${path}.name`));
    if (names.has(name)) errors.push(duplicate(`${path}.name`, name));
    names.add(name);
  } else if (needsName) errors.push(required(`${path}.name`, ''));
  errors.push(...validatePortNumber(port.port ?? 0, `${path}.port`));
  if (protocol === '') errors.push(required(`${path}.protocol`, ''));
  else if (!PROTOCOLS.includes(protocol)) errors.push(notSupported(`${path}.protocol`, protocol, PROTOCOLS));
  errors.push(
    ...(typeof targetPort === 'string' ? validatePortName(targetPort, target) : validatePortNumber(targetPort, target)),
  );
  if (appProtocol !== undefined) errors.push(...validateQualifiedName(appProtocol, `${path}.appProtocol`));
  return errors;
}

function validatePorts({ ports = [] }: ServiceSpec): readonly FieldError[] {
  const names = new Set<string>();
  return checkEach(ports, (port, index) => validatePort(port, ports.length > 1, names, `spec.ports[${index}]`));
}

function validateAffinity({ sessionAffinity = '', sessionAffinityConfig: config }: ServiceSpec): readonly FieldError[] {
  const path = 'spec.sessionAffinityConfig';
  if (sessionAffinity === '') return [required('spec.sessionAffinity', '')];
  if (!AFFINITIES.includes(sessionAffinity)) return [notSupported('spec.sessionAffinity', sessionAffinity, AFFINITIES)];
  if (sessionAffinity === 'None') {
    return config === undefined ? [] : [forbiddenField(path, 'must not be set when session affinity is None')];
  }
  const detail = 'when session affinity type is ClientIP';
  if (config === undefined) return [required(path, detail)];
  if (config.clientIP === undefined) return [required(`${path}.clientIP`, detail)];
  const { timeoutSeconds } = config.clientIP;
  const field = `${path}.clientIP.timeoutSeconds`;
  if (timeoutSeconds === undefined) return [required(field, detail)];
  return timeoutSeconds > 0 && timeoutSeconds <= MAX_AFFINITY_SECONDS
    ? []
    : [invalid(field, timeoutSeconds, `must be greater than 0 and less than ${MAX_AFFINITY_SECONDS}`)];
}

function validateExternalIps({ externalIPs = [] }: ServiceSpec): readonly FieldError[] {
  return checkEach(externalIPs, (address, index) => {
    const field = `spec.externalIPs[${index}]`;
    const errors = validateAddress(address, field);
    return errors.length > 0 ? errors : validateRoutableAddress(address, field);
  });
}

function validateTypeName({ type = '' }: ServiceSpec): readonly FieldError[] {
  if (type === '') return [required('spec.type', '')];
  return TYPES.includes(type) ? [] : [notSupported('spec.type', type, TYPES)];
}

/** What each type may have of its ports. */
function validatePortsOfType({ type, ports = [] }: ServiceSpec): readonly FieldError[] {
  if (type !== 'ClusterIP') return [];
  return checkEach(ports, ({ nodePort = 0 }, index) =>
    nodePort === 0
      ? []
      : [forbiddenField(`spec.ports[${index}].nodePort`, "may not be used when `type` is 'ClusterIP'")],
  );
}

function validateDistinctNodePorts({ ports = [] }: ServiceSpec): readonly FieldError[] {
  const seen = new Set<string>();
  return checkEach(ports, ({ protocol = '', nodePort = 0 }, index) => {
    if (nodePort === 0) return [];
    const key = `${protocol}/${nodePort}`;
    if (seen.has(key)) return [duplicate(`spec.ports[${index}].nodePort`, nodePort)];
    seen.add(key);
    return [];
  });
}

function validateDistinctPorts({ ports = [] }: ServiceSpec): readonly FieldError[] {
  const seen = new Set<string>();
  return checkEach(ports, ({ protocol = '', port = 0 }, index) => {
    const key = `${protocol}/${port}`;
    if (!seen.has(key)) {
      seen.add(key);
      return [];
    }
    const message = `Duplicate value: ${servicePortLiteral({ protocol, port })}`;
    return [{ reason: 'FieldValueDuplicate', field: `spec.ports[${index}]`, message }];
  });
}

/** The ranges come from the field, or from the annotation that was there before it. */
function validateSourceRanges({ metadata }: KubeObject, spec: ServiceSpec): readonly FieldError[] {
  const { loadBalancerSourceRanges: ranges = [], type } = spec;
  const annotation = metadata.annotations?.[SOURCE_RANGES_ANNOTATION];
  if (ranges.length === 0 && annotation === undefined) return [];
  const fromField = ranges.length > 0;
  const field = fromField ? 'spec.LoadBalancerSourceRanges' : `metadata.annotations[${SOURCE_RANGES_ANNOTATION}]`;
  const value = (): string => (fromField ? `[${ranges.join(' ')}]` : (annotation ?? ''));
  const texts = fromField ? ranges : (annotation ?? '').trim() === '' ? [] : (annotation ?? '').trim().split(',');
  const detail = 'must be a list of IP ranges. For example, 10.240.0.0/24,10.250.0.0/24 ';
  return [
    ...(type === 'LoadBalancer' ? [] : [forbiddenField(field, "may only be used when `type` is 'LoadBalancer'")]),
    ...checkThen(
      () =>
        checkEachPart(texts, (text) => (parseCidr(text.trim()) === undefined ? [invalid(field, text, detail)] : [])),
      (wrong) => (wrong.length === 0 ? [] : [invalid(field, value(), detail)]),
    ),
  ];
}

function validateTraffic(spec: ServiceSpec): readonly FieldError[] {
  const { externalTrafficPolicy: policy = '', healthCheckNodePort: port = 0, internalTrafficPolicy } = spec;
  return [
    ...(policy === '' || TRAFFIC_POLICIES.includes(policy)
      ? []
      : [invalid('spec.externalTrafficPolicy', policy, 'ExternalTrafficPolicy must be empty, Cluster or Local')]),
    ...(port < 0 ? [invalid('spec.healthCheckNodePort', port, 'HealthCheckNodePort must be not less than 0')] : []),
    ...(internalTrafficPolicy === undefined || TRAFFIC_POLICIES.includes(internalTrafficPolicy)
      ? []
      : [notSupported('spec.internalTrafficPolicy', internalTrafficPolicy, TRAFFIC_POLICIES)]),
  ];
}

/** True for services whose load balancer asks each node whether it has a pod of it. */
export function needsHealthCheck({ type, externalTrafficPolicy }: ServiceSpec): boolean {
  return type === 'LoadBalancer' && externalTrafficPolicy === 'Local';
}

/** Only looked at when all else is in order. */
function validateTrafficOfType(spec: ServiceSpec): readonly FieldError[] {
  const { type = '', externalTrafficPolicy: policy = '', healthCheckNodePort: port = 0 } = spec;
  const isExternal = type === 'NodePort' || type === 'LoadBalancer';
  return [
    ...(policy !== '' && !isExternal
      ? [
          invalid(
            'spec.externalTrafficPolicy',
            policy,
            'ExternalTrafficPolicy can only be set on NodePort and LoadBalancer service',
          ),
        ]
      : []),
    ...(port !== 0 && !needsHealthCheck(spec)
      ? [
          invalid(
            'spec.healthCheckNodePort',
            port,
            'HealthCheckNodePort can only be set on LoadBalancer service with ExternalTrafficPolicy=Local',
          ),
        ]
      : []),
  ];
}

export function hasMixedProtocols(service: KubeObject): boolean {
  return new Set(specOf(service).ports?.map(({ protocol = '' }) => protocol)).size > 1;
}

/** Without the gate MixedProtocolLBService. */
export function validateSingleProtocol(service: KubeObject): readonly FieldError[] {
  const { type, ports = [] } = specOf(service);
  if (type !== 'LoadBalancer' || !hasMixedProtocols(service)) return [];
  const literal = `[]core.ServicePort{${ports.map(servicePortLiteral).join(', ')}}`;
  return [invalidLiteral('spec.ports', literal, "may not contain more than 1 protocol when type is 'LoadBalancer'")];
}

/** Of load balancers only. */
function validateBalancerFields(spec: ServiceSpec): readonly FieldError[] {
  const { type, loadBalancerClass } = spec;
  if (type === 'LoadBalancer') {
    return loadBalancerClass === undefined ? [] : validateQualifiedName(loadBalancerClass, 'spec.loadBalancerClass');
  }
  const fields = ['allocateLoadBalancerNodePorts', 'loadBalancerClass'] as const;
  return fields
    .filter((field) => spec[field] !== undefined)
    .map((field) => forbiddenField(`spec.${field}`, "may only be used when `type` is 'LoadBalancer'"));
}

/** All problems of a service's spec; its address and node ports are prepared but perhaps not yet given out. */
export function validateService(object: KubeObject): readonly FieldError[] {
  const spec = specOf(object);
  const { ports = [], type, selector } = spec;
  const fields = (): readonly FieldError[] => [
    ...(ports.length === 0 && !isHeadless(spec) && type !== 'ExternalName' ? [required('spec.ports', '')] : []),
    ...validateType(spec),
    ...validatePorts(spec),
    ...validateLabels(selector, 'spec.selector'),
    ...validateAffinity(spec),
    ...validateClusterIps(spec),
    ...validateExternalIps(spec),
    ...validateTypeName(spec),
    ...validatePortsOfType(spec),
    ...validateDistinctNodePorts(spec),
    ...validateDistinctPorts(spec),
    ...validateSourceRanges(object, spec),
    ...validateBalancerFields(spec),
    ...validateTraffic(spec),
  ];
  return checkThen(fields, (errors) => (errors.length > 0 ? errors : validateTrafficOfType(spec)));
}
