import type { Children, FieldSet } from './field-set';

/** The children of a node in a map that may be written to. In turns: `steps/copy-children.ts`. */
export function copyChildren({ children }: FieldSet): Children {
  return new Map(children);
}
