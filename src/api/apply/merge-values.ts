import { copyMap, finishMap } from '../copy-map';
import type { JsonObject, JsonValue } from '../object';
import { jsonEqual } from '../patch/json-equal';
import type { FieldSet } from './field-set';
import { areSameItems, itemsByElement } from './list-items';
import { isEmptyList, isEmptyMap, isEmptyObject, isList, isObject, memberOf, setMember } from './members';
import { itemElement } from './item-element';
import { ANY_MAP, memberType, type ListMergeType, type MapMergeType, type MergeType } from './merge-type';
import { fieldElement, type PathElement } from './path-element';

/** Undefined stands for a value that is not there; null is a value. */
type Maybe = JsonValue | undefined;

/**
 * The live value with an applied configuration laid over it. Items keep their place in the live list; new ones follow in
 * the order of the configuration. Parts that the configuration does not change are those of the live value, the whole of
 * it included.
 */
export function merge(type: MergeType, live: Maybe, applied: Maybe): Maybe {
  if (applied === undefined) return live;
  if (live === undefined) return applied;
  switch (type.kind) {
    case 'scalar':
      return applied;
    case 'any':
      if (type.atomic || !isObject(live) || !(isObject(applied) || applied === null)) return replace(live, applied);
      return mergeMaps(ANY_MAP, live, applied);
    case 'map':
      return type.atomic ? replace(live, applied) : mergeMaps(type, live, applied);
    case 'list':
      return type.relation === 'atomic' ? replace(live, applied) : mergeLists(type, live, applied);
  }
}

function replace(live: JsonValue, applied: JsonValue): JsonValue {
  return jsonEqual(live, applied) ? live : applied;
}

function mergeMaps(type: MapMergeType, live: JsonValue, applied: JsonValue): JsonValue {
  if (isEmptyMap(applied)) return isEmptyMap(live) ? applied : live;
  if (!isObject(live)) return applied;
  let result: Record<string, JsonValue> | undefined;
  for (const name in applied as JsonObject) {
    const before = memberOf(live, name);
    const value = merge(memberType(type, name), before, (applied as JsonObject)[name]);
    if (value !== undefined && value !== before) setMember((result ??= copyMap(live)), name, value);
  }
  if (result === undefined) return live;
  finishMap(result, live, applied as JsonObject);
  return result;
}

function mergeLists(type: ListMergeType, live: JsonValue, applied: JsonValue): JsonValue {
  if (!isList(applied) || applied.length === 0) return isEmptyList(live) ? applied : live;
  if (!isList(live)) return applied;
  if (areSameItems(type, live, applied)) return mergeSameItems(type, live, applied);
  const wanted = itemsByElement(type, applied);
  const placed = new Set<PathElement>();
  const result: JsonValue[] = [];
  for (const item of live) {
    const element = itemElement(type, item);
    const overlay = element instanceof Error ? undefined : wanted.get(element)?.[0];
    if (element instanceof Error || overlay === undefined) {
      result.push(item);
      continue;
    }
    if (placed.has(element)) continue;
    placed.add(element);
    result.push(merge(type.items, item, overlay) as JsonValue);
  }
  for (const [element, items] of wanted) if (!placed.has(element)) result.push(items[0] as JsonValue);
  return result;
}

function mergeSameItems(type: ListMergeType, live: readonly JsonValue[], applied: readonly JsonValue[]): JsonValue {
  const items: JsonValue[] = [];
  let changed = false;
  for (let i = 0; i < live.length; i++) {
    const item = merge(type.items, live[i], applied[i]) as JsonValue;
    if (item !== live[i]) changed = true;
    items.push(item);
  }
  return changed ? items : live;
}

/** The value without the fields and items in the set; a list or map that lost all it held goes with them. */
export function removeItems(type: MergeType, value: JsonValue, set: FieldSet): Maybe {
  switch (type.kind) {
    case 'scalar':
      return value;
    case 'any':
    case 'map':
      if (!isObject(value) || isEmptyObject(value) || type.atomic) return value;
      return removeFromMap(type.kind === 'any' ? ANY_MAP : type, value, set);
    case 'list': {
      if (!isList(value) || value.length === 0 || type.relation === 'atomic') return value;
      const result: JsonValue[] = [];
      for (const item of value) {
        const element = itemElement(type, item);
        const below = element instanceof Error ? undefined : set.children.get(element);
        if (below?.member === true) continue;
        const rest = below === undefined ? item : removeItems(type.items, item, below);
        if (rest !== undefined) result.push(rest);
      }
      return result.length === 0 ? undefined : result;
    }
  }
}

function removeFromMap(type: MapMergeType, value: JsonObject, set: FieldSet): Maybe {
  const result: Record<string, JsonValue> = {};
  let kept = 0;
  for (const name in value) {
    const member = value[name];
    if (member === undefined) continue;
    const below = set.children.get(fieldElement(name));
    if (below?.member === true) continue;
    const rest = below === undefined ? member : removeItems(memberType(type, name), member, below);
    if (rest === undefined) continue;
    setMember(result, name, rest);
    kept++;
  }
  finishMap(result, value);
  return kept === 0 ? undefined : result;
}
