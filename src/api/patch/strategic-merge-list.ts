import { badRequest, StatusError } from '../errors/status-error';
import type { JsonObject, JsonValue } from '../object';
import { printGoValue } from '../apply/go-text';
import { isList, isObject, memberOf } from '../apply/members';
import { jsonEqual } from './json-equal';

/** The lists of strategic merge patch: which item is which, and where items stand afterwards. */

export const PATCH_DIRECTIVE = '$patch';
export const SET_ELEMENT_ORDER = '$setElementOrder';

export function missingMergeKey(item: JsonObject, mergeKey: string): StatusError {
  return badRequest(`map: ${printGoValue(item)} does not contain declared merge key: ${mergeKey}`);
}

export function unknownPatchType(directive: JsonValue, holder: JsonObject): StatusError {
  return badRequest(`unknown patch type: ${printGoValue(directive)} in map: ${printGoValue(holder)}`);
}

/**
 * Whether the items of both lists are maps. All of them must be of one JSON type; lists of lists cannot be merged.
 */
export function itemsAreMaps(original: readonly JsonValue[], patch: readonly JsonValue[]): boolean {
  const sort = (value: JsonValue): string => (isList(value) ? 'list' : value === null ? 'null' : typeof value);
  let first: string | undefined;
  for (const item of [...original, ...patch]) {
    const kind = sort(item);
    if (kind === 'list') throw new StatusError(422, undefined, 'lists of lists are not supported');
    first ??= kind;
    if (kind !== first) {
      throw badRequest(`list element types are not identical: ${printGoValue([original, patch])}`);
    }
  }
  return first === 'object';
}

/** The key of an item: itself for scalars, the value of its merge key for maps. */
export function identityOf(item: JsonValue, mergeKey: string | undefined): JsonValue | undefined {
  if (mergeKey === undefined) return item;
  return isObject(item) ? memberOf(item, mergeKey) : undefined;
}

export function indexOfIdentity(
  list: readonly JsonValue[],
  identity: JsonValue | undefined,
  mergeKey: string | undefined,
): number {
  if (identity === undefined) return -1;
  return list.findIndex((item) => jsonEqual(identityOf(item, mergeKey), identity));
}

/** Without repetitions; the first of each stays. */
export function deduplicateScalars(items: readonly JsonValue[]): JsonValue[] {
  return [...new Set(items)];
}

/**
 * Puts merged items in order. Items that the patch names stand in the patch's order, items that only the server has in
 * theirs; where the two meet, an item of the server goes before one of the patch only if it did so before the patch. This is
 * why an item that is new comes first.
 */
export function orderMerged(
  merged: readonly JsonValue[],
  patchOrder: readonly JsonValue[],
  serverOrder: readonly JsonValue[],
  mergeKey: string | undefined,
): JsonValue[] {
  const place = (order: readonly JsonValue[], item: JsonValue): number =>
    indexOfIdentity(order, identityOf(item, mergeKey), mergeKey);
  const mine = merged.filter((item) => place(patchOrder, item) >= 0);
  const theirs = merged.filter((item) => place(patchOrder, item) < 0);
  mine.sort((left, right) => place(patchOrder, left) - place(patchOrder, right));
  theirs.sort((left, right) => place(serverOrder, left) - place(serverOrder, right));

  const result: JsonValue[] = [];
  let next = 0;
  for (const item of theirs) {
    const before = place(serverOrder, item);
    while (next < mine.length) {
      const other = place(serverOrder, mine[next] as JsonValue);
      if (before >= 0 && other >= 0 && before < other) break;
      result.push(mine[next++] as JsonValue);
    }
    result.push(item);
  }
  return [...result, ...mine.slice(next)];
}

/** The patch's items must be a subsequence of the order that comes with them; items to be deleted do not count. */
export function checkOrder(
  patch: readonly JsonValue[],
  order: readonly JsonValue[],
  mergeKey: string | undefined,
): void {
  if (mergeKey !== undefined) {
    for (const item of order) {
      if (isObject(item) && memberOf(item, mergeKey) === undefined) throw missingMergeKey(item, mergeKey);
    }
  }
  const kept = patch.filter((item) => !isObject(item) || memberOf(item, PATCH_DIRECTIVE) !== 'delete');
  let matched = 0;
  for (const item of order) {
    const wanted = kept[matched];
    if (wanted === undefined) break;
    if (jsonEqual(identityOf(item, mergeKey), identityOf(wanted, mergeKey))) matched++;
  }
  if (matched < kept.length) {
    throw badRequest(
      `The order in patch list:\n${printGoValue(patch)}\n doesn't match ${SET_ELEMENT_ORDER} list:\n${printGoValue(order)}\n`,
    );
  }
}
