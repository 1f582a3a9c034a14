import { badRequest, notFound, StatusError } from '../../api/errors/status-error';
import type { KubeObject } from '../../api/object';
import type { Backend } from '../../kubelet/backend';
import type { EndpointDependencies, ResourceRequest } from './endpoint';
import { readObject } from './read-object';

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
): Promise<KubeObject> {
  const nodes = catalogue.resolve('', 'v1', 'nodes')?.registry;
  if (nodes === undefined) throw new Error('nodes are not served');
  try {
    return await readObject(nodes, { namespace: '' }, name, context);
  } catch (error) {
    const isMissing = error instanceof StatusError && error.status.code === 404;
    throw isMissing ? notFound({ group: '', resource: of }, name) : error;
  }
}

/** The kubelet of a node. Throws a 404 for a node that is gone, in the words of `of`, a 500 without address. */
export async function kubeletOf(
  name: string,
  of: 'pods' | 'nodes',
  request: ResourceRequest,
  dependencies: EndpointDependencies,
): Promise<Backend> {
  const node = await nodeNamed(name, of, request, dependencies);
  return dependencies.backends.kubeletOf(node);
}
