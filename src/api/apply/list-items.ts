import type { JsonValue } from '../object';
import { elementOf } from './item-element';
import { isSameItem, TypedError, type ListMergeType } from './merge-type';
import { printElement, type PathElement } from './path-element';

/**
 * Items of one list that share a name: `joined`, they are one leaf; `refused`, where they have to be told apart a
 * TypedError is thrown.
 */
export type Duplicates = 'joined' | 'refused';

/** The items of a list by name. Items that share a name (which validation of some kinds permits) stand together. */
export function itemsByElement(
  type: ListMergeType,
  items: readonly JsonValue[],
): ReadonlyMap<PathElement, readonly JsonValue[]> {
  const found = new Map<PathElement, JsonValue[]>();
  for (const item of items) {
    const element = elementOf(type, item);
    const twins = found.get(element);
    if (twins === undefined) found.set(element, [item]);
    else twins.push(item);
  }
  return found;
}

/** Whether the lists have items of the same names in the same places; false when in doubt. */
export function areSameItems(type: ListMergeType, left: readonly JsonValue[], right: readonly JsonValue[]): boolean {
  if (left.length !== right.length) return false;
  for (let i = 0; i < left.length; i++) {
    if (!isSameItem(type, left[i] as JsonValue, right[i] as JsonValue)) return false;
  }
  return true;
}

export function refuseTwins(
  duplicates: Duplicates,
  byElement: ReadonlyMap<PathElement, readonly JsonValue[]>,
  items: readonly JsonValue[],
): void {
  if (duplicates === 'joined' || byElement.size === items.length) return;
  for (const [element, { length }] of byElement) {
    if (length > 1) throw new TypedError([{ path: '', message: `duplicate entries for key ${printElement(element)}` }]);
  }
}
