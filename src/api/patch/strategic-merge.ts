import { badRequest } from '../errors/status-error';
import { isList, isObject, memberOf, setMember } from '../apply/members';
import { copyMap, finishMap } from '../copy-map';
import type { JsonObject, JsonValue } from '../object';
import type { ListTypeRef, StructType, TypeRef } from '../schema/model';
import {
  checkOrder,
  identityOf,
  itemsAreMaps,
  joinScalars,
  missingMergeKey,
  orderMerged,
  PATCH_DIRECTIVE,
  placesOf,
  SET_ELEMENT_ORDER,
  unknownPatchType,
} from './strategic-merge-list';
import { IdentityPlaces } from './identity-places';
import { RepeatedMerges } from './repeated-merges';

/** What a patch says of the value at one place, as the schema declares it. */
interface Place {
  readonly type: TypeRef;
  readonly replaced: boolean;
}

type Members = Record<string, JsonValue>;

const ANY: TypeRef = { kind: 'any' };
const RETAIN_KEYS = '$retainKeys';
const DELETE_FROM_PRIMITIVE_LIST = '$deleteFromPrimitiveList';

/**
 * Strategic merge patch: maps are merged, lists are merged by key or value where the schema says so and replaced elsewhere,
 * null removes, and directives in the patch do the rest. `type` is the struct of the object's kind. The answer may not fit
 * the type (the patch may set anything); see {@link strategicPatchDoesNotFit}. Throws a StatusError with 400 or 422 when a directive
 * is malformed or an item lacks its key.
 */
export function applyStrategicMergePatch(type: StructType, original: JsonObject, patch: JsonObject): JsonObject {
  return mergeMaps({ type, replaced: false }, original, patch, new RepeatedMerges());
}

function placeOf(type: TypeRef, name: string): Place {
  switch (type.kind) {
    case 'struct': {
      const field = type.fields.get(name);
      return { type: field?.type ?? ANY, replaced: field?.patchStrategy === 'replace' };
    }
    case 'map':
      return { type: type.values, replaced: false };
    default:
      return { type: ANY, replaced: false };
  }
}

function mergeMaps(
  { type, replaced }: Place,
  original: JsonObject,
  patch: JsonObject,
  repeated: RepeatedMerges,
): JsonObject {
  if (replaced) return taken(type, patch) as JsonObject;
  const directive = memberOf(patch, PATCH_DIRECTIVE);
  if (directive !== undefined) return followDirective(type, directive, patch);

  const result = retained(original, patch);
  const ordered = mergeOrderedLists(type, result, patch, repeated);
  for (const key of Object.keys(patch)) {
    if (key === RETAIN_KEYS || key.startsWith(SET_ELEMENT_ORDER) || ordered.has(key)) continue;
    const value = patch[key] as JsonValue;
    if (key.startsWith(DELETE_FROM_PRIMITIVE_LIST)) {
      deleteFromList(result, listName(key, DELETE_FROM_PRIMITIVE_LIST), value);
    } else if (value === null) {
      delete result[key];
    } else {
      setMember(result, key, mergeValues(placeOf(type, key), memberOf(result, key), value, repeated));
    }
  }
  finishMap(result, original, patch);
  return result;
}

function followDirective(type: TypeRef, directive: JsonValue, patch: JsonObject): JsonObject {
  if (directive === 'delete') return {};
  if (directive !== 'replace') throw unknownPatchType(directive, patch);
  const { [PATCH_DIRECTIVE]: _, ...content } = patch;
  return taken(type, content) as JsonObject;
}

