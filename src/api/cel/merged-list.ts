import type { JsonValue } from '../object';
import { isJsonObject } from '../custom/json-schema';
import { jsonEqual } from '../patch/json-equal';
import { sortedJson } from '../sorted-json';
import { countWork } from './extra-work';
import { DataList, type Adapter } from './data';
import type { ListValue } from './values';

/**
 * A list that is a set, or a map by some of its items' fields (`x-kubernetes-list-type`): equal to one with the same items in
 * another order, and `+` puts an item that is there already in its place.
 */
export class MergedList extends DataList {
  readonly #keys: readonly string[] | undefined;

  constructor(data: readonly JsonValue[], adapt: Adapter, keys: readonly string[] | undefined) {
    super(data, adapt);
    this.#keys = keys;
  }

  override concat(other: ListValue): ListValue {
    if (!(other instanceof DataList)) return super.concat(other);
    const merged = this.#byKey(this.data);
    for (const [key, item] of this.#byKey(other.data)) merged.set(key, item);
    return new MergedList([...merged.values()], this.adapt, this.#keys);
  }

  override equals(other: ListValue): boolean | undefined {
    if (!(other instanceof DataList)) return undefined;
    countWork(this.data.length + other.data.length);
    if (this.data.length !== other.data.length) return false;
    const left = this.#byKey(this.data);
    const right = this.#byKey(other.data);
    if (left.size !== right.size) return false;
    for (const [key, item] of left) {
      const match = right.get(key);
      if (match === undefined || !jsonEqual(item, match)) return false;
    }
    return true;
  }

  #byKey(items: readonly JsonValue[]): Map<JsonValue, JsonValue> {
    return new Map(items.map((item) => [this.#keyOf(item), item]));
  }

  #keyOf(item: JsonValue): JsonValue {
    if (this.#keys === undefined || !isJsonObject(item)) return comparable(item);
    const [first = '', ...more] = this.#keys;
    if (more.length === 0) return comparable(item[first] ?? null);
    return sortedJson(this.#keys.map((key) => item[key] ?? null));
  }
}

/** A value that a Map finds by what it says: items of one list are of one type. */
function comparable(value: JsonValue): JsonValue {
  return typeof value === 'object' && value !== null ? sortedJson(value) : value;
}
