import type { KubeObject } from '../../api/object';
import type { EphemeralContainer, PodSpec } from '../../api/schema/generated/core-v1';
import { checkIdentity } from '../../registry/identity';
import { MAX_BODY_BYTES } from '../request/body';
import type { Endpoint, EndpointDependencies, ResourceRequest } from './endpoint';
import { entryResponse, type ApiResponse } from '../response/api-response';
import { managerName, parseWriteOptions, type WriteOptions } from '../request/write-options';
import { changeObject } from './change';
import { decodeAs } from './decode-request';
import { kindOf, scopeOf } from './resource-request';
import { trackOwners } from './track-owners';
import { replaceObject } from './update';

const LIST_KIND = { group: '', version: 'v1', kind: 'EphemeralContainers' } as const;

type Pod = KubeObject & { readonly spec?: PodSpec };
type ContainerList = KubeObject & { readonly ephemeralContainers?: readonly EphemeralContainer[] };

/** Adds containers to a running pod. Clients before 1.22 send them as a list of a kind of its own, all others the pod. */
export const updateEphemeralContainers: Endpoint = async (request, dependencies) => {
  const { type, definition } = request.served;
  const listType = dependencies.catalogue.schema.kind(LIST_KIND.group, LIST_KIND.version, LIST_KIND.kind);
  const alternatives = listType === undefined ? [] : [{ kind: LIST_KIND, type: listType }];
  const expected = { kind: kindOf(request), type, alternatives };
  const parseOptions = () => parseWriteOptions(request.context.info.query, 'UpdateOptions');
  const { object, options } = await decodeAs(request, dependencies, expected, parseOptions, MAX_BODY_BYTES);
  if (object.kind === LIST_KIND.kind) return addListed(request, dependencies, object, options);
  const pod = definition.applyDefaults?.(object, LIST_KIND.version) ?? object;
  return replaceObject(request, dependencies, pod, options);
};

/**
 * The pod with what the list has. What a GET answers, a pod, is no such list to these clients: theirs comes without the
 * containers that the pod has already, and without a name.
 */
async function addListed(
  request: ResourceRequest,
  dependencies: EndpointDependencies,
  list: ContainerList,
  options: WriteOptions,
): Promise<ApiResponse> {
  const { context, served } = request;
  const { ephemeralContainers: sent = [], metadata } = list;
  if (metadata.name) checkIdentity(scopeOf(request), context.info.name, list);
  const manager = managerName(options, context.request.headers['user-agent']);
  const { entry } = await changeObject(request, dependencies, options, {
    compute: (live) => {
      const pod: Pod = withContainers(live ?? { metadata }, sent, metadata.resourceVersion);
      const updated = served.definition.applyDefaults?.(pod, LIST_KIND.version) ?? pod;
      return trackOwners(request, dependencies, live, updated, manager);
    },
    preconditions: metadata.uid ? { uid: metadata.uid } : {},
    retryOnConflict: !metadata.resourceVersion,
  });
  return entryResponse(200, entry, served);
}

function withContainers(pod: Pod, sent: readonly EphemeralContainer[], resourceVersion: string | undefined): Pod {
  const named = new Set(sent.map(({ name }) => name));
  const kept = (pod.spec?.ephemeralContainers ?? []).filter(({ name }) => !named.has(name));
  return {
    ...pod,
    metadata: resourceVersion ? { ...pod.metadata, resourceVersion } : pod.metadata,
    spec: { ...pod.spec, ephemeralContainers: [...kept, ...sent] },
  };
}
