import type { KubeObject } from '../api/object';
import type { Address } from './backend-transport';

/** What is known of the cluster's services; undefined: there is none of that name. */
export interface ServiceLookup {
  readonly getService: (namespace: string, name: string) => KubeObject | undefined;
  readonly getEndpoints: (namespace: string, name: string) => KubeObject | undefined;
}

/** Finds where a service is reached. Throws an Error that says why it is not. */
export type ResolveService = (namespace: string, name: string, port: number) => Address;

interface ServicePort {
  readonly name?: string;
  readonly port?: number;
}

interface ServiceSpec {
  readonly type?: string;
  readonly clusterIP?: string;
  readonly externalName?: string;
  readonly ports?: readonly ServicePort[];
}

interface EndpointSubset {
  readonly addresses?: readonly { readonly ip?: string }[];
  readonly ports?: readonly ServicePort[];
}

const WITH_ADDRESS: ReadonlySet<string> = new Set(['ClusterIP', 'NodePort', 'LoadBalancer']);

function specOf({ getService }: ServiceLookup, namespace: string, name: string): ServiceSpec {
  const service = getService(namespace, name);
  if (service === undefined) throw new Error(`service ${JSON.stringify(name)} not found`);
  return service['spec'] ?? {};
}

function portOf({ ports = [] }: ServiceSpec, name: string, wanted: number): ServicePort {
  const found = ports.find(({ port }) => port === wanted);
  if (found === undefined) throw new Error(`no service port ${wanted} found for service ${JSON.stringify(name)}`);
  return found;
}

/** The address of the service, for the node's proxy to find an endpoint: kube-apiserver's way without flags. */
export function byClusterAddress(lookup: ServiceLookup): ResolveService {
  return (namespace, name, wanted) => {
    const spec = specOf(lookup, namespace, name);
    const { type = 'ClusterIP', clusterIP = '', externalName = '' } = spec;
    if (type === 'ExternalName') return { host: externalName, port: wanted };
    if (!WITH_ADDRESS.has(type)) throw new Error(`unsupported service type ${JSON.stringify(type)}`);
    if (clusterIP === 'None') throw new Error('cannot route to service with ClusterIP "None"');
    const { port = wanted } = portOf(spec, name, wanted);
    return { host: clusterIP, port };
  };
}

/**
 * One of the service's endpoints: `--enable-aggregator-routing`, for a server that no node's proxy routes for. `random`: from 0 on, less
 * than 1.
 */
export function byEndpoint(lookup: ServiceLookup, random: () => number): ResolveService {
  const pick = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)];
  return (namespace, name, wanted) => {
    const spec = specOf(lookup, namespace, name);
    const { type = 'ClusterIP' } = spec;
    const { name: portName = '' } = portOf(spec, name, wanted);
    if (!WITH_ADDRESS.has(type)) throw new Error(`unsupported service type ${JSON.stringify(type)}`);
    const endpoints = lookup.getEndpoints(namespace, name);
    if (endpoints === undefined) throw new Error(`endpoints ${JSON.stringify(name)} not found`);
    const ready = ((endpoints['subsets'] ?? []) as readonly EndpointSubset[]).flatMap(
      ({ addresses = [], ports = [] }) => {
        const port = ports.find((one) => (one.name ?? '') === portName)?.port;
        return port === undefined || addresses.length === 0 ? [] : [{ addresses, port }];
      },
    );
    const subset = pick(ready);
    const host = subset && pick(subset.addresses)?.ip;
    if (subset === undefined || !host) throw new Error(`no endpoints available for service ${JSON.stringify(name)}`);
    return { host, port: subset.port };
  };
}

/** The API server's own service leads to this server itself, whatever the network says. */
export function withOurselves(resolve: ResolveService, ourselves: () => Address): ResolveService {
  return (namespace, name, port) => (isOurselves(namespace, name, port) ? ourselves() : resolve(namespace, name, port));
}

export function isOurselves(namespace: string, name: string, port: number): boolean {
  return namespace === 'default' && name === 'kubernetes' && port === 443;
}
