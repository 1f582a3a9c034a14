import type { GroupVersionKind, KubeObject } from '../../api/object';
import type { StructType } from '../../api/schema/model';
import type { EndpointDependencies, ResourceRequest } from './endpoint';
import type { ServedResource } from '../../resources/served-resource';
import { managerName, parseWriteOptions, type WriteOptions } from '../request/write-options';
import { admissionHooks } from './admission-hooks';
import { decodeAs } from './decode-request';

/** The kind on the wire of a posted object that is answered and not kept. */
export interface PostedKind {
  readonly kind: GroupVersionKind;
  readonly type: StructType;
}

/**
 * Reads a posted object that is answered and not kept (reviews, token requests): decoded, its fields' owner written
 * down, and admitted, as any created object is.
 */
export async function decodePosted(
  request: ResourceRequest,
  dependencies: EndpointDependencies,
  { kind, type }: PostedKind,
): Promise<KubeObject> {
  const { object: sent, options } = await decodeAs(request, dependencies, { kind, type }, () =>
    parseWriteOptions(request.context.info.query, 'CreateOptions'),
  );
  const owned = ownedByPoster(request, dependencies, { kind, type }, sent, options);
  const admission = admissionHooks(request, dependencies, options.object, options.dryRun);
  const admitted = await admission.mutate('CREATE', owned, undefined);
  await admission.validate('CREATE', admitted, undefined);
  return admitted;
}

/** What was posted, with the owner of its fields. */
export function ownedByPoster(
  { context, served }: ResourceRequest,
  { fieldOwnership }: Pick<EndpointDependencies, 'fieldOwnership'>,
  posted: PostedKind,
  sent: KubeObject,
  options: WriteOptions,
): KubeObject {
  const manager = managerName(options, context.request.headers['user-agent']);
  const as = { ...served, ...ownedAs(served, posted) };
  return fieldOwnership?.trackUpdate({ served: as, live: undefined, updated: sent, manager }) ?? sent;
}

/** For a subresource's kind: the owner of its fields is recorded in its own version. */
function ownedAs({ definition }: ServedResource, { kind, type }: PostedKind): Partial<ServedResource> {
  if (definition.kind === kind.kind) return {};
  return {
    type,
    version: { group: kind.group, version: kind.version },
    definition: { ...definition, kind: kind.kind, versions: [] },
  };
}

/** A review as it is answered: it was never created, and says so. */
export function reviewResponse(object: KubeObject, fields: Readonly<Record<string, unknown>>): KubeObject {
  return { ...object, metadata: { ...object.metadata, creationTimestamp: null }, ...fields };
}
