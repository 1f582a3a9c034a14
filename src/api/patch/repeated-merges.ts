import { isList, isObject } from '../apply/members';
import type { JsonValue } from '../object';
import { WorkBudget } from '../work-budget';

/** Values that the items which one patch names again may have together: twice what the largest object has. */
export const MAX_REPEATED_VALUES = 1_000_000;

/**
 * What a strategic merge patch spends on items that it names more than once. Every merge copies what the item has, so that
 * a patch which names a large one a hundred thousand times would copy it as often.
 */
export class RepeatedMerges {
  private readonly budget = new WorkBudget(MAX_REPEATED_VALUES, 'the patch names items of a list too often');

  /** The item is merged once more. Throws a 413 when all such merges together are too much. */
  again(item: JsonValue): void {
    const pending: JsonValue[] = [item];
    for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
      this.budget.spend(1);
      if (isList(value)) for (const one of value) pending.push(one);
      else if (isObject(value)) for (const key of Object.keys(value)) pending.push(value[key] ?? null);
    }
  }
}
