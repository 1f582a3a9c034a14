import { isIPv4, isIPv6 } from 'node:net';
import { duplicate, invalid, notSupported, required, tooMany, type FieldError } from '../errors/field-error';
import { checkEach } from './check-each';
import { stringAt } from '../kinds/field-values';
import type { KubeObject } from '../object';
import { keysOf } from '../parts';
import type { Endpoint, EndpointPort } from '../schema/generated/discovery-v1';
import { validateUnchanged } from './immutable';
import { dns1123LabelProblems, dns1123SubdomainProblems } from './names';
import { validateLabels } from './object-meta';
import { invalidBecause, validateDnsLabel, validateDnsSubdomain, validateQualifiedName } from './pod/field-rules';

const ADDRESS_TYPES = ['FQDN', 'IPv4', 'IPv6'];
const PROTOCOLS = ['SCTP', 'TCP', 'UDP'];
const MAX_ENDPOINTS = 1000;
const MAX_ADDRESSES = 100;
const MAX_PORTS = 100;
const MAX_TOPOLOGY_LABELS = 16;

function validateDomainName(name: string, field: string): readonly FieldError[] {
  const domain = name.endsWith('.') ? name.slice(0, -1) : name;
  if (name === '') return [required(field, '')];
  const problems = dns1123SubdomainProblems(domain);
  if (problems.length > 0) return [invalid(field, domain, problems.join(','))];
  const labels = domain.split('.');
  if (labels.length < 2) {
    return [invalid(field, domain, 'should be a domain with at least two segments separated by dots')];
  }
  const wrong = labels.find((label) => dns1123LabelProblems(label).length > 0);
  return wrong === undefined ? [] : [invalid(field, wrong, dns1123LabelProblems(wrong).join(','))];
}

function validateAddress(address: string, type: string, field: string): readonly FieldError[] {
  switch (type) {
    case 'IPv4':
      return isIPv4(address) ? [] : [invalid(field, address, 'must be a valid IPv4 address')];
    case 'IPv6':
      return isIPv6(address) ? [] : [invalid(field, address, 'must be a valid IPv6 address')];
    case 'FQDN':
      return validateDomainName(address, field);
    default:
      return [];
  }
}

function validateAddresses(addresses: readonly string[], type: string, path: string): readonly FieldError[] {
  return [
    ...(addresses.length === 0 ? [required(path, 'must contain at least 1 address')] : []),
    ...(addresses.length > MAX_ADDRESSES ? [tooMany(path, addresses.length, MAX_ADDRESSES)] : []),
    ...checkEach(addresses, (address, index) => validateAddress(address, type, `${path}[${index}]`)),
  ];
}

/** Messages call it `topology`, as the field was called in v1beta1. */
function validateTopology(topology: Endpoint['deprecatedTopology'], path: string): readonly FieldError[] {
  const count = keysOf(topology ?? {}).length;
  return [
    ...(count > MAX_TOPOLOGY_LABELS ? [tooMany(path, count, MAX_TOPOLOGY_LABELS)] : []),
    ...validateLabels(topology, path),
  ];
}

function validateEndpoint(endpoint: Endpoint, type: string, path: string): readonly FieldError[] {
  const { addresses, nodeName, deprecatedTopology, hostname } = endpoint;
  return [
    ...validateAddresses(addresses ?? [], type, `${path}.addresses`),
    ...(nodeName === undefined ? [] : validateDnsSubdomain(nodeName, `${path}.nodeName`)),
    ...validateTopology(deprecatedTopology, `${path}.topology`),
    ...(hostname === undefined ? [] : validateDnsLabel(hostname, `${path}.hostname`)),
  ];
}

function validateProtocol(protocol: string | undefined, field: string): readonly FieldError[] {
  if (protocol === undefined) return [required(field, '')];
  return PROTOCOLS.includes(protocol) ? [] : [notSupported(field, protocol, PROTOCOLS)];
}

function validatePorts(ports: readonly EndpointPort[]): readonly FieldError[] {
  if (ports.length > MAX_PORTS) return [tooMany('ports', ports.length, MAX_PORTS)];
  const names = new Set<string>();
  return checkEach(ports, ({ name = '', protocol, appProtocol }, index) => {
    const path = `ports[${index}]`;
    const taken = names.has(name);
    names.add(name);
    return [
      ...(name === '' ? [] : invalidBecause(`${path}.name`, name, dns1123LabelProblems(name))),
      ...(taken ? [duplicate(`${path}.name`, name)] : []),
      ...validateProtocol(protocol, `${path}.protocol`),
      ...(appProtocol === undefined ? [] : validateQualifiedName(appProtocol, `${path}.appProtocol`)),
    ];
  });
}

function validateAddressType(type: string): readonly FieldError[] {
  if (type === '') return [required('addressType', '')];
  return ADDRESS_TYPES.includes(type) ? [] : [notSupported('addressType', type, ADDRESS_TYPES)];
}

export function validateEndpointSlice(object: KubeObject): readonly FieldError[] {
  const type = stringAt(object, 'addressType');
  const endpoints = (object['endpoints'] ?? []) as readonly Endpoint[];
  return [
    ...validateAddressType(type),
    ...(endpoints.length > MAX_ENDPOINTS
      ? [tooMany('endpoints', endpoints.length, MAX_ENDPOINTS)]
      : checkEach(endpoints, (endpoint, index) => validateEndpoint(endpoint, type, `endpoints[${index}]`))),
    ...validatePorts((object['ports'] ?? []) as readonly EndpointPort[]),
  ];
}

export function validateEndpointSliceUpdate(object: KubeObject, old: KubeObject): readonly FieldError[] {
  return [
    ...validateEndpointSlice(object),
    ...validateUnchanged(object['addressType'], old['addressType'], 'addressType'),
  ];
}
