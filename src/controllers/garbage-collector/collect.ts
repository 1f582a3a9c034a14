import type { KubeObject, OwnerReference } from '../../api/object';
import { FOREGROUND_FINALIZER, ORPHAN_FINALIZER } from '../../api/validation/object-meta';
import type { OwnerGraph } from './graph';
import type { LiveObjects } from './live-objects';
import { NamespacedOwnerError } from './live-objects';
import type { GraphNode, Identity } from './node';

/** An object's references, by what the server says of the owners. */
interface Classified {
  /** They keep the object. */
  readonly solid: readonly OwnerReference[];
  /** They are not there. */
  readonly dangling: readonly OwnerReference[];
  /** They are being deleted and wait for the object to go first. */
  readonly waiting: readonly OwnerReference[];
}

/** What the collector knows and whom it may ask. */
export interface CollectorParts {
  readonly graph: OwnerGraph;
  readonly live: LiveObjects;
  /** Looks at the object again now. */
  readonly again: (node: GraphNode) => void;
}

/**
 * Deletes an object that no owner keeps, takes references to owners that are gone from one that others keep, and lets an
 * owner go whose dependents are gone. Everything is asked of the server before it is done.
 */
export async function attemptToDelete(node: GraphNode, parts: CollectorParts): Promise<void> {
  const { graph, live } = parts;
  if (node.beingDeleted && !node.deletingDependents) return;
  if (node.observed && node.owners.length === 0 && !node.deletingDependents) return;
  settleScope(node, live);
  const { identity } = node;
  const latest = await live.get(identity);
  if (latest === undefined || latest.metadata.uid !== identity.uid) return graph.verifiedAbsent(identity);
  if (node.deletingDependents) return continueForegroundDeletion(node, parts);
  const references = latest.metadata.ownerReferences ?? [];
  if (references.length === 0) return;
  const { solid, dangling, waiting } = await classify(references, identity, parts);
  if (solid.length > 0) {
    const superfluous = new Set([...dangling, ...waiting].map(({ uid }) => uid));
    if (superfluous.size > 0) await removeReferences(identity, superfluous, live);
    return;
  }
  if (waiting.length > 0 && node.dependents.size > 0) {
    if ([...node.dependents].some(({ deletingDependents }) => deletingDependents)) {
      // A circle: it could wait for itself.
      await unblockOwners(identity, live);
    }
    return live.delete(identity, latest.metadata, 'Foreground');
  }
  return live.delete(identity, latest.metadata, policyOf(latest));
}

/** Lets the dependents of an object go that is deleted without them, and then the object. */
export async function attemptToOrphan(node: GraphNode, { live }: CollectorParts): Promise<void> {
  const owner = new Set([node.uid]);
  const dependents = [...node.dependents].values();
  const letGo = async (): Promise<void> => {
    for (const { identity } of dependents) await removeReferences(identity, owner, live);
  };
  const ends = await Promise.allSettled(Array.from({ length: ORPHANS_AT_ONCE }, letGo));
  const failure = ends.find((end) => end.status === 'rejected');
  if (failure !== undefined) throw failure.reason;
  await removeFinalizer(node.identity, ORPHAN_FINALIZER, live);
}

/** Of one owner: there may be thousands. */
const ORPHANS_AT_ONCE = 8;

/** A virtual node has the namespace of the dependent that named it first; what it is may have none. */
function settleScope(node: GraphNode, live: LiveObjects): void {
  const { identity } = node;
  if (node.observed || identity.namespace === undefined || live.resourceOf(identity).namespaced) return;
  node.identity = { ...identity, namespace: undefined };
}

async function continueForegroundDeletion(node: GraphNode, { live, again }: CollectorParts): Promise<void> {
  if (!node.isBlocked) return removeFinalizer(node.identity, FOREGROUND_FINALIZER, live);
  for (const dependent of node.blockingDependents()) if (!dependent.beingDeleted) again(dependent);
}

async function classify(
  references: readonly OwnerReference[],
  dependent: Identity,
  parts: CollectorParts,
): Promise<Classified> {
  const solid: OwnerReference[] = [];
  const dangling: OwnerReference[] = [];
  const waiting: OwnerReference[] = [];
  for (const reference of references) {
    const owner = await ownerOf(reference, dependent, parts);
    if (owner === undefined) dangling.push(reference);
    else if (waitsForDependents(owner)) waiting.push(reference);
    else solid.push(reference);
  }
  return { solid, dangling, waiting };
}

/** Undefined when it is not there. Throws when that cannot be known. */
async function ownerOf(
  { apiVersion, kind, name, uid }: OwnerReference,
  dependent: Identity,
  { graph, live }: CollectorParts,
): Promise<KubeObject | undefined> {
  const { namespaced } = live.resourceOf({ apiVersion, kind });
  if (namespaced && dependent.namespace === undefined) throw new NamespacedOwnerError();
  const identity = { apiVersion, kind, name, uid, namespace: namespaced ? dependent.namespace : undefined };
  if (graph.absentOwners.has(identity)) return undefined;
  const owner = await live.get(identity);
  if (owner !== undefined && owner.metadata.uid === uid) return owner;
  graph.absentOwners.add(identity);
  return undefined;
}

function waitsForDependents({ metadata: { deletionTimestamp, finalizers = [] } }: KubeObject): boolean {
  return deletionTimestamp != null && finalizers.includes(FOREGROUND_FINALIZER);
}

/** What the object's own deletion does to its dependents, where its finalizers say so. */
function policyOf({ metadata: { finalizers = [] } }: KubeObject): 'Orphan' | 'Foreground' | 'Background' {
  if (finalizers.includes(ORPHAN_FINALIZER)) return 'Orphan';
  return finalizers.includes(FOREGROUND_FINALIZER) ? 'Foreground' : 'Background';
}

function removeReferences(identity: Identity, owners: ReadonlySet<string>, live: LiveObjects): Promise<void> {
  return live.changeMetadata(identity, ({ ownerReferences = [] }) => {
    const rest = ownerReferences.filter(({ uid }) => !owners.has(uid));
    return rest.length === ownerReferences.length ? undefined : { ownerReferences: rest };
  });
}

function unblockOwners(identity: Identity, live: LiveObjects): Promise<void> {
  return live.changeMetadata(identity, ({ ownerReferences = [] }) =>
    ownerReferences.some(({ blockOwnerDeletion }) => blockOwnerDeletion === true)
      ? { ownerReferences: ownerReferences.map((reference) => ({ ...reference, blockOwnerDeletion: false })) }
      : undefined,
  );
}

function removeFinalizer(identity: Identity, finalizer: string, live: LiveObjects): Promise<void> {
  return live.changeMetadata(identity, ({ finalizers = [] }) =>
    finalizers.includes(finalizer) ? { finalizers: finalizers.filter((one) => one !== finalizer) } : undefined,
  );
}
