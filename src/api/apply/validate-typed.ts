import type { JsonObject, JsonValue } from '../object';
import { itemElement } from './item-element';
import { sortNames } from '../sort-in-runs';
import { printGoSyntax, printGoValue } from './go-text';
import { isList, isObject, memberOf } from './members';
import {
  TypedError,
  TypedProblems,
  type ListMergeType,
  type MapMergeType,
  type MergeType,
  type ScalarMergeType,
} from './merge-type';
import { fieldElement, printElement, type PathElement } from './path-element';

/**
 * Throws a TypedError with every place where a value does not fit its type: unknown fields, values of a wrong type, items
 * without key, items that are there twice. Null fits everywhere.
 */
export function validateTyped(type: MergeType, value: JsonValue): void {
  if (fits(type, value)) return;
  const problems = new TypedProblems();
  visit(type, value, undefined, problems);
  if (problems.list.length > 0) throw new TypedError(problems.list);
}

/** Whether there is nothing to tell of: nearly always, so it is found out without places and sorted names. */
function fits(type: MergeType, value: JsonValue): boolean {
  if (value === null) return true;
  switch (type.kind) {
    case 'any':
      return true;
    case 'scalar':
      return scalarProblem(type, value) === undefined;
    case 'map':
      return isObject(value) && membersFit(type, value);
    case 'list':
      if (!isList(value) || (type.relation !== 'atomic' && !haveNames(type, value))) return false;
      for (const item of value) if (!fits(type.items, item)) return false;
      return true;
  }
}

function membersFit(type: MapMergeType, value: JsonObject): boolean {
  for (const name in value) {
    const member = value[name];
    if (member === undefined) continue;
    const memberType = type.typeOf(name);
    if (memberType === undefined || !fits(memberType, member)) return false;
  }
  return true;
}

/** Each item a name of its own. */
function haveNames(type: ListMergeType, items: readonly JsonValue[]): boolean {
  const seen = new Set<JsonValue>();
  for (const item of items) {
    const name = soleKeyOf(type, item) ?? itemElement(type, item);
    if (name instanceof Error) return false;
    seen.add(name);
  }
  return seen.size === items.length;
}

/** The scalar that alone tells an item from others: most lists have such, and no text need be made of it. */
function soleKeyOf({ relation, keys: [key, ...others] }: ListMergeType, item: JsonValue): JsonValue | undefined {
  if (relation === 'set') return isScalar(item) ? item : undefined;
  if (key === undefined || others.length > 0 || !isObject(item)) return undefined;
  const value = memberOf(item, key.name) ?? key.defaultValue;
  return isScalar(value) ? value : undefined;
}

function isScalar(value: JsonValue | undefined): boolean {
  return value !== undefined && typeof value !== 'object';
}

/** Where a value stands. Printed only when there is something to tell of it. */
interface Place {
  readonly parent: Place | undefined;
  /** A field's name, a known item's element, or an index. */
  readonly part: { readonly name: string } | PathElement | number;
}

function print(place: Place | undefined): string {
  if (place === undefined) return '';
  const { parent, part } = place;
  if (typeof part === 'number') return `${print(parent)}[${part}]`;
  return print(parent) + printElement(typeof part === 'string' ? part : fieldElement(part.name));
}

function visit(type: MergeType, value: JsonValue, path: Place | undefined, problems: TypedProblems): void {
  if (value === null || problems.isFull) return;
  switch (type.kind) {
    case 'any':
      return;
    case 'scalar': {
      const message = scalarProblem(type, value);
      if (message !== undefined) problems.add({ path: print(path), message });
      return;
    }
    case 'map':
      if (isObject(value)) visitMap(type, value, path, problems);
      else problems.add({ path: print(path), message: `expected map, got ${printBoxed(value)}` });
      return;
    case 'list':
      if (isList(value)) visitList(type, value, path, problems);
      else problems.add({ path: print(path), message: `expected list, got ${printBoxed(value)}` });
      return;
  }
}

function visitMap(type: MapMergeType, value: JsonObject, path: Place | undefined, problems: TypedProblems): void {
  for (const name of sortNames(Object.keys(value))) {
    const member = value[name];
    if (member === undefined) continue;
    if (problems.isFull) return;
    const place = { parent: path, part: { name } };
    const memberType = type.typeOf(name);
    if (memberType === undefined) problems.add({ path: print(place), message: 'field not declared in schema' });
    else visit(memberType, member, place, problems);
  }
}

function visitList(
  type: ListMergeType,
  items: readonly JsonValue[],
  path: Place | undefined,
  problems: TypedProblems,
): void {
  const seen = new Set<string>();
  for (const [index, item] of items.entries()) {
    if (type.relation === 'atomic') {
      visit(type.items, item, { parent: path, part: index }, problems);
      continue;
    }
    const element = itemElement(type, item);
    if (element instanceof Error) {
      problems.add({ path: print(path), message: `element ${index}: ${element.message}` });
      return;
    }
    if (seen.has(element)) {
      problems.add({ path: print(path), message: `duplicate entries for key ${printElement(element)}` });
    }
    seen.add(element);
    visit(type.items, item, { parent: path, part: element }, problems);
  }
}

function scalarProblem({ scalar }: ScalarMergeType, value: JsonValue): string | undefined {
  switch (scalar) {
    case 'string':
      return typeof value === 'string'
        ? undefined
        : `expected string, got &value.valueUnstructured{Value:${printGoSyntax(value)}}`;
    case 'numeric':
      return typeof value === 'number' || typeof value === 'bigint'
        ? undefined
        : 'expected numeric (int or float), got *value.valueUnstructured';
    case 'boolean':
      return typeof value === 'boolean' ? undefined : `expected boolean, got ${printBoxed(value)}`;
    case 'untyped':
      return typeof value === 'object' ? `expected any scalar, got ${printBoxed(value)}` : undefined;
  }
}

/** `%v` of a pointer to the value's box. */
function printBoxed(value: JsonValue): string {
  return `&{${printGoValue(value)}}`;
}
