import type { JsonObject } from '../object';
import type { PathElement } from './path-element';

/**
 * A set of paths into an object, as a tree: the root stands for the object itself, and `member` says whether the path
 * that ends at a node belongs to the set. Immutable; no node except the root is empty. Operations return their left
 * operand itself where nothing changes, so that an unchanged set can be told by identity.
 */
export interface FieldSet {
  readonly member: boolean;
  readonly children: ReadonlyMap<PathElement, FieldSet>;
  /** FieldsV1 of this node once it was asked for: see fields-v1.ts. Sets share their unchanged parts with it. */
  written: JsonObject | undefined;
}

export type Children = Map<PathElement, FieldSet>;

export const NO_CHILDREN: ReadonlyMap<PathElement, FieldSet> = new Map();

export const NO_FIELDS: JsonObject = Object.freeze({});

export const EMPTY_SET: FieldSet = { member: false, children: NO_CHILDREN, written: NO_FIELDS };
/** The set that holds only the path at which it stands. */
export const LEAF: FieldSet = { member: true, children: NO_CHILDREN, written: NO_FIELDS };

export function isEmpty(set: FieldSet): boolean {
  return !set.member && set.children.size === 0;
}

/** A node of these parts, sharing the two constants. */
export function makeSet(member: boolean, children: ReadonlyMap<PathElement, FieldSet>): FieldSet {
  if (children.size === 0) return member ? LEAF : EMPTY_SET;
  return { member, children, written: undefined };
}

/** The set of these paths. */
export function setOf(...paths: readonly (readonly PathElement[])[]): FieldSet {
  const builder = new FieldSetBuilder();
  for (const path of paths) {
    builder.back(0);
    builder.add(path);
  }
  return builder.build();
}

/** A node of a set that is still being built. */
interface Draft {
  member: boolean;
  readonly children: Children;
  written: undefined;
}

/**
 * Collects paths while an object is walked. Two paths that follow one another mostly have their beginnings in common: the
 * nodes on the way to the last one are remembered, so that a path costs what is new of it and not how deep it lies.
 */
export class FieldSetBuilder {
  private root: FieldSet | undefined;
  /** The nodes of the first steps of the last path, the root's included. */
  private readonly open: Draft[] = [];

  /** Nothing but the first `depth` steps of the next path is as in the one before. */
  back(depth: number): void {
    if (this.open.length > depth + 1) this.open.length = depth + 1;
  }

  add(path: readonly PathElement[]): void {
    this.addTree(path, LEAF);
  }

  /** Puts a finished set at a path at and below which nothing else is added. */
  addTree(path: readonly PathElement[], tree: FieldSet): void {
    const last = path.at(-1);
    if (last === undefined) {
      if (this.root === undefined || this.root.children.size === 0) this.root = tree;
      else (this.root as Draft).member = true;
      return;
    }
    const { open } = this;
    if (open.length === 0) open.push(draftOf(this.root));
    this.root = open[0];
    for (let depth = open.length; depth < path.length; depth += 1) {
      const { children } = open[depth - 1] as Draft;
      const element = path[depth - 1] as PathElement;
      const child = children.get(element);
      const draft = draftOf(child);
      if (draft !== child) children.set(element, draft);
      open.push(draft);
    }
    const { children } = open[path.length - 1] as Draft;
    const child = children.get(last);
    if (child === undefined || child.children.size === 0) children.set(last, tree);
    else (child as Draft).member = true;
  }

  /** The set. Nothing can be added to it any more. */
  build(): FieldSet {
    return this.root ?? EMPTY_SET;
  }
}

/** The node itself if it is still being built: those with something below them are. */
function draftOf(node: FieldSet | undefined): Draft {
  if (node !== undefined && node.children.size > 0) return node as Draft;
  return { member: node?.member ?? false, children: new Map(), written: undefined };
}

export function has(set: FieldSet, path: readonly PathElement[]): boolean {
  return descend(set, path)?.member ?? false;
}

/** What the set says below a path, as a set of its own. */
export function descend(set: FieldSet, path: readonly PathElement[]): FieldSet | undefined {
  let node: FieldSet | undefined = set;
  for (const element of path) {
    node = node.children.get(element);
    if (node === undefined) return undefined;
  }
  return node;
}