/** A copy of the original with only the members that `$retainKeys` names, if the patch has it. */
function retained(original: JsonObject, patch: JsonObject): Members {
  const keys = memberOf(patch, RETAIN_KEYS);
  if (keys === undefined) return copyMap(original);
  if (!isList(keys)) throw badRequest('invalid patch format of retainKeys');
  const kept: ReadonlySet<JsonValue> = new Set(keys);
  for (const key of Object.keys(patch)) {
    const directive =
      key === RETAIN_KEYS || key.startsWith(DELETE_FROM_PRIMITIVE_LIST) || key.startsWith(SET_ELEMENT_ORDER);
    if (patch[key] !== null && !directive && !kept.has(key)) throw badRequest('invalid patch format of retainKeys');
  }
  const result: Members = {};
  for (const key of Object.keys(original)) if (kept.has(key)) setMember(result, key, original[key] as JsonValue);
  return result;
}

/** The list's name in `$setElementOrder/containers`. */
function listName(key: string, directive: string): string {
  const slash = key.indexOf('/');
  if (slash >= 0 && key.slice(0, slash) === directive) return key.slice(slash + 1);
  throw badRequest(
    directive === SET_ELEMENT_ORDER
      ? 'invalid patch format of setElementOrder list'
      : 'invalid patch format of primitive list',
  );
}

function expectList(value: JsonValue): readonly JsonValue[] {
  if (isList(value)) return value;
  const received = isObject(value)
    ? 'map[string]interface {}'
    : { string: 'string', boolean: 'bool', number: 'int64', bigint: 'int64' }[typeof value as string];
  throw badRequest(`expected a []interface {}, but received a ${received ?? '<nil>'}`);
}

/** Merges the lists for which the patch gives an order, and answers the names of those that are done with. */
function mergeOrderedLists(
  type: TypeRef,
  result: Members,
  patch: JsonObject,
  repeated: RepeatedMerges,
): ReadonlySet<string> {
  const done = new Set<string>();
  for (const key of Object.keys(patch)) {
    if (!key.startsWith(SET_ELEMENT_ORDER)) continue;
    const order = expectList(patch[key] as JsonValue);
    const name = listName(key, SET_ELEMENT_ORDER);
    const { type: listType } = placeOf(type, name);
    const mergeKey = listType.kind === 'list' ? listType.patchMergeKey : undefined;
    const before = listOrNothing(memberOf(result, name));
    const change = listOrNothing(memberOf(patch, name));
    checkOrder(change ?? [], order, mergeKey);
    if (change !== undefined) done.add(name);
    const merged =
      before === undefined
        ? change && (taken(listType, change) as readonly JsonValue[])
        : mergeLists(listType, before, change ?? (isMerged(listType) ? [] : before), repeated);
    if (merged !== undefined) setMember(result, name, orderMerged(merged, order, before ?? [], mergeKey));
  }
  return done;
}

function listOrNothing(value: JsonValue | undefined): readonly JsonValue[] | undefined {
  return value === undefined || value === null ? undefined : expectList(value);
}

function isMerged(type: TypeRef): type is ListTypeRef {
  return type.kind === 'list' && type.patchStrategy === 'merge';
}

function mergeValues(
  place: Place,
  original: JsonValue | undefined,
  patch: JsonValue,
  repeated: RepeatedMerges,
): JsonValue {
  if (isObject(original) && isObject(patch)) return mergeMaps(place, original, patch, repeated);
  if (isList(original) && isList(patch)) return mergeLists(place.type, original, patch, repeated);
  return taken(place.type, patch);
}

function mergeLists(
  type: TypeRef,
  original: readonly JsonValue[],
  patch: readonly JsonValue[],
  repeated: RepeatedMerges,
): readonly JsonValue[] {
  if (!isMerged(type)) return taken(type, patch) as readonly JsonValue[];
  if (original.length === 0 && patch.length === 0) return original;
  if (!itemsAreMaps(original, patch)) {
    return orderMerged(joinScalars(original, patch), patch, original, undefined);
  }
  const mergeKey = type.patchMergeKey;
  if (mergeKey === undefined) throw badRequest('cannot merge lists without merge key');
  const { base, items } = followItemDirectives(original, patch as readonly JsonObject[], mergeKey);
  return orderMerged(mergeItems(type, base, items, mergeKey, repeated), items, base, mergeKey);
}

