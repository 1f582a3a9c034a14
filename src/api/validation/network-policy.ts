import { forbiddenField, invalid, notSupported, required, type FieldError } from '../errors/field-error';
import { checkEach } from './check-each';
import type { KubeObject } from '../object';
import type {
  IPBlock,
  NetworkPolicyPeer,
  NetworkPolicyPort,
  NetworkPolicySpec,
} from '../schema/generated/networking-v1';
import { isStrictSubset, parseCidr, type Cidr } from './cidr';
import { invalidLiteral, stringListLiteral } from './go-literal';
import { validateLabelSelector } from './label-selector';
import { validatePortName, validatePortNumber, validateProtocol } from './ports';

const POLICY_TYPES = ['Ingress', 'Egress'] as const;
const NOT_A_CIDR = 'not a valid CIDR';

function validateEndPort({ port, endPort }: NetworkPolicyPort, path: string): readonly FieldError[] {
  if (endPort === undefined) return [];
  const field = `${path}.endPort`;
  if (port === undefined) return [invalid(field, endPort, 'may not be specified when `port` is not specified')];
  if (typeof port === 'string') return [invalid(field, endPort, 'may not be specified when `port` is non-numeric')];
  return [
    ...(endPort < port ? [invalid(field, endPort, 'must be greater than or equal to `port`')] : []),
    ...validatePortNumber(endPort, field),
  ];
}

function validatePort(port: NetworkPolicyPort, path: string): readonly FieldError[] {
  const value = port.port;
  return [
    ...(port.protocol === undefined ? [] : validateProtocol(port.protocol, `${path}.protocol`)),
    ...(typeof value === 'number' ? validatePortNumber(value, `${path}.port`) : []),
    ...validateEndPort(port, path),
    ...(typeof value === 'string' ? validatePortName(value, `${path}.port`) : []),
  ];
}

/** Stops at the first exception that is no block, as what follows could not be told from it. */
function validateExceptions(exceptions: readonly string[], block: Cidr, path: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  for (const [index, text] of exceptions.entries()) {
    const field = `${path}[${index}]`;
    const exception = parseCidr(text);
    if (exception === undefined) return [...errors, invalid(field, text, NOT_A_CIDR)];
    if (!isStrictSubset(exception, block)) errors.push(invalid(field, text, 'must be a strict subset of `cidr`'));
  }
  return errors;
}

function validateIpBlock({ cidr = '', except }: IPBlock, path: string): readonly FieldError[] {
  if (cidr === '') return [required(`${path}.cidr`, '')];
  const block = parseCidr(cidr);
  if (block === undefined) return [invalid(`${path}.cidr`, cidr, NOT_A_CIDR)];
  return validateExceptions(except ?? [], block, `${path}.except`);
}

function validatePeer(
  { podSelector, namespaceSelector, ipBlock }: NetworkPolicyPeer,
  path: string,
): readonly FieldError[] {
  const peers = [podSelector, namespaceSelector, ipBlock].filter((peer) => peer !== undefined && peer !== null);
  if (peers.length === 0) return [required(path, 'must specify a peer')];
  return [
    ...validateLabelSelector(podSelector, `${path}.podSelector`),
    ...validateLabelSelector(namespaceSelector, `${path}.namespaceSelector`),
    ...(ipBlock === undefined || ipBlock === null ? [] : validateIpBlock(ipBlock, `${path}.ipBlock`)),
    ...(peers.length > 1 && ipBlock ? [forbiddenField(path, 'may not specify both ipBlock and another peer')] : []),
  ];
}

function validateRule(
  ports: readonly NetworkPolicyPort[] | undefined,
  peers: readonly NetworkPolicyPeer[] | undefined,
  path: string,
  peersField: 'from' | 'to',
): readonly FieldError[] {
  return [
    ...checkEach(ports, (port, index) => validatePort(port, `${path}.ports[${index}]`)),
    ...checkEach(peers, (peer, index) => validatePeer(peer, `${path}.${peersField}[${index}]`)),
  ];
}

function validatePolicyTypes(types: readonly string[]): readonly FieldError[] {
  if (types.length > POLICY_TYPES.length) {
    const literal = stringListLiteral('[]networking.PolicyType', types);
    return [invalidLiteral('spec.policyTypes', literal, 'may not specify more than two policyTypes')];
  }
  return checkEach(types, (type, index) =>
    (POLICY_TYPES as readonly string[]).includes(type)
      ? []
      : [notSupported(`spec.policyTypes[${index}]`, type, POLICY_TYPES)],
  );
}

/** All problems of a policy's spec. */
export function validateNetworkPolicy(object: KubeObject): readonly FieldError[] {
  const { podSelector, ingress, egress, policyTypes } = (object['spec'] ?? {}) as NetworkPolicySpec;
  return [
    ...validateLabelSelector(podSelector, 'spec.podSelector'),
    ...checkEach(ingress, (rule, index) => validateRule(rule.ports, rule.from, `spec.ingress[${index}]`, 'from')),
    ...checkEach(egress, (rule, index) => validateRule(rule.ports, rule.to, `spec.egress[${index}]`, 'to')),
    ...validatePolicyTypes(policyTypes ?? []),
  ];
}

/** An update reports each problem twice, once as a new object would and once as a changed one. */
export function validateNetworkPolicyUpdate(object: KubeObject): readonly FieldError[] {
  const errors = validateNetworkPolicy(object);
  return [...errors, ...errors];
}
