import { BlockList, isIPv4, isIPv6 } from 'node:net';
import { badRequest, notFound, serviceUnavailable, StatusError } from '../../api/errors/status-error';
import type { KubeObject } from '../../api/object';
import type { EndpointDependencies, ResourceRequest } from './endpoint';
import type { RegistryOperations } from '../../resources/served-resource';
import { kubeletAddress } from './pod-container';
import { scopeOf } from './resource-request';

/** Finds out that what a proxy request names is there and may be connected to. Throws 400, 404, 500 and 503. */
export type CheckTarget = (request: ResourceRequest, dependencies: EndpointDependencies) => Promise<void>;

interface Target {
  readonly name: string;
  /** A number, or the name of a service's port; empty: the only one. */
  readonly port: string;
}

interface Pod extends KubeObject {
  readonly status?: { readonly podIPs?: readonly { readonly ip?: string }[]; readonly podIP?: string };
}

interface Service extends KubeObject {
  readonly spec?: { readonly ports?: readonly { readonly name?: string; readonly port: number }[] };
}

interface EndpointAddress {
  readonly ip: string;
  readonly targetRef?: { readonly namespace?: string; readonly name?: string };
}

interface Endpoints extends KubeObject {
  readonly subsets?: readonly {
    readonly addresses?: readonly EndpointAddress[];
    readonly ports?: readonly { readonly name?: string }[];
  }[];
}

const SCHEMES = ['', 'http', 'https'];

/** Addresses of the server itself, of its link and of groups: a proxy request must not lead there. */
const NOT_PROXYABLE = new BlockList();
for (const [network, prefix] of [
  ['0.0.0.0', 32],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['224.0.0.0', 4],
  ['255.255.255.255', 32],
] as const) {
  NOT_PROXYABLE.addSubnet(network, prefix, 'ipv4');
}
for (const [network, prefix] of [
  ['::', 128],
  ['::1', 128],
  ['fe80::', 10],
  ['ff00::', 8],
] as const) {
  NOT_PROXYABLE.addSubnet(network, prefix, 'ipv6');
}

function isProxyable(address: string): boolean {
  if (isIPv4(address)) return !NOT_PROXYABLE.check(address, 'ipv4');
  return isIPv6(address) && !NOT_PROXYABLE.check(address, 'ipv6');
}

/** `name`, `name:port` or `scheme:name:port`. */
function targetOf(id: string, what: string): Target {
  const parts = id.split(':');
  const [scheme = '', name = '', port = ''] = parts.length < 3 ? ['', ...parts] : parts;
  if (parts.length > 3 || name === '' || !SCHEMES.includes(scheme)) {
    throw badRequest(`invalid ${what} request ${JSON.stringify(id)}`);
  }
  return { name, port };
}

export const checkPodTarget: CheckTarget = async (request) => {
  const { context } = request;
  const { name } = targetOf(context.info.name, 'pod');
  const { object } = await request.registry.get(scopeOf(request), name, {}, context.signal);
  if (!isProxyable(podAddresses(object)[0] ?? '')) throw badRequest('address not allowed');
};

function podAddresses({ status = {} }: Pod): readonly string[] {
  const { podIPs = [], podIP } = status;
  const addresses = podIPs.map(({ ip = '' }) => ip);
  return addresses.length > 0 || podIP === undefined ? addresses : [podIP];
}

export const checkNodeTarget: CheckTarget = async (request, dependencies) => {
  const { name, port } = targetOf(request.context.info.name, 'node');
  const address = await kubeletAddress(name, 'nodes', request, dependencies);
  // The kubelet itself is reached wherever it is: a cluster on one machine has it on loopback.
  if (port !== '' && (isIPv4(address) || isIPv6(address)) && !isProxyable(address)) {
    const { object } = await request.registry.get({ namespace: '' }, name, {}, request.context.signal);
    if (port !== String(kubeletPort(object))) throw badRequest('address not allowed');
  }
};

const DEFAULT_KUBELET_PORT = 10_250;

function kubeletPort(node: KubeObject): number {
  const { daemonEndpoints } = (node.status ?? {}) as {
    readonly daemonEndpoints?: { readonly kubeletEndpoint?: { readonly Port?: number } };
  };
  return daemonEndpoints?.kubeletEndpoint?.Port || DEFAULT_KUBELET_PORT;
}

/** A service without endpoints is not there, as far as a client of the proxy is concerned. */
async function endpointsOf(
  name: string,
  request: ResourceRequest,
  dependencies: EndpointDependencies,
): Promise<Endpoints> {
  try {
    const registry = registryOf('endpoints', dependencies);
    return (await registry.get(scopeOf(request), name, {}, request.context.signal)).object;
  } catch (error) {
    throw isNotFound(error) ? notFound({ group: '', resource: 'services' }, name) : error;
  }
}

/** A service is connected to through one of its endpoints that is a pod. */
export const checkServiceTarget: CheckTarget = async (request, dependencies) => {
  const { info, signal } = request.context;
  const scope = scopeOf(request);
  const { name, port } = targetOf(info.name, 'service');
  const portName = /^\d+$/.test(port)
    ? portNamed((await request.registry.get(scope, name, {}, signal)).object, Number(port))
    : port;
  const { subsets = [] } = await endpointsOf(name, request, dependencies);
  if (subsets.length === 0) throw noEndpoints(name);
  const pods = registryOf('pods', dependencies);
  for (const { addresses = [], ports = [] } of subsets) {
    if (!ports.some((one) => (one.name ?? '') === portName)) continue;
    for (const address of addresses) if (await isAddressOfPod(address, pods, scope.namespace, signal)) return;
  }
  throw noEndpoints(info.name);
};

function portNamed({ metadata, spec }: Service, number: number): string {
  const found = spec?.ports?.find(({ port }) => port === number);
  if (found !== undefined) return found.name ?? '';
  throw serviceUnavailable(`no service port ${number} found for service ${JSON.stringify(metadata.name)}`);
}

async function isAddressOfPod(
  { ip, targetRef }: EndpointAddress,
  pods: RegistryOperations,
  namespace: string,
  signal: AbortSignal,
): Promise<boolean> {
  if (targetRef?.namespace !== namespace || targetRef.name === undefined) return false;
  try {
    const { object } = await pods.get({ namespace }, targetRef.name, {}, signal);
    return podAddresses(object).includes(ip);
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}

function registryOf(resource: string, { catalogue }: EndpointDependencies): RegistryOperations {
  const registry = catalogue.resolve('', 'v1', resource)?.registry;
  if (registry === undefined) throw new Error(`${resource} are not served`);
  return registry;
}

function noEndpoints(service: string): StatusError {
  return serviceUnavailable(`no endpoints available for service ${JSON.stringify(service)}`);
}

function isNotFound(error: unknown): boolean {
  return error instanceof StatusError && error.status.code === 404;
}