/** The items of the patch merged into those of the same key; others follow. */
function mergeItems(
  type: ListTypeRef,
  base: readonly JsonValue[],
  items: readonly JsonObject[],
  mergeKey: string,
  repeated: RepeatedMerges,
): readonly JsonValue[] {
  const place: Place = { type: type.items, replaced: false };
  const merged: JsonValue[] = [];
  for (const item of base) merged.push(item);
  const places = placesOf(base, mergeKey);
  const named = new Set<number>();
  for (const item of items) {
    const identity = memberOf(item, mergeKey);
    if (identity === undefined) throw missingMergeKey(item, mergeKey);
    const index = places.placeOf(identity);
    if (index < 0) {
      const added = taken(type.items, item);
      places.note(identityOf(added, mergeKey), merged.length);
      named.add(merged.length);
      merged.push(added);
    } else {
      const before = merged[index] as JsonObject;
      if (named.has(index)) repeated.again(before);
      named.add(index);
      merged[index] = mergeMaps(place, before, item, repeated);
    }
  }
  return merged;
}

/** `$patch: delete` takes items out; one `$patch: replace` makes the other items of the patch the whole list. */
function followItemDirectives(
  original: readonly JsonValue[],
  patch: readonly JsonObject[],
  mergeKey: string,
): { readonly base: readonly JsonValue[]; readonly items: readonly JsonObject[] } {
  const deleted = new IdentityPlaces();
  let replace = false;
  const items: JsonObject[] = [];
  for (const item of patch) {
    const directive = memberOf(item, PATCH_DIRECTIVE);
    if (directive === undefined) {
      items.push(item);
    } else if (directive === 'delete') {
      const identity = memberOf(item, mergeKey);
      if (identity === undefined) throw missingMergeKey(item, mergeKey);
      deleted.note(identity, 0);
    } else if (directive === 'replace') {
      replace = true;
    } else if (directive === 'merge') {
      throw badRequest('merging lists cannot yet be specified in the patch');
    } else {
      throw unknownPatchType(directive, item);
    }
  }
  if (replace) return { base: items, items: [] };
  if (items.length === patch.length) return { base: original, items };
  const base: JsonValue[] = [];
  for (const other of original) if (deleted.placeOf(identityOf(other, mergeKey)) < 0) base.push(other);
  return { base, items };
}

function deleteFromList(result: Members, name: string, unwanted: JsonValue): void {
  const original = memberOf(result, name);
  if (original === undefined) return;
  if (isList(original) && isList(unwanted)) {
    const gone: ReadonlySet<JsonValue> = new Set(unwanted);
    const kept: JsonValue[] = [];
    for (const item of original) if (!gone.has(item)) kept.push(item);
    setMember(result, name, kept);
  } else setMember(result, name, unwanted);
}

function isDirective(key: string): boolean {
  return (
    key === PATCH_DIRECTIVE ||
    key === RETAIN_KEYS ||
    key.startsWith(`${SET_ELEMENT_ORDER}/`) ||
    key.startsWith(`${DELETE_FROM_PRIMITIVE_LIST}/`)
  );
}

/**
 * A value of the patch that meets nothing to merge with. Nulls have nothing to remove and go. Directives go where the
 * schema knows the fields; in a map whose keys users choose they are keys like any other.
 */
function taken(type: TypeRef, value: JsonValue): JsonValue {
  if (isList(value)) {
    const items = type.kind === 'list' ? type.items : ANY;
    const list: JsonValue[] = [];
    for (const item of value) list.push(taken(items, item));
    return list;
  }
  if (!isObject(value)) return value;
  const result: Members = {};
  for (const key of Object.keys(value)) {
    const member = value[key];
    if (member === undefined || member === null || (type.kind === 'struct' && isDirective(key))) continue;
    setMember(result, key, taken(placeOf(type, key).type, member));
  }
  finishMap(result, value);
  return result;
}
