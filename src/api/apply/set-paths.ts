import type { FieldSet } from './field-set';
import { orderedElements } from './fields-v1';
import type { PathElement } from './path-element';

/** What is made of paths while a set is walked. */
export interface PathVisitor<T> {
  readonly extend: (path: T, element: PathElement) => T;
  /** False ends the walk. */
  readonly take: (path: T) => boolean;
}

/**
 * Visits each path of the set, from `start` for the root, in kube-apiserver's order: the members of a level come before what
 * lies deeper. False: the visitor has ended it.
 */
export function visitPaths<T>(set: FieldSet, start: T, visitor: PathVisitor<T>): boolean {
  return (!set.member || visitor.take(start)) && visitBelow(set, start, visitor);
}

function visitBelow<T>(node: FieldSet, path: T, visitor: PathVisitor<T>): boolean {
  const below: (readonly [FieldSet, T])[] = [];
  for (const element of orderedElements(node)) {
    const child = node.children.get(element) as FieldSet;
    const childPath = visitor.extend(path, element);
    if (child.member && !visitor.take(childPath)) return false;
    if (child.children.size > 0) below.push([child, childPath]);
  }
  for (const [child, childPath] of below) if (!visitBelow(child, childPath, visitor)) return false;
  return true;
}

/** Every path of the set, in the order of {@link visitPaths}. */
export function paths(set: FieldSet): readonly (readonly PathElement[])[] {
  const found: (readonly PathElement[])[] = [];
  const visitor: PathVisitor<readonly PathElement[]> = {
    extend: (path, element) => [...path, element],
    take: (path) => found.push(path) > 0,
  };
  visitPaths(set, [], visitor);
  return found;
}
