import { badRequest, notFound, StatusError } from '../../api/errors/status-error';
import type { KubeObject } from '../../api/object';
import type { EndpointDependencies, ResourceRequest } from './endpoint';

interface Container {
  readonly name: string;
}

/** The fields of a pod that say where a stream to it goes. */
interface StreamedPod extends KubeObject {
  readonly spec?: {
    readonly nodeName?: string;
    readonly containers?: readonly Container[];
    readonly initContainers?: readonly Container[];
    readonly ephemeralContainers?: readonly Container[];
  };
}

interface Address {
  readonly type: string;
  readonly address: string;
}

interface Node extends KubeObject {
  readonly status?: { readonly addresses?: readonly Address[] };
}

const HOSTNAME_LABEL = 'kubernetes.io/hostname';
const ADDRESS_TYPES = ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP'];

/**
 * Which container a stream is for: the named one, or the only one. Throws a 400 for one that the pod does not have, and
 * where there are several to choose from.
 */
export function containerOf({ metadata, spec = {} }: StreamedPod, wanted: string): string {
  const { containers = [], initContainers = [], ephemeralContainers = [] } = spec;
  const pod = metadata.name ?? '';
  const [first, second] = containers;
  if (wanted === '' && first !== undefined && second === undefined) return first.name;
  const names = [...initContainers, ...containers, ...ephemeralContainers].map(({ name }) => name);
  if (wanted === '') {
    throw badRequest(`a container name must be specified for pod ${pod}, choose one of: [${names.join(' ')}]`);
  }
  if (!names.includes(wanted)) throw badRequest(`container ${wanted} is not valid for pod ${pod}`);
  return wanted;
}

/** The node that a pod runs on; empty while it has none. */
export function nodeNameOf({ spec }: StreamedPod): string {
  return spec?.nodeName ?? '';
}

async function nodeNamed(
  name: string,
  of: 'pods' | 'nodes',
  { context }: ResourceRequest,
  { catalogue }: EndpointDependencies,
): Promise<Node> {
  const nodes = catalogue.resolve('', 'v1', 'nodes')?.registry;
  if (nodes === undefined) throw new Error('nodes are not served');
  try {
    return (await nodes.get({ namespace: '' }, name, {}, context.signal)).object;
  } catch (error) {
    const isMissing = error instanceof StatusError && error.status.code === 404;
    throw isMissing ? notFound({ group: '', resource: of }, name) : error;
  }
}

/** The address of a node's kubelet. Throws a 404 for a node that is gone, in the words of `of`, a 500 without address. */
export async function kubeletAddress(
  name: string,
  of: 'pods' | 'nodes',
  request: ResourceRequest,
  dependencies: EndpointDependencies,
): Promise<string> {
  const { metadata, status } = await nodeNamed(name, of, request, dependencies);
  const addresses = status?.addresses ?? [];
  for (const type of ADDRESS_TYPES) {
    const found = addresses.find((one) => one.type === type);
    if (found !== undefined) return found.address;
    const label = type === 'Hostname' ? metadata.labels?.[HOSTNAME_LABEL] : undefined;
    if (label) return label;
  }
  const known = addresses.map(({ type, address }) => `{${type} ${address}}`).join(' ');
  throw new StatusError(500, undefined, `no preferred addresses found; known addresses: [${known}]`);
}
