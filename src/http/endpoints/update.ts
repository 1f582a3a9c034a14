import type { KubeObject } from '../../api/object';
import type { Endpoint } from '../dependencies';
import { withoutDuplicateOwners } from '../owner-references';
import { entryReply } from '../reply';
import { managerName, parseWriteOptions } from '../write-options';
import { changeObject } from './change';
import { checkName, decodeObjectOf } from './decode-request';

/** Replaces an object, or its part that a subresource writes. */
export const updateObject: Endpoint = async (request, dependencies) => {
  const { context, served } = request;
  const { info } = context;
  const { object, options } = await decodeObjectOf(request, dependencies, () =>
    parseWriteOptions(info.query, 'UpdateOptions'),
  );
  const namespace = served.definition.namespaced ? info.namespace : '';
  checkName(object, info.name, namespace);
  const placed = withoutDuplicateOwners(inNamespace(object, namespace), 'sent', context);
  const manager = managerName(options, context.request.headers['user-agent']);
  const { uid, resourceVersion } = object.metadata;
  const { entry, created } = await changeObject(request, dependencies, options, {
    compute: (live) => dependencies.fieldOwnership?.trackUpdate({ served, live, updated: placed, manager }) ?? placed,
    // The resourceVersion is compared by the registry: an old one is a conflict in words of its own.
    preconditions: uid ? { uid } : {},
    retryOnConflict: !resourceVersion,
  });
  return entryReply(created ? 201 : 200, entry, served);
};

/** `namespace` is empty for cluster-scoped objects: they have none, whatever the body says. */
function inNamespace(object: KubeObject, namespace: string): KubeObject {
  const { metadata } = object;
  if (metadata.namespace === (namespace === '' ? undefined : namespace)) return object;
  const { namespace: _sent, ...rest } = metadata;
  return { ...object, metadata: namespace === '' ? rest : { ...rest, namespace } };
}
