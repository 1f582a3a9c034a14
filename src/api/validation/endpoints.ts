import { required, type FieldError } from '../errors/field-error';
import { checkEach } from './check-each';
import type { KubeObject } from '../object';
import type { EndpointAddress, EndpointPort, EndpointSubset } from '../schema/generated/core-v1';
import { validateAddress, validateRoutableAddress } from './addresses';
import { validateDnsLabel, validateDnsSubdomain, validateOneOf, validateQualifiedName } from './pod/field-rules';
import { validatePortNumber } from './ports';

const PROTOCOLS = ['SCTP', 'TCP', 'UDP'];

function validateEndpointAddress(address: EndpointAddress, path: string): readonly FieldError[] {
  const { ip = '', hostname = '', nodeName } = address;
  return [
    ...validateAddress(ip, `${path}.ip`),
    ...(hostname === '' ? [] : validateDnsLabel(hostname, `${path}.hostname`)),
    ...(nodeName === undefined ? [] : validateDnsSubdomain(nodeName, `${path}.nodeName`)),
    ...validateRoutableAddress(ip, `${path}.ip`),
  ];
}

function validateEndpointPort(port: EndpointPort, needsName: boolean, path: string): readonly FieldError[] {
  const { name = '', protocol = '', appProtocol } = port;
  const nameErrors = needsName ? [required(`${path}.name`, '')] : [];
  return [
    ...(name === '' ? nameErrors : validateDnsLabel(name, `${path}.name`)),
    ...validatePortNumber(port.port ?? 0, `${path}.port`),
    ...(protocol === '' ? [required(`${path}.protocol`, '')] : validateOneOf(protocol, PROTOCOLS, `${path}.protocol`)),
    ...(appProtocol === undefined ? [] : validateQualifiedName(appProtocol, `${path}.appProtocol`)),
  ];
}

function validateSubset(subset: EndpointSubset, path: string): readonly FieldError[] {
  const { addresses = [], notReadyAddresses = [], ports = [] } = subset;
  return [
    ...(addresses.length + notReadyAddresses.length === 0
      ? [required(path, 'must specify `addresses` or `notReadyAddresses`')]
      : []),
    ...checkEach(addresses, (address, index) => validateEndpointAddress(address, `${path}.addresses[${index}]`)),
    ...checkEach(notReadyAddresses, (address, index) =>
      validateEndpointAddress(address, `${path}.notReadyAddresses[${index}]`),
    ),
    ...checkEach(ports, (port, index) => validateEndpointPort(port, ports.length > 1, `${path}.ports[${index}]`)),
  ];
}

/** All problems of an endpoints object's subsets. */
export function validateEndpoints(object: KubeObject): readonly FieldError[] {
  const subsets = (object['subsets'] ?? []) as readonly EndpointSubset[];
  return checkEach(subsets, (subset, index) => validateSubset(subset, `subsets[${index}]`));
}
