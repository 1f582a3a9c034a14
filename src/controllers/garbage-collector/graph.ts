import { isDeepStrictEqual } from 'node:util';
import type { ObjectMeta, OwnerReference } from '../../api/object';
import { FOREGROUND_FINALIZER, ORPHAN_FINALIZER } from '../../api/validation/object-meta';
import { AbsentOwners } from './absent-owners';
import { GraphNode, identityKey, partitionDependents, refersTo, type Identity } from './node';

/** What has to be looked at because the graph has changed. */
export interface GraphTasks {
  /** Whether the object has to go, or may go on going. */
  readonly attemptToDelete: (node: GraphNode) => void;
  /** The same after a while: this has been asked for before. */
  readonly attemptToDeleteLater: (node: GraphNode) => void;
  readonly attemptToOrphan: (node: GraphNode) => void;
  /** The reference names an owner in another namespace. */
  readonly foreignOwner: (dependent: GraphNode, ownerUid: string) => void;
}

/**
 * Who owns whom, by UID, of everything that informers have told and that owner references name. Changes are made at
 * once and say what has to be looked at; nothing here is believed when an object is to be deleted.
 */
export class OwnerGraph {
  readonly #nodes = new Map<string, GraphNode>();
  readonly absentOwners = new AbsentOwners();

  constructor(private readonly tasks: GraphTasks) {}

  get(uid: string): GraphNode | undefined {
    return this.#nodes.get(uid);
  }

  get size(): number {
    return this.#nodes.size;
  }

  /** An informer has told of the object. */
  changed(identity: Identity, metadata: ObjectMeta): void {
    const found = this.#nodes.get(identity.uid);
    const node = found ?? new GraphNode(identity, true);
    if (found === undefined) this.#nodes.set(identity.uid, node);
    else if (!found.observed) this.#observe(found, identity);
    this.#changeOwners(node, metadata.ownerReferences ?? []);
    this.#changeState(node, metadata);
  }

  /** An informer has told that the object is gone. */
  deleted(identity: Identity): void {
    const node = this.#nodes.get(identity.uid);
    if (node === undefined) return;
    if (!node.observed) this.#observe(node, identity);
    this.#remove(node, identity);
  }

  /**
   * The server was asked for the object and has none like it. Who is known by another identity, or may have one, stays
   * in the graph: only those that named this one as their owner have to be looked at.
   */
  verifiedAbsent(identity: Identity): void {
    const node = this.#nodes.get(identity.uid);
    if (node === undefined) return;
    const isSame = identityKey(node.identity) === identityKey(identity);
    const { matching, others } = partitionDependents(node.dependents, identity);
    const goes = node.observed ? isSame : others.length === 0;
    if (goes) return this.#remove(node, identity);
    if (matching.length > 0) {
      this.absentOwners.add(identity);
      for (const dependent of matching) this.tasks.attemptToDelete(dependent);
    }
    if (node.observed || !isSame) return;
    const next = nextIdentity(others, identity);
    if (next === undefined) return;
    node.identity = next;
    this.tasks.attemptToDeleteLater(node);
  }

