import { stringifyExact } from '../codec/exact-json';
import { LRUCache } from 'lru-cache';
import type { JsonObject } from '../object';
import { compareElements, parseElement, sortElements, type PathElement } from './path-element';

/**
 * A set of paths into an object, as a tree: the root stands for the object itself, and `member` says whether the path
 * that ends at a node belongs to the set. Immutable; no node except the root is empty. Operations return their left
 * operand itself where nothing changes, so that an unchanged set can be told by identity.
 */
export interface FieldSet {
  readonly member: boolean;
  readonly children: ReadonlyMap<PathElement, FieldSet>;
  /** FieldsV1 of this node once somebody asked for it: see {@link toFieldsV1}. Sets share their unchanged parts with it. */
  written: JsonObject | undefined;
}

type Children = Map<PathElement, FieldSet>;

const NO_CHILDREN: ReadonlyMap<PathElement, FieldSet> = new Map();

const NO_FIELDS: JsonObject = Object.freeze({});

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

export function equals(left: FieldSet, right: FieldSet): boolean {
  if (left === right) return true;
  if (left.member !== right.member || left.children.size !== right.children.size) return false;
  for (const [element, child] of left.children) {
    const other = right.children.get(element);
    if (other === undefined || !equals(child, other)) return false;
  }
  return true;
}

export function union(left: FieldSet, right: FieldSet): FieldSet {
  if (left === right || isEmpty(right)) return left;
  if (isEmpty(left)) return right;
  let children: Children | undefined;
  for (const [element, child] of right.children) {
    const mine = left.children.get(element);
    const merged = mine === undefined ? child : union(mine, child);
    if (merged !== mine) (children ??= new Map(left.children)).set(element, merged);
  }
  const member = left.member || right.member;
  if (children === undefined && member === left.member) return left;
  return makeSet(member, children ?? left.children);
}

/**
 * The union of all. Two by two, the results again two by two: what is joined one after the other would be copied each time.
 */
export function unionOf(sets: readonly FieldSet[]): FieldSet {
  let rest = sets;
  while (rest.length > 1) {
    const joined: FieldSet[] = [];
    for (let index = 0; index < rest.length; index += 2) {
      const [left, right] = [rest[index] as FieldSet, rest[index + 1]];
      joined.push(right === undefined ? left : union(left, right));
    }
    rest = joined;
  }
  return rest[0] ?? EMPTY_SET;
}

export function intersection(left: FieldSet, right: FieldSet): FieldSet {
  if (left === right) return left;
  if (left.children.size > right.children.size) return intersection(right, left);
  let children: Children | undefined;
  for (const [element, child] of left.children) {
    const other = right.children.get(element);
    if (other === undefined) continue;
    const common = intersection(child, other);
    if (!isEmpty(common)) (children ??= new Map<PathElement, FieldSet>()).set(element, common);
  }
  return makeSet(left.member && right.member, children ?? NO_CHILDREN);
}

/** The paths of left that are not in right; what lies below a path of right stays. */
export function difference(left: FieldSet, right: FieldSet): FieldSet {
  return subtract(left, right, false);
}

/** The paths of left that are neither in right nor below a path of right. */
export function recursiveDifference(left: FieldSet, right: FieldSet): FieldSet {
  return subtract(left, right, true);
}

function subtract(left: FieldSet, right: FieldSet, recursive: boolean): FieldSet {
  if (isEmpty(right) || isEmpty(left)) return left;
  if (left === right || (recursive && right.member)) return EMPTY_SET;
  let children: Children | undefined;
  const smaller = left.children.size <= right.children.size ? left.children : right.children;
  for (const element of smaller.keys()) {
    const mine = left.children.get(element);
    const other = right.children.get(element);
    if (mine === undefined || other === undefined) continue;
    const rest = subtract(mine, other, recursive);
    if (rest === mine) continue;
    children ??= new Map(left.children);
    if (isEmpty(rest)) children.delete(element);
    else children.set(element, rest);
  }
  const member = left.member && !right.member;
  if (children === undefined && member === left.member) return left;
  return makeSet(member, children ?? left.children);
}

/** The elements of a node in canonical order. Sets that were parsed or serialized before mostly are in order already. */
function orderedElements(set: FieldSet): readonly PathElement[] {
  const elements = [...set.children.keys()];
  return isOrdered(elements) ? elements : sortElements(elements);
}

function isOrdered(elements: readonly PathElement[]): boolean {
  for (let i = 1; i < elements.length; i++) {
    if (compareElements(elements[i - 1] as PathElement, elements[i] as PathElement) > 0) return false;
  }
  return true;
}

