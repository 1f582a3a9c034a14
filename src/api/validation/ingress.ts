import { isIP } from 'node:net';
import { invalid, notSupported, required, type FieldError } from '../errors/field-error';
import { checkEach, checkNow } from './check-each';
import type { RequestedVersion } from '../kinds/kind-definition';
import type { KubeObject } from '../object';
import type { TypedLocalObjectReference } from '../schema/generated/core-v1';
import type {
  HTTPIngressPath,
  IngressBackend,
  IngressRule,
  IngressServiceBackend,
  IngressSpec,
  IngressStatus,
  IngressTLS,
} from '../schema/generated/networking-v1';
import { invalidLiteral } from './go-literal';
import {
  dns1035LabelProblems,
  dns1123SubdomainProblems,
  dnsSubdomainName,
  pathSegmentName,
  wildcardSubdomainProblems,
} from './names';
import { invalidBecause } from './pod/field-rules';
import { validatePortName, validatePortNumber } from './ports';

const CLASS_ANNOTATION = 'kubernetes.io/ingress.class';
const PATH_TYPES = ['Exact', 'ImplementationSpecific', 'Prefix'];
const FORBIDDEN_IN_PATHS = ['//', '/./', '/../', '%2f', '%2F'];
/** Any of them: one look at a text instead of one for each. */
const FORBIDDEN_IN_PATH = /\/\/|\/\.\.?\/|%2[fF]/;
const FORBIDDEN_AT_ENDS = ['/..', '/.'];
const NOT_A_NAME = 'must be a DNS name, not an IP address';

/** Messages name fields as the version has them that the client sent. */
interface FieldNames {
  readonly defaultBackend: string;
  readonly serviceName: string;
  readonly portName: string;
  readonly portNumber: string;
}

const STABLE_NAMES: FieldNames = {
  defaultBackend: 'defaultBackend',
  serviceName: 'service.name',
  portName: 'service.port.name',
  portNumber: 'service.port.number',
};
const BETA_NAMES: FieldNames = {
  defaultBackend: 'backend',
  serviceName: 'serviceName',
  portName: 'servicePort',
  portNumber: 'servicePort',
};

function validateReferencePart(value: string, part: string, path: string): readonly FieldError[] {
  if (value === '') return [required(`${path}.${part}`, `${part} is required`)];
  return invalidBecause(`${path}.${part}`, value, pathSegmentName(value, false));
}

/** A reference to an object of any kind beside the referring one. */
export function validateTypedReference(
  reference: TypedLocalObjectReference | undefined,
  path: string,
): readonly FieldError[] {
  if (!reference) return [];
  const { apiGroup, kind = '', name = '' } = reference;
  return [
    ...(apiGroup === undefined || apiGroup === null
      ? []
      : invalidBecause(`${path}.apiGroup`, apiGroup, dns1123SubdomainProblems(apiGroup))),
    ...validateReferencePart(kind, 'kind', path),
    ...validateReferencePart(name, 'name', path),
  ];
}

function validateService(
  { name = '', port = {} }: IngressServiceBackend,
  names: FieldNames,
  path: string,
): readonly FieldError[] {
  const { name: portName = '', number = 0 } = port;
  const nameErrors =
    name === ''
      ? [required(`${path}.${names.serviceName}`, '')]
      : invalidBecause(`${path}.${names.serviceName}`, name, dns1035LabelProblems(name));
  if (portName !== '' && number !== 0) {
    return [...nameErrors, invalid(path, '', 'cannot set both port name & port number')];
  }
  if (portName !== '') return [...nameErrors, ...validatePortName(portName, `${path}.${names.portName}`)];
  if (number !== 0) return [...nameErrors, ...validatePortNumber(number, `${path}.${names.portNumber}`)];
  return [...nameErrors, required(path, 'port name or number is required')];
}

function validateBackend({ service, resource }: IngressBackend, names: FieldNames, path: string) {
  if (service && resource) return [invalid(path, '', 'cannot set both resource and service backends')];
  if (resource) return validateTypedReference(resource, `${path}.resource`);
  if (service) return validateService(service, names, path);
  return [invalid(path, '', 'resource or service backend is required')];
}

function validatePathText(pathType: string, path: string, field: string): readonly FieldError[] {
  const isPattern = pathType === 'ImplementationSpecific';
  if (path === '' && isPattern) return [];
  const absolute = path.startsWith('/') ? [] : [invalid(field, path, 'must be an absolute path')];
  if (isPattern) return absolute;
  return [
    ...absolute,
    ...(FORBIDDEN_IN_PATH.test(path) ? FORBIDDEN_IN_PATHS.filter((text) => path.includes(text)) : []).map((text) =>
      invalid(field, path, `must not contain '${text}'`),
    ),
    ...FORBIDDEN_AT_ENDS.filter((text) => path.endsWith(text)).map((text) =>
      invalid(field, path, `cannot end with '${text}'`),
    ),
  ];
}

function validatePath(rule: HTTPIngressPath, names: FieldNames, path: string): readonly FieldError[] {
  const { pathType } = rule;
  if (pathType === undefined || pathType === null) return [required(`${path}.pathType`, 'pathType must be specified')];
  return [
    ...(PATH_TYPES.includes(pathType)
      ? validatePathText(pathType, rule.path ?? '', `${path}.path`)
      : [notSupported(`${path}.pathType`, pathType, PATH_TYPES)]),
    ...validateBackend(rule.backend ?? {}, names, `${path}.backend`),
  ];
}