  /** A virtual node turns out to be this object. */
  #observe(node: GraphNode, identity: Identity): void {
    node.observed = true;
    if (identityKey(node.identity) === identityKey(identity)) return;
    for (const dependent of partitionDependents(node.dependents, identity).others) {
      if (identity.namespace !== undefined && dependent.identity.namespace !== identity.namespace) {
        this.tasks.foreignOwner(dependent, identity.uid);
      }
      this.tasks.attemptToDelete(dependent);
    }
    node.identity = identity;
  }

  #changeOwners(node: GraphNode, references: readonly OwnerReference[]): void {
    const before = node.owners;
    if (before === references || isDeepStrictEqual(before, references)) return;
    node.owners = references;
    for (const old of before) {
      const now = references.find(({ uid }) => uid === old.uid);
      const owner = this.#nodes.get(old.uid);
      if (now === undefined) {
        owner?.removeDependent(node);
        if (owner?.observed === false && owner.dependents.size === 0) this.#nodes.delete(owner.uid);
      }
      // What it held back may go on.
      const unblocks = old.blockOwnerDeletion === true && now?.blockOwnerDeletion !== true;
      if (unblocks && owner?.deletingDependents === true) this.tasks.attemptToDelete(owner);
    }
    const added = references.filter((reference) => !before.some(({ uid }) => uid === reference.uid));
    if (this.#addToOwners(node, added)) this.tasks.attemptToDelete(node);
  }

  /** True when the dependent has to be looked at: its owner waits for it, or is not what the reference says. */
  #addToOwners(node: GraphNode, references: readonly OwnerReference[]): boolean {
    let mayHaveToGo = false;
    for (const reference of references) {
      const owner = this.#nodes.get(reference.uid);
      if (owner === undefined) this.#addVirtual(node, reference);
      else {
        owner.addDependent(node);
        // It came when the others had been looked at.
        if (owner.deletingDependents) mayHaveToGo = true;
        const { namespace } = owner.identity;
        if (namespace !== undefined && namespace !== node.identity.namespace) {
          if (owner.observed) this.tasks.foreignOwner(node, reference.uid);
          mayHaveToGo = true;
        } else if (!refersTo(reference, owner.identity)) mayHaveToGo = true;
      }
    }
    return mayHaveToGo;
  }

  #addVirtual(dependent: GraphNode, { apiVersion, kind, name, uid }: OwnerReference): void {
    const owner = new GraphNode({ apiVersion, kind, name, uid, namespace: dependent.identity.namespace }, false);
    owner.addDependent(dependent);
    this.#nodes.set(uid, owner);
    this.tasks.attemptToDelete(owner);
  }

  #changeState(node: GraphNode, { deletionTimestamp, finalizers = [] }: ObjectMeta): void {
    const going = deletionTimestamp != null;
    const deletingDependents = going && finalizers.includes(FOREGROUND_FINALIZER);
    const orphaning = going && finalizers.includes(ORPHAN_FINALIZER);
    const beginsToDelete = deletingDependents && !node.deletingDependents;
    const beginsToOrphan = orphaning && !node.orphaning;
    node.beingDeleted = going;
    node.deletingDependents = deletingDependents;
    node.orphaning = orphaning;
    if (beginsToOrphan) this.tasks.attemptToOrphan(node);
    if (!beginsToDelete) return;
    for (const dependent of node.dependents) this.tasks.attemptToDelete(dependent);
    this.tasks.attemptToDelete(node);
  }

  #remove(node: GraphNode, identity: Identity): void {
    this.#nodes.delete(node.uid);
    for (const { uid } of node.owners) {
      const owner = this.#nodes.get(uid);
      owner?.removeDependent(node);
      if (owner?.deletingDependents === true && !owner.isBlocked) this.tasks.attemptToDelete(owner);
      if (owner?.observed === false && owner.dependents.size === 0) this.#nodes.delete(uid);
    }
    if (node.dependents.size > 0) this.absentOwners.add(identity);
    for (const dependent of node.dependents) this.tasks.attemptToDelete(dependent);
  }
}

/** Another identity by which dependents know the UID: the one after this in their order, so that each has its turn. */
function nextIdentity(dependents: readonly GraphNode[], absent: Identity): Identity | undefined {
  const candidates = new Map<string, Identity>();
  for (const { owners, identity } of dependents) {
    for (const { apiVersion, kind, name, uid } of owners) {
      if (uid !== absent.uid) continue;
      const candidate = { apiVersion, kind, name, uid, namespace: identity.namespace };
      candidates.set(identityKey(candidate), candidate);
    }
  }
  const absentKey = identityKey(absent);
  candidates.delete(absentKey);
  const keys = [...candidates.keys()].sort();
  return candidates.get(keys.find((key) => key > absentKey) ?? keys[0] ?? '');
}
