import { copyChildren } from './copy-children';
import { EMPTY_SET, isEmpty, makeSet, NO_CHILDREN, type Children, type FieldSet } from './field-set';
import type { PathElement } from './path-element';

/** Operations on field sets. What they do not change is shared with their left operand. */

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
    if (merged !== mine) (children ??= copyChildren(left)).set(element, merged);
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
    children ??= copyChildren(left);
    if (isEmpty(rest)) children.delete(element);
    else children.set(element, rest);
  }
  const member = left.member && !right.member;
  if (children === undefined && member === left.member) return left;
  return makeSet(member, children ?? left.children);
}

/** How many paths the set has. */
export function sizeOf(set: FieldSet): number {
  let size = set.member ? 1 : 0;
  for (const child of set.children.values()) size += sizeOf(child);
  return size;
}