/**
 * What `extend` makes of each path of the set, from `start` for the root; in kube-apiserver's order: the members of a level
 * come before what lies deeper. Ends when `take` answers false.
 */
export function forEachPath<T>(
  set: FieldSet,
  start: T,
  extend: (path: T, element: PathElement) => T,
  take: (path: T) => boolean,
): void {
  const visit = (node: FieldSet, path: T): boolean => {
    const below: (readonly [FieldSet, T])[] = [];
    for (const element of orderedElements(node)) {
      const child = node.children.get(element) as FieldSet;
      const childPath = extend(path, element);
      if (child.member && !take(childPath)) return false;
      if (child.children.size > 0) below.push([child, childPath]);
    }
    return below.every(([child, childPath]) => visit(child, childPath));
  };
  if (!set.member || take(start)) visit(set, start);
}

/** Every path of the set, in the order of {@link forEachPath}. */
export function paths(set: FieldSet): readonly (readonly PathElement[])[] {
  const found: (readonly PathElement[])[] = [];
  forEachPath<readonly PathElement[]>(
    set,
    [],
    (path, element) => [...path, element],
    (path) => found.push(path) > 0,
  );
  return found;
}

/** How many paths the set has. */
export function sizeOf(set: FieldSet): number {
  let size = set.member ? 1 : 0;
  for (const child of set.children.values()) size += sizeOf(child);
  return size;
}

/** FieldsV1 that came from a client or from storage is parsed once per object: entries are shared between versions. */
const parsed = new WeakMap<JsonObject, FieldSet>();

/**
 * Sets by the text of their FieldsV1. One writer owns the same fields of all its objects and of all
 * their versions: one set for these saves reading it, and what is remembered of a set (its written form, whether it fits
 * the schema) holds for all of them.
 */
const byText = new LRUCache<string, FieldSet>({ max: 2_048 });
const MAX_TEXT_LENGTH = 16_384;

/** Reads FieldsV1. Throws a SyntaxError on anything that is not a tree of path elements. */
export function parseFieldsV1(fields: JsonObject): FieldSet {
  let set = parsed.get(fields);
  if (set === undefined) {
    set = oneOfText(stringifyExact(fields), () => makeSet('.' in fields, parseNode(fields)));
    parsed.set(fields, set);
  }
  return set;
}

/** The set of that text which is used already, so that what is remembered of it holds; else this one from now on. */
function oneOfText(text: string, make: () => FieldSet): FieldSet {
  let set = byText.get(text);
  if (set === undefined) {
    set = make();
    if (text.length <= MAX_TEXT_LENGTH) byText.set(text, set);
  }
  return set;
}

/** An equal set that all share whose FieldsV1 has the same text; the set itself where that text is long. */
export function shared(set: FieldSet): FieldSet {
  // FieldsV1 does not say that the root is a member.
  if (set.member) return set;
  return oneOfText(JSON.stringify(toFieldsV1(set)), () => set);
}

function parseNode(fields: JsonObject): ReadonlyMap<PathElement, FieldSet> {
  const children: Children = new Map();
  /** What stands there under several spellings of one element. */
  let twins: Map<PathElement, FieldSet[]> | undefined;
  for (const key in fields) {
    if (key === '.') continue;
    const element = parseElement(key);
    const value = fields[key];
    if (value === null || typeof value !== 'object' || Array.isArray(value)) {
      throw new SyntaxError(`expected an object at ${key}`);
    }
    if (element === undefined) continue;
    const below = parseNode(value as JsonObject);
    const child = makeSet(below.size === 0 || '.' in value, below);
    const first = children.get(element);
    if (first === undefined) {
      children.set(element, child);
      continue;
    }
    twins ??= new Map();
    const others = twins.get(element);
    if (others === undefined) twins.set(element, [first, child]);
    else others.push(child);
  }
  if (twins !== undefined) for (const [element, sets] of twins) children.set(element, unionOf(sets));
  return children.size === 0 ? NO_CHILDREN : children;
}

/**
 * Writes FieldsV1 in canonical order; the answer for one set is always the same object. It cannot say that the object
 * itself belongs to the set.
 */
export function toFieldsV1(set: FieldSet): JsonObject {
  if (set.member) return toFieldsV1(makeSet(false, set.children));
  if (set.written === undefined) parsed.set(write(set), set);
  return write(set);
}

function write(set: FieldSet): JsonObject {
  if (set.written !== undefined) return set.written;
  const fields: Record<string, JsonObject> = {};
  if (set.member) fields['.'] = NO_FIELDS;
  for (const element of orderedElements(set)) fields[element] = write(set.children.get(element) as FieldSet);
  set.written = fields;
  return fields;
}
