import type { JsonObject, JsonValue } from '../object';
import { EMPTY_SET, LEAF, makeSet, type FieldSet } from './field-set';
import { itemsByElement, refuseTwins, type Duplicates } from './list-items';
import { isEmptyObject, isList, isObject } from './members';
import { ANY_MAP, memberType, TypedError, type MapMergeType, type MergeType } from './merge-type';
import { fieldElement, type PathElement } from './path-element';

/** The field sets of values. */

/** Every leaf of an object, and every list item and map entry: what a manager owns that applies exactly this object. */
export function toFieldSet(type: MergeType, value: JsonValue): FieldSet {
  switch (type.kind) {
    case 'scalar':
      return LEAF;
    case 'any':
      if (type.atomic) return LEAF;
      if (isObject(value)) return mapFieldSet(ANY_MAP, value);
      return value === null ? EMPTY_SET : LEAF;
    case 'map':
      if (type.atomic) return LEAF;
      return isObject(value) ? mapFieldSet(type, value) : EMPTY_SET;
    case 'list': {
      if (type.relation === 'atomic') return LEAF;
      if (!isList(value)) return EMPTY_SET;
      const children = new Map<PathElement, FieldSet>();
      for (const [element, twins] of itemsByElement(type, value)) {
        children.set(element, makeSet(true, toFieldSet(type.items, twins[0] as JsonValue).children));
      }
      return makeSet(false, children);
    }
  }
}

function mapFieldSet(type: MapMergeType, value: JsonObject): FieldSet {
  const children = new Map<PathElement, FieldSet>();
  for (const name in value) {
    const member = value[name];
    if (member === undefined) continue;
    const set = toFieldSet(memberType(type, name), member);
    const empty = member === null || (isObject(member) && isEmptyObject(member));
    const owned = set.member || !type.isField(name) || (empty && type.ownsEmpty(name));
    if (owned || set.children.size > 0) children.set(fieldElement(name), makeSet(owned, set.children));
  }
  return makeSet(false, children);
}

/** All paths of a value that comes or goes: its leaves, and every map and list that holds something. */
export function everything(type: MergeType, value: JsonValue, duplicates: Duplicates): FieldSet {
  switch (type.kind) {
    case 'scalar':
      return LEAF;
    case 'any':
      return !type.atomic && isObject(value) ? everyMember(ANY_MAP, value, duplicates) : LEAF;
    case 'map':
      if (value !== null && !isObject(value)) throw new TypedError([{ path: '', message: 'expected map' }]);
      return type.atomic || value === null ? LEAF : everyMember(type, value, duplicates);
    case 'list': {
      if (value !== null && !isList(value)) throw new TypedError([{ path: '', message: 'expected list' }]);
      if (type.relation === 'atomic' || value === null) return LEAF;
      const children = new Map<PathElement, FieldSet>();
      const byElement = itemsByElement(type, value);
      refuseTwins(duplicates, byElement, value);
      for (const [element, twins] of byElement) {
        children.set(element, everything(type.items, twins[0] as JsonValue, duplicates));
      }
      return makeSet(true, children);
    }
  }
}

function everyMember(type: MapMergeType, value: JsonObject, duplicates: Duplicates): FieldSet {
  const children = new Map<PathElement, FieldSet>();
  for (const name in value) {
    const member = value[name];
    if (member !== undefined) children.set(fieldElement(name), everything(memberType(type, name), member, duplicates));
  }
  return makeSet(true, children);
}