/** A DNS name, which may begin with a star. */
function hostProblems(host: string): readonly string[] {
  return host.includes('*') ? wildcardSubdomainProblems(host) : dns1123SubdomainProblems(host);
}

function validateRule(rule: IngressRule, names: FieldNames, lenient: Leniency, path: string): readonly FieldError[] {
  const { host = '' } = rule;
  return [
    ...(host !== '' && isIP(host) !== 0 ? [invalid(`${path}.host`, host, NOT_A_NAME)] : []),
    ...(host === '' ? [] : invalidBecause(`${path}.host`, host, hostProblems(host))),
    ...(lenient.wildcardRules && host.includes('*') ? [] : validatePaths(rule, names, path)),
  ];
}

function validatePaths({ http }: IngressRule, names: FieldNames, path: string): readonly FieldError[] {
  const paths = http?.paths ?? [];
  return [
    ...(http && paths.length === 0 ? [required(`${path}.http.paths`, '')] : []),
    ...checkEach(paths, (rule, index) => validatePath(rule, names, `${path}.http.paths[${index}]`)),
  ];
}

function secretNameProblems({ secretName = '' }: IngressTLS): readonly string[] {
  return secretName === '' ? [] : dns1123SubdomainProblems(secretName);
}

function validateTls(tls: IngressTLS, lenient: Leniency, path: string): readonly FieldError[] {
  const { hosts, secretName = '' } = tls;
  return [
    ...checkEach(hosts, (host, index) => invalidBecause(`${path}.hosts[${index}]`, host, hostProblems(host))),
    ...(lenient.secretNames ? [] : invalidBecause(`${path}.secretName`, secretName, secretNameProblems(tls))),
  ];
}

/** What is let pass because it was once: the beta version never looked, and what is stored stays. */
interface Leniency {
  /** Rules of hosts that begin with a star. */
  readonly wildcardRules: boolean;
  readonly secretNames: boolean;
}

function leniencyOf(requested: RequestedVersion | undefined, old?: KubeObject): Leniency {
  if (requested?.version === 'v1beta1') return { wildcardRules: true, secretNames: true };
  const { rules, tls } = (old?.['spec'] ?? {}) as IngressSpec;
  return {
    wildcardRules: (rules ?? []).some(
      (rule) => rule.host?.includes('*') === true && checkNow(() => validatePaths(rule, STABLE_NAMES, '')).length > 0,
    ),
    secretNames: (tls ?? []).some((entry) => secretNameProblems(entry).length > 0),
  };
}

function validateSpec(object: KubeObject, names: FieldNames, lenient: Leniency): readonly FieldError[] {
  const { defaultBackend, rules, tls, ingressClassName } = (object['spec'] ?? {}) as IngressSpec;
  const isEmpty = (rules ?? []).length === 0 && !defaultBackend;
  const detail = `either \`${names.defaultBackend}\` or \`rules\` must be specified`;
  return [
    ...(isEmpty ? [invalidLiteral('spec', '[]networking.IngressRule(nil)', detail)] : []),
    ...(defaultBackend ? validateBackend(defaultBackend, names, `spec.${names.defaultBackend}`) : []),
    ...checkEach(rules, (rule, index) => validateRule(rule, names, lenient, `spec.rules[${index}]`)),
    ...checkEach(tls, (entry, index) => validateTls(entry, lenient, `spec.tls[${index}]`)),
    ...(ingressClassName === undefined || ingressClassName === null
      ? []
      : invalidBecause('spec.ingressClassName', ingressClassName, dnsSubdomainName(ingressClassName, false))),
  ];
}

function namesIn(requested: RequestedVersion | undefined): FieldNames {
  return requested?.version === 'v1beta1' ? BETA_NAMES : STABLE_NAMES;
}

/** All problems of a new ingress: its class is named in one place. */
export function validateIngress(object: KubeObject, requested?: RequestedVersion): readonly FieldError[] {
  const annotation = object.metadata.annotations?.[CLASS_ANNOTATION];
  const { ingressClassName } = (object['spec'] ?? {}) as IngressSpec;
  const named = annotation !== undefined && ingressClassName !== undefined && ingressClassName !== null;
  return [
    ...validateSpec(object, namesIn(requested), leniencyOf(requested)),
    ...(named
      ? [invalid(`annotations.${CLASS_ANNOTATION}`, annotation, 'can not be set when the class field is also set')]
      : []),
  ];
}

export function validateIngressUpdate(
  object: KubeObject,
  old: KubeObject,
  requested?: RequestedVersion,
): readonly FieldError[] {
  return validateSpec(object, namesIn(requested), leniencyOf(requested, old));
}

/** The addresses of a load balancer, as ingresses and services have them in their status. */
export function validateIngressStatusUpdate(object: KubeObject): readonly FieldError[] {
  const { loadBalancer } = (object['status'] ?? {}) as IngressStatus;
  return checkEach(loadBalancer?.ingress, ({ ip = '', hostname = '' }, index) => {
    const path = `status.loadBalancer.ingress[${index}]`;
    return [
      ...(ip !== '' && isIP(ip) === 0 ? [invalid(`${path}.ip`, ip, 'must be a valid IP address')] : []),
      ...(hostname === '' ? [] : invalidBecause(`${path}.hostname`, hostname, dns1123SubdomainProblems(hostname))),
      ...(hostname !== '' && isIP(hostname) !== 0 ? [invalid(`${path}.hostname`, hostname, NOT_A_NAME)] : []),
    ];
  });
}
