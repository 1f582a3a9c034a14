import { LRUCache } from 'lru-cache';
import type { JsonObject } from '../object';
import { compareElements, parseElement, type PathElement } from './path-element';

/**
 * A set of paths into an object, as a tree: the root stands for the object itself, and `member` says whether the path
 * that ends at a node belongs to the set. Immutable; no node except the root is empty. Operations return their left
 * operand itself where nothing changes, so that an unchanged set can be told by identity.
 */
export interface FieldSet {
  readonly member: boolean;
  readonly children: ReadonlyMap<PathElement, FieldSet>;
}

type Children = Map<PathElement, FieldSet>;

const NO_CHILDREN: ReadonlyMap<PathElement, FieldSet> = new Map();

export const EMPTY_SET: FieldSet = { member: false, children: NO_CHILDREN };
/** The set that holds only the path at which it stands. */
export const LEAF: FieldSet = { member: true, children: NO_CHILDREN };

export function isEmpty(set: FieldSet): boolean {
  return !set.member && set.children.size === 0;
}

/** A node of these parts, sharing the two constants. */
export function makeSet(member: boolean, children: ReadonlyMap<PathElement, FieldSet>): FieldSet {
  if (children.size === 0) return member ? LEAF : EMPTY_SET;
  return { member, children };
}

/** The set of these paths. */
export function setOf(...paths: readonly (readonly PathElement[])[]): FieldSet {
  const builder = new FieldSetBuilder();
  for (const path of paths) builder.add(path);
  return builder.build();
}

interface Draft {
  member: boolean;
  children: Map<PathElement, Draft> | undefined;
  /** Stands for the whole node when a finished tree was put here. */
  tree: FieldSet | undefined;
}

function newDraft(): Draft {
  return { member: false, children: undefined, tree: undefined };
}

/** Collects paths while an object is walked. */
export class FieldSetBuilder {
  private root: Draft | undefined;

  add(path: readonly PathElement[]): void {
    this.nodeAt(path).member = true;
  }

  /** Puts a finished set at a path below which nothing else is added. */
  addTree(path: readonly PathElement[], tree: FieldSet): void {
    this.nodeAt(path).tree = tree;
  }

  private nodeAt(path: readonly PathElement[]): Draft {
    let node = (this.root ??= newDraft());
    for (const element of path) {
      const children = (node.children ??= new Map<PathElement, Draft>());
      let child = children.get(element);
      if (child === undefined) children.set(element, (child = newDraft()));
      node = child;
    }
    return node;
  }

  build(): FieldSet {
    return this.root === undefined ? EMPTY_SET : freeze(this.root);
  }
}

function freeze(draft: Draft): FieldSet {
  if (draft.tree !== undefined) return draft.tree;
  if (draft.children === undefined) return draft.member ? LEAF : EMPTY_SET;
  const children: Children = new Map();
  for (const [element, child] of draft.children) children.set(element, freeze(child));
  return { member: draft.member, children };
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
  return { member, children: children ?? left.children };
}

export function intersection(left: FieldSet, right: FieldSet): FieldSet {
  if (left === right) return left;
  if (left.children.size > right.children.size) return intersection(right, left);
  const children: Children = new Map();
  for (const [element, child] of left.children) {
    const other = right.children.get(element);
    if (other === undefined) continue;
    const common = intersection(child, other);
    if (!isEmpty(common)) children.set(element, common);
  }
  return makeSet(left.member && right.member, children);
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
  for (let i = 1; i < elements.length; i++) {
    if (compareElements(elements[i - 1] as PathElement, elements[i] as PathElement) > 0) {
      return elements.sort(compareElements);
    }
  }
  return elements;
}

/** Every path of the set, in kube-apiserver's order: the members of a level come before what lies deeper. */
export function paths(set: FieldSet): readonly (readonly PathElement[])[] {
  const found: (readonly PathElement[])[] = set.member ? [[]] : [];
  const visit = (node: FieldSet, prefix: readonly PathElement[]): void => {
    const elements = orderedElements(node);
    for (const element of elements) {
      if (node.children.get(element)?.member === true) found.push([...prefix, element]);
    }
    for (const element of elements) visit(node.children.get(element) as FieldSet, [...prefix, element]);
  };
  visit(set, []);
  return found;
}

/** FieldsV1 that came from a client or from storage is parsed once per object: entries are shared between versions. */
const parsed = new WeakMap<JsonObject, FieldSet>();
const serialized = new WeakMap<FieldSet, JsonObject>();

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
    const text = JSON.stringify(fields);
    set = byText.get(text);
    if (set === undefined) {
      set = makeSet('.' in fields, parseNode(fields));
      if (text.length <= MAX_TEXT_LENGTH) byText.set(text, set);
    }
    parsed.set(fields, set);
  }
  return set;
}

function parseNode(fields: JsonObject): ReadonlyMap<PathElement, FieldSet> {
  const children: Children = new Map();
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
    const twin = children.get(element);
    children.set(element, twin === undefined ? child : union(twin, child));
  }
  return children.size === 0 ? NO_CHILDREN : children;
}

/** Writes FieldsV1 in canonical order; the answer for one set is always the same object. */
export function toFieldsV1(set: FieldSet): JsonObject {
  let fields = serialized.get(set);
  if (fields === undefined) {
    fields = serializeNode(set, false);
    serialized.set(set, fields);
    parsed.set(fields, set);
  }
  return fields;
}

const NO_FIELDS: JsonObject = Object.freeze({});
/** Sets share their unchanged parts, and so do their written forms. */
const serializedNodes = new WeakMap<FieldSet, JsonObject>();

function serializeNode(set: FieldSet, includeSelf: boolean): JsonObject {
  const fields: Record<string, JsonObject> = {};
  if (includeSelf) fields['.'] = NO_FIELDS;
  for (const element of orderedElements(set)) {
    const child = set.children.get(element) as FieldSet;
    if (child.children.size === 0) {
      fields[element] = NO_FIELDS;
      continue;
    }
    let below = serializedNodes.get(child);
    if (below === undefined) serializedNodes.set(child, (below = serializeNode(child, child.member)));
    fields[element] = below;
  }
  return fields;
}
