import { stringifyExact } from '../codec/exact-json';
import type { JsonObject } from '../object';
import { PART_VALUES, rememberKeys } from '../parts';
import { sortInRuns } from '../sort-in-runs';
import { fieldsText } from './fields-text';
import { makeSet, NO_CHILDREN, NO_FIELDS, type Children, type FieldSet } from './field-set';
import { rememberFields, rememberText, setOfFields, setOfText } from './known-sets';
import { compareRead, parseElement, readElement, type PathElement, type ReadElement } from './path-element';
import { unionOf } from './set-algebra';

/** FieldsV1: field sets as managedFields show them. */

/** The elements of a node in canonical order. Sets that were parsed or serialized before mostly are in order already. */
export function orderedElements(set: FieldSet): readonly PathElement[] {
  const elements = [...set.children.keys()];
  return areOrdered(elements) ? elements : sortElements(elements);
}

function areOrdered(elements: readonly PathElement[]): boolean {
  let field = '';
  let other: ReadElement | undefined;
  for (const element of elements) {
    if (element.startsWith('f:')) {
      if (other !== undefined || element < field) return false;
      field = element;
      continue;
    }
    const read = readElement(element);
    if (other !== undefined && compareRead(other, read) > 0) return false;
    other = read;
  }
  return true;
}

function sortElements(elements: readonly PathElement[]): readonly PathElement[] {
  const read: ReadElement[] = [];
  for (const element of elements) read.push(readElement(element));
  const sorted: PathElement[] = [];
  for (const { element } of sortInRuns(read, compareRead)) sorted.push(element);
  return sorted;
}

/** Reads FieldsV1. Throws a SyntaxError on anything that is not a tree of path elements. */
export function parseFieldsV1(fields: JsonObject): FieldSet {
  let set = setOfFields(fields);
  if (set !== undefined) return set;
  const text = fieldsText(fields);
  set = text === undefined ? undefined : setOfText(text);
  if (set === undefined) {
    set = makeSet('.' in fields, parseNode(fields));
    if (text !== undefined) rememberText(text, set);
  }
  rememberFields(fields, set);
  return set;
}

/** An equal set that all share whose FieldsV1 has the same text; the set itself where that text is long. */
export function shared(set: FieldSet): FieldSet {
  // FieldsV1 does not say that the root is a member.
  if (set.member) return set;
  const text = stringifyExact(toFieldsV1(set));
  const known = setOfText(text);
  if (known !== undefined) return known;
  rememberText(text, set);
  return set;
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
  const { written } = set;
  if (written !== undefined) return written;
  const fields = write(set);
  rememberFields(fields, set);
  return fields;
}

function write(set: FieldSet): JsonObject {
  if (set.written !== undefined) return set.written;
  const fields: Record<string, JsonObject> = {};
  if (set.member) fields['.'] = NO_FIELDS;
  const elements = orderedElements(set);
  for (const element of elements) fields[element] = write(set.children.get(element) as FieldSet);
  if (!set.member) rememberKeys(fields, elements);
  else if (elements.length >= PART_VALUES) rememberKeys(fields, ['.', ...elements]);
  set.written = fields;
  return fields;
}
