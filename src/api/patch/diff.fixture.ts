import type { JsonObject, JsonValue } from '../object';
import type { ListTypeRef, StructType, TypeRef } from '../schema/model';
import { isList, isObject } from '../apply/members';
import { jsonEqual } from './json-equal';

/** The patches that lead from one object to another, as clients compute them. */

/** RFC 7396. Null cannot be reached. */
export function mergeDiff(before: JsonValue, after: JsonValue): JsonValue {
  if (!isObject(before) || !isObject(after)) return after;
  const patch: Record<string, JsonValue> = {};
  for (const key of Object.keys(before)) if (!Object.hasOwn(after, key)) patch[key] = null;
  for (const [key, value] of entries(after)) {
    const old = before[key];
    if (!jsonEqual(old, value)) patch[key] = old === undefined ? value : mergeDiff(old, value);
  }
  return patch;
}

function entries(object: JsonObject): readonly (readonly [string, JsonValue])[] {
  return Object.entries(object).filter((entry): entry is [string, JsonValue] => entry[1] !== undefined);
}

/** RFC 6902: member by member in maps, from the end in lists. */
export function jsonDiff(before: JsonValue, after: JsonValue, path = ''): JsonValue[] {
  if (isList(before) && isList(after)) return jsonDiffOfLists(before, after, path);
  if (!isObject(before) || !isObject(after)) return [{ op: 'replace', path, value: after }];
  const at = (key: string): string => `${path}/${key.replace(/~/g, '~0').replace(/\//g, '~1')}`;
  return [
    ...Object.keys(before)
      .filter((key) => !Object.hasOwn(after, key))
      .map((key) => ({ op: 'remove', path: at(key) })),
    ...Object.entries(after).flatMap(([key, value]): JsonValue[] =>
      Object.hasOwn(before, key)
        ? jsonDiff(before[key] as JsonValue, value as JsonValue, at(key))
        : [{ op: 'add', path: at(key), value: value as JsonValue }],
    ),
  ];
}

function jsonDiffOfLists(before: readonly JsonValue[], after: readonly JsonValue[], path: string): JsonValue[] {
  const common = Math.min(before.length, after.length);
  return [
    ...before.slice(common).map(() => ({ op: 'remove', path: `${path}/${common}` })),
    ...after.slice(0, common).flatMap((value, i) => jsonDiff(before[i] as JsonValue, value, `${path}/${i}`)),
    ...after.slice(common).map((value) => ({ op: 'add', path: `${path}/-`, value })),
  ];
}

/** What a strategic diff speaks of. */
export interface Scope {
  readonly deletions: boolean;
  readonly changes: boolean;
}

/** A strategic merge patch from `before` to `after`, with orders of lists and keys to retain as kubectl writes them. */
export function strategicDiff(
  type: StructType,
  before: JsonObject,
  after: JsonObject,
  scope: Scope = { deletions: true, changes: true },
): JsonObject {
  return diffMaps(type, before, after, scope);
}

function typeAt(type: TypeRef, name: string): { readonly type: TypeRef; readonly retainKeys: boolean } {
  const field = type.kind === 'struct' ? type.fields.get(name) : undefined;
  if (field !== undefined) return { type: field.type, retainKeys: field.retainKeys };
  return { type: type.kind === 'map' ? type.values : { kind: 'any' }, retainKeys: false };
}

function diffMaps(type: TypeRef, before: JsonObject, after: JsonObject, scope: Scope): JsonObject {
  const patch: Record<string, JsonValue> = {};
  if (scope.deletions) for (const [key] of entries(before)) if (after[key] === undefined) patch[key] = null;
  for (const [key, value] of entries(after)) {
    const old = before[key];
    if (jsonEqual(old, value)) continue;
    const { type: inner, retainKeys } = typeAt(type, key);
    if (isObject(old) && isObject(value) && inner.kind !== 'any') {
      const changed = diffMaps(inner, old, value, scope);
      if (Object.keys(changed).length === 0) continue;
      patch[key] = retainKeys && scope.changes ? { ...changed, $retainKeys: Object.keys(value) } : changed;
    } else if (isList(old) && isList(value) && inner.kind === 'list' && inner.patchStrategy === 'merge') {
      Object.assign(patch, diffLists(inner, key, old, value, scope));
    } else if (scope.changes) patch[key] = value;
  }
  return patch;
}

function diffLists(
  type: ListTypeRef,
  name: string,
  before: readonly JsonValue[],
  after: readonly JsonValue[],
  scope: Scope,
): JsonObject {
  const { patchMergeKey: mergeKey } = type;
  const idOf = (item: JsonValue): JsonValue =>
    mergeKey === undefined ? item : ((item as JsonObject)[mergeKey] ?? null);
  const find = (list: readonly JsonValue[], item: JsonValue) => list.find((one) => jsonEqual(idOf(one), idOf(item)));
  const gone = scope.deletions ? before.filter((item) => find(after, item) === undefined) : [];
  const order = after.map((item) => (mergeKey === undefined ? item : { [mergeKey]: idOf(item) }));
  const ordered: JsonObject = scope.changes ? { [`$setElementOrder/${name}`]: order } : {};
  if (mergeKey === undefined) {
    const added = scope.changes ? after.filter((item) => find(before, item) === undefined) : [];
    return {
      ...(added.length > 0 ? { [name]: added } : {}),
      ...(gone.length > 0 ? { [`$deleteFromPrimitiveList/${name}`]: gone } : {}),
      ...ordered,
    };
  }
  const changed = after.flatMap((item): readonly JsonObject[] => {
    const old = find(before, item) as JsonObject | undefined;
    if (old === undefined) return scope.changes ? [item as JsonObject] : [];
    const inner = diffMaps(type.items, old, item as JsonObject, scope);
    return Object.keys(inner).length === 0 ? [] : [{ ...inner, [mergeKey]: idOf(item) }];
  });
  const deleted = gone.map((item): JsonObject => ({ $patch: 'delete', [mergeKey]: idOf(item) }));
  const items = [...changed, ...deleted];
  return { ...(items.length > 0 ? { [name]: items } : {}), ...ordered };
}
