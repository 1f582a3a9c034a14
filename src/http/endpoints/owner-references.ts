import type { MaybePromise } from '../../api/maybe-promise';
import type { JsonValue, KubeObject, OwnerReference } from '../../api/object';
import { atOnce, type Steps } from '../../api/parts';
import { sortedJson } from '../../api/sorted-json';
import type { RequestContext } from '../request/context';

/** When the same owner was found twice: in what the client sent, or in what mutating admission made of it. */
export type DuplicatesFound = 'sent' | 'admitted';

type OwnersContext = Pick<RequestContext, 'warn' | 'givesWay' | 'takeSteps'>;

const WHERE: Readonly<Record<DuplicatesFound, string>> = {
  sent: 'contains duplicate entries',
  admitted: 'contains duplicate entries after mutating admission happens',
};

/**
 * The object with each of its owners once, and a Warning about the others: whole entries are compared, so that two which
 * share a uid only are left for validation and the garbage collector. Of a large object in turns with others.
 */
export function withoutDuplicateOwners(
  object: KubeObject,
  found: DuplicatesFound,
  context: OwnersContext,
): MaybePromise<KubeObject> {
  const { ownerReferences } = object.metadata;
  if (ownerReferences === undefined || ownerReferences === null || ownerReferences.length < 2) return object;
  const steps = ownersOnce(object, ownerReferences, found, context);
  return context.givesWay ? context.takeSteps(steps) : atOnce(steps);
}

function* ownersOnce(
  object: KubeObject,
  owners: readonly OwnerReference[],
  found: DuplicatesFound,
  context: OwnersContext,
): Steps<KubeObject> {
  const kept: OwnerReference[] = [];
  const duplicates: string[] = [];
  const seen = new Set<string>();
  for (const owner of owners) {
    const text = sortedJson(owner as unknown as JsonValue);
    if (seen.has(text)) duplicates.push(owner.uid);
    else kept.push(owner);
    seen.add(text);
    yield;
  }
  if (duplicates.length === 0) return object;
  context.warn(
    `.metadata.ownerReferences ${WHERE[found]}; API server dedups owner references in 1.20+, and may reject such ` +
      `requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${duplicates.join(', ')}`,
  );
  return { ...object, metadata: { ...object.metadata, ownerReferences: kept } };
}
