import type { KindDefinition } from '../../api/kinds/kind-definition';
import type { KubeObject } from '../../api/object';
import type { Endpoint } from './endpoint';
import { parseDeleteOptions } from '../request/delete-options';
import { entryResponse, statusResponse } from '../response/api-response';
import { admissionHooks } from './admission-hooks';
import { operationOf, scopeOf } from './resource-request';

/**
 * Deletes an object. Answers what is left of it while finalizers or a grace period hold it, otherwise a Status that names what
 * has gone; some kinds have one answer for both.
 */
export const deleteObject: Endpoint = async (request, dependencies) => {
  const { context, served } = request;
  const { definition } = served;
  const { options, dryRun, object } = await parseDeleteOptions(context, dependencies.catalogue.schema);
  const admission = admissionHooks(request, dependencies, object, dryRun);
  const { gone, entry } = await request.registry.delete(
    scopeOf(request),
    context.info.name,
    options,
    { admit: async (current) => (isNamespaceGoing(definition, current) ? undefined : admission.delete(current)) },
    operationOf(request, dryRun),
  );
  if (definition.deleteReturnsObject ?? !gone) return entryResponse(200, entry, served);
  const { group } = served.version;
  const { uid } = entry.object.metadata;
  return statusResponse(200, {
    status: 'Success',
    details: {
      name: entry.name,
      ...(group === '' ? {} : { group }),
      kind: definition.resource,
      ...(uid === undefined ? {} : { uid }),
    },
  });
};

/** A namespace that waits for its contents to go is answered as it stands: nothing is left to decide. */
function isNamespaceGoing({ storage, resource }: KindDefinition, { metadata, spec }: KubeObject): boolean {
  if (storage.group !== '' || resource !== 'namespaces' || !metadata.deletionTimestamp) return false;
  const { finalizers = [] } = (spec ?? {}) as { readonly finalizers?: readonly string[] };
  return finalizers.length > 0;
}
