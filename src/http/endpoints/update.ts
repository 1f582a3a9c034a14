import type { KubeObject } from '../../api/object';
import { checkIdentity, placedInScope } from '../../registry/identity';
import type { Endpoint, EndpointDependencies, ResourceRequest } from './endpoint';
import { withoutDuplicateOwners } from './owner-references';
import { entryResponse, type ApiResponse } from '../response/api-response';
import { managerName, parseWriteOptions, type WriteOptions } from '../request/write-options';
import { changeObject } from './change';
import { decodeObjectOf } from './decode-request';
import { scopeOf } from './resource-request';
import { trackOwners } from './track-owners';

/** Replaces an object, or its part that a subresource writes. */
export const updateObject: Endpoint = async (request, dependencies) => {
  const { object, options } = await decodeObjectOf(request, dependencies, () =>
    parseWriteOptions(request.context.info.query, 'UpdateOptions'),
  );
  return replaceObject(request, dependencies, object, options);
};

/** The same for an object that has been read and has its defaults. */
export async function replaceObject(
  request: ResourceRequest,
  dependencies: EndpointDependencies,
  object: KubeObject,
  options: WriteOptions,
): Promise<ApiResponse> {
  const { context, served } = request;
  const { info } = context;
  const scope = scopeOf(request);
  checkIdentity(scope, info.name, object);
  // Another namespace is refused before admission, which sees the object as it was sent.
  placedInScope(served.definition, scope, object);
  const unique = withoutDuplicateOwners(object, 'sent', context);
  const sent = unique instanceof Promise ? await unique : unique;
  const manager = managerName(options, context.request.headers['user-agent']);
  const { uid, resourceVersion } = object.metadata;
  const { entry, created } = await changeObject(request, dependencies, options, {
    compute: (live) => trackOwners(request, dependencies, live, sent, manager),
    // The resourceVersion is compared by the registry: an old one is a conflict in words of its own.
    preconditions: uid ? { uid } : {},
    retryOnConflict: !resourceVersion,
  });
  return entryResponse(created ? 201 : 200, entry, served);
}
