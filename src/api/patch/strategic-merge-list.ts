import { badRequest, StatusError } from '../errors/status-error';
import type { JsonObject, JsonValue } from '../object';
import { printGoValue } from '../apply/go-text';
import { shownPart } from '../errors/shown-value';
import { isList, isObject, memberOf } from '../apply/members';
import { sortInRuns } from '../sort-in-runs';
import { IdentityPlaces } from './identity-places';

/** The lists of strategic merge patch: which item is which, and where items stand afterwards. */

export const PATCH_DIRECTIVE = '$patch';
export const SET_ELEMENT_ORDER = '$setElementOrder';

export function missingMergeKey(item: JsonObject, mergeKey: string): StatusError {
  return badRequest(`map: ${printGoValue(shownPart(item))} does not contain declared merge key: ${mergeKey}`);
}

export function unknownPatchType(directive: JsonValue, holder: JsonObject): StatusError {
  return badRequest(
    `unknown patch type: ${printGoValue(shownPart(directive))} in map: ${printGoValue(shownPart(holder))}`,
  );
}

/**
 * Whether the items of both lists are maps. All of them must be of one JSON type; lists of lists cannot be merged.
 */
export function itemsAreMaps(original: readonly JsonValue[], patch: readonly JsonValue[]): boolean {
  let first: string | undefined;
  for (const list of [original, patch]) {
    for (const item of list) {
      const sort = isList(item) ? 'list' : item === null ? 'null' : typeof item;
      if (sort === 'list') throw new StatusError(422, undefined, 'lists of lists are not supported');
      first ??= sort;
      if (sort !== first) {
        throw badRequest(`list element types are not identical: ${printGoValue(shownPart([original, patch]))}`);
      }
    }
  }
  return first === 'object';
}

/** The key of an item: itself for scalars, the value of its merge key for maps. */
export function identityOf(item: JsonValue, mergeKey: string | undefined): JsonValue | undefined {
  if (mergeKey === undefined) return item;
  return isObject(item) ? memberOf(item, mergeKey) : undefined;
}

/** Where the items stand, each found by its key. */
export function placesOf(list: readonly JsonValue[], mergeKey: string | undefined): IdentityPlaces {
  const places = new IdentityPlaces();
  for (let index = 0; index < list.length; index++) places.note(identityOf(list[index] as JsonValue, mergeKey), index);
  return places;
}

/** The scalars of both lists without repetitions; the first of each stays. */
export function joinScalars(original: readonly JsonValue[], patch: readonly JsonValue[]): readonly JsonValue[] {
  const seen = new Set<JsonValue>();
  const joined: JsonValue[] = [];
  for (const list of [original, patch]) {
    for (const item of list) {
      if (seen.has(item)) continue;
      seen.add(item);
      joined.push(item);
    }
  }
  return joined;
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
  const inPatch = placesOf(patchOrder, mergeKey);
  const onServer = placesOf(serverOrder, mergeKey);
  const ofPatch: PlacedItem[] = [];
  const ofServer: PlacedItem[] = [];
  for (const item of merged) {
    const identity = identityOf(item, mergeKey);
    const placed = { item, inPatch: inPatch.placeOf(identity), onServer: onServer.placeOf(identity) };
    (placed.inPatch >= 0 ? ofPatch : ofServer).push(placed);
  }
  const mine = sortInRuns(ofPatch, (left, right) => left.inPatch - right.inPatch);
  const theirs = sortInRuns(ofServer, (left, right) => left.onServer - right.onServer);

  const result: JsonValue[] = [];
  let next = 0;
  for (const { item, onServer: before } of theirs) {
    for (; next < mine.length; next += 1) {
      const other = mine[next] as PlacedItem;
      if (before >= 0 && other.onServer >= 0 && before < other.onServer) break;
      result.push(other.item);
    }
    result.push(item);
  }
  for (; next < mine.length; next += 1) result.push((mine[next] as PlacedItem).item);
  return result;
}

/** -1 where the item does not stand. */
interface PlacedItem {
  readonly item: JsonValue;
  readonly inPatch: number;
  readonly onServer: number;
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
  // Identities as numbers: comparing two takes one step, however large they are. Items without one are like each other.
  const places = placesOf(order, mergeKey);
  const wanted: (number | undefined)[] = [];
  for (const item of patch) {
    if (isObject(item) && memberOf(item, PATCH_DIRECTIVE) === 'delete') continue;
    wanted.push(numberOf(places, identityOf(item, mergeKey)));
  }
  let matched = 0;
  for (const item of order) {
    if (matched === wanted.length) break;
    if (numberOf(places, identityOf(item, mergeKey)) === wanted[matched]) matched++;
  }
  if (matched < wanted.length) {
    throw badRequest(
      `The order in patch list:\n${printGoValue(shownPart(patch))}\n doesn't match ${SET_ELEMENT_ORDER} list:\n${printGoValue(shownPart(order))}\n`,
    );
  }
}

function numberOf(places: IdentityPlaces, identity: JsonValue | undefined): number | undefined {
  return identity === undefined ? undefined : places.placeOf(identity);
}
