import type { Children, FieldSet } from '../apply/field-set';
import { isPauseDue, type Steps } from './pace';

/** As the plain one, which cannot be interrupted as it leaves the loop to the platform. */
export function* copyChildren({ children }: FieldSet): Steps<Children> {
  const copy: Children = new Map();
  for (const [element, child] of children) {
    if (isPauseDue()) yield;
    copy.set(element, child);
  }
  return copy;
}
