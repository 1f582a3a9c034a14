import { isIP } from 'node:net';
import { badRequest, notFound, serviceUnavailable, StatusError } from '../../api/errors/status-error';
import type { KubeObject } from '../../api/object';
import type { Backend } from '../../kubelet/backend';
import { ADDRESS_NOT_ALLOWED, isProxyableAddress } from '../../kubelet/proxyable-address';
import type { RegistryOperations } from '../../resources/served-resource';
import type { RequestContext } from '../request/context';
import type { EndpointDependencies, ResourceRequest } from './endpoint';
import { kubeletOf } from './pod-container';
import { readObject } from './read-object';
import { scopeOf } from './resource-request';

/** Finds what a proxy request names. Throws 400, 404, 500 and 503. */
export type FindTarget = (request: ResourceRequest, dependencies: EndpointDependencies) => Promise<Backend>;

interface Target {
  readonly scheme: 'http' | 'https';
  readonly name: string;
  /** A number, or the name of a service's port; empty: the only one. */
  readonly port: string;
}

interface Pod extends KubeObject {
  readonly spec?: {
    readonly containers?: readonly { readonly ports?: readonly { readonly containerPort?: number }[] }[];
  };
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
    readonly ports?: readonly { readonly name?: string; readonly port?: number }[];
  }[];
}

const SCHEMES = ['', 'http', 'https'];

/** `name`, `name:port` or `scheme:name:port`. */
function targetOf(id: string, what: string): Target {
  const parts = id.split(':');
  const [scheme = '', name = '', port = ''] = parts.length < 3 ? ['', ...parts] : parts;
  if (parts.length > 3 || name === '' || !SCHEMES.includes(scheme)) {
    throw badRequest(`invalid ${what} request ${JSON.stringify(id)}`);
  }
  return { scheme: scheme === 'https' ? 'https' : 'http', name, port };
}

/** Of pods, services and nodes' own ports: there is no identity to expect there. */
function backendAt(scheme: 'http' | 'https', host: string, port: string): Backend {
  if (isIP(host) !== 0 && !isProxyableAddress(host)) throw badRequest(ADDRESS_NOT_ALLOWED);
  return { scheme, host, port: portNumber(port) ?? DEFAULT_PORTS[scheme], trust: 'anybody' };
}

const DEFAULT_PORTS = { http: 80, https: 443 };
const MAX_PORT = 65_535;

/** Undefined without one. */
function portNumber(port: string): number | undefined {
  if (port === '') return undefined;
  const number = /^\d{1,5}$/.test(port) ? Number(port) : -1;
  if (number < 0 || number > MAX_PORT) {
    throw new StatusError(500, undefined, `error trying to reach service: dial tcp: address ${port}: invalid port`);
  }
  return number;
}

export const findPodTarget: FindTarget = async (request) => {
  const { context } = request;
  const { scheme, name, port } = targetOf(context.info.name, 'pod');
  const object = await readObject(request.registry, scopeOf(request), name, context);
  const address = podAddresses(object)[0] ?? '';
  if (!isProxyableAddress(address)) throw badRequest(ADDRESS_NOT_ALLOWED);
  return backendAt(scheme, address, port === '' ? firstPortOf(object) : port);
};

/** Empty without any. */
function firstPortOf({ spec }: Pod): string {
  const first = spec?.containers?.find(({ ports = [] }) => ports.length > 0)?.ports?.[0]?.containerPort;
  return first === undefined ? '' : String(first);
}

function podAddresses({ status = {} }: Pod): readonly string[] {
  const { podIPs = [], podIP } = status;
  const addresses = podIPs.map(({ ip = '' }) => ip);
  return addresses.length > 0 || podIP === undefined ? addresses : [podIP];
}

export const findNodeTarget: FindTarget = async (request, dependencies) => {
  const { scheme, name, port } = targetOf(request.context.info.name, 'node');
  const kubelet = await kubeletOf(name, 'nodes', request, dependencies);
  // The kubelet itself is reached wherever it is: a cluster on one machine has it on loopback.
  if (port === '' || port === String(kubelet.port)) return kubelet;
  return backendAt(scheme, kubelet.host, port);
};

/** A service without endpoints is not there, as far as a client of the proxy is concerned. */
async function endpointsOf(
  name: string,
  request: ResourceRequest,
  dependencies: EndpointDependencies,
): Promise<Endpoints> {
  try {
    const registry = registryOf('endpoints', dependencies);
    return await readObject(registry, scopeOf(request), name, request.context);
  } catch (error) {
    throw isNotFound(error) ? notFound({ group: '', resource: 'services' }, name) : error;
  }
}

/** A service is connected to through one of its endpoints that is a pod. */
export const findServiceTarget: FindTarget = async (request, dependencies) => {
  const { context } = request;
  const { info } = context;
  const scope = scopeOf(request);
  const { scheme, name, port } = targetOf(info.name, 'service');
  const portName = /^\d+$/.test(port)
    ? portNamed(await readObject(request.registry, scope, name, context), Number(port))
    : port;
  const { subsets = [] } = await endpointsOf(name, request, dependencies);
  if (subsets.length === 0) throw noEndpoints(name);
  const pods = registryOf('pods', dependencies);
  for (const { addresses = [], ports = [] } of fromAnywhere(subsets)) {
    const found = ports.find((one) => (one.name ?? '') === portName);
    if (found === undefined) continue;
    for (const address of fromAnywhere(addresses)) {
      if (!(await isAddressOfPod(address, pods, scope.namespace, context))) continue;
      return backendAt(scheme, address.ip, String(found.port ?? ''));
    }
  }
  throw noEndpoints(info.name);
};

/** All elements, beginning with any one, so that endpoints are asked in turns. */
function fromAnywhere<Element>(elements: readonly Element[]): readonly Element[] {
  const start = Math.floor(Math.random() * elements.length);
  return [...elements.slice(start), ...elements.slice(0, start)];
}

function portNamed({ metadata, spec }: Service, number: number): string {
  const found = spec?.ports?.find(({ port }) => port === number);
  if (found !== undefined) return found.name ?? '';
  throw serviceUnavailable(`no service port ${number} found for service ${JSON.stringify(metadata.name)}`);
}

async function isAddressOfPod(
  { ip, targetRef }: EndpointAddress,
  pods: RegistryOperations,
  namespace: string,
  context: RequestContext,
): Promise<boolean> {
  if (targetRef?.namespace !== namespace || targetRef.name === undefined) return false;
  try {
    const pod = await readObject(pods, { namespace }, targetRef.name, context);
    return podAddresses(pod).includes(ip);
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
