import type { OwnerReference } from '../../api/object';

/** Which object is meant. An owner reference says all but the namespace, which is its dependent's or none. */
export interface Identity {
  readonly apiVersion: string;
  readonly kind: string;
  /** Undefined for what is in no namespace. */
  readonly namespace: string | undefined;
  readonly name: string;
  readonly uid: string;
}

const NONE: ReadonlySet<GraphNode> = new Set();

/** An object in the graph of owners, or one that is only known as the owner of others: a virtual one. */
export class GraphNode {
  owners: readonly OwnerReference[] = [];
  beingDeleted = false;
  /** It waits for its dependents to be deleted: foreground deletion. */
  deletingDependents = false;
  /** It waits for its dependents to be let go. */
  orphaning = false;
  #dependents: Set<GraphNode> | undefined;

  constructor(
    public identity: Identity,
    /** An informer has told of it: its identity is certain. */
    public observed: boolean,
  ) {}

  get uid(): string {
    return this.identity.uid;
  }

  get dependents(): ReadonlySet<GraphNode> {
    return this.#dependents ?? NONE;
  }

  addDependent(node: GraphNode): void {
    (this.#dependents ??= new Set()).add(node);
  }

  removeDependent(node: GraphNode): void {
    this.#dependents?.delete(node);
    if (this.#dependents?.size === 0) this.#dependents = undefined;
  }

  /** The dependents that hold it back in a foreground deletion. */
  *blockingDependents(): Generator<GraphNode> {
    for (const dependent of this.dependents) {
      if (dependent.owners.some(({ uid, blockOwnerDeletion }) => uid === this.uid && blockOwnerDeletion === true)) {
        yield dependent;
      }
    }
  }

  get isBlocked(): boolean {
    return this.blockingDependents().next().done !== true;
  }
}

/** Whether the reference means this object, its namespace aside. */
export function refersTo(
  { apiVersion, kind, name, uid }: Pick<OwnerReference, 'apiVersion' | 'kind' | 'name' | 'uid'>,
  identity: Identity,
): boolean {
  return uid === identity.uid && name === identity.name && kind === identity.kind && apiVersion === identity.apiVersion;
}

export function identityKey({ apiVersion, kind, namespace = '', name, uid }: Identity): string {
  return `${uid} ${apiVersion} ${kind} ${namespace} ${name}`;
}

/**
 * Those that refer to their owner by this identity, and those that refer to the same UID by another: a node whose
 * references contradict each other is among both.
 */
export function partitionDependents(
  dependents: Iterable<GraphNode>,
  identity: Identity,
): { readonly matching: readonly GraphNode[]; readonly others: readonly GraphNode[] } {
  const matching: GraphNode[] = [];
  const others: GraphNode[] = [];
  for (const dependent of dependents) {
    const foreign = identity.namespace !== undefined && identity.namespace !== dependent.identity.namespace;
    const references = dependent.owners.filter(({ uid }) => uid === identity.uid);
    if (!foreign && references.some((reference) => refersTo(reference, identity))) matching.push(dependent);
    if (foreign || references.some((reference) => !refersTo(reference, identity))) others.push(dependent);
  }
  return { matching, others };
}
