import type { JsonObject, JsonValue } from '../object';
import { isJsonList, isJsonObject } from '../custom/json-schema';
import { keysOf, PART_VALUES } from '../parts';
import { EvalError, ListValue, MapValue, type Value } from './values';

/** Makes a value of a piece of an object's data. */
export type Adapter = (data: JsonValue) => Value;

/** Data whose type is only known when it is there. */
export const adaptDynamic: Adapter = (data) => {
  if (data === null || typeof data === 'boolean' || typeof data === 'string' || typeof data === 'bigint') return data;
  if (typeof data === 'number') return Number.isSafeInteger(data) ? BigInt(data) : data;
  if (isJsonList(data)) return new DataList(data, adaptDynamic);
  return new DataMap(data, adaptDynamic);
};

/** A list of an object. */
export class DataList extends ListValue {
  constructor(
    readonly data: readonly JsonValue[],
    readonly adapt: Adapter,
  ) {
    super();
  }

  get length(): number {
    return this.data.length;
  }

  at(index: number): Value {
    return this.adapt(this.data[index] as JsonValue);
  }
}

/** A map with texts for keys. */
export class DataMap extends MapValue {
  #names: readonly string[] | undefined;

  constructor(
    readonly data: JsonObject,
    readonly adapt: Adapter,
  ) {
    super();
  }

  get size(): number {
    return this.keys().length;
  }

  get(key: Value): Value | undefined {
    if (typeof key !== 'string' || !Object.hasOwn(this.data, key)) return undefined;
    const member = this.data[key];
    return member === undefined ? undefined : this.adapt(member);
  }

  keys(): readonly string[] {
    return (this.#names ??= namesOf(this.data));
  }
}

/** An expression may ask for the same map for each element of another: the names in a large one are listed once. */
const namesOfLarge = new WeakMap<JsonObject, readonly string[]>();

function namesOf(data: JsonObject): readonly string[] {
  const known = namesOfLarge.get(data);
  if (known !== undefined) return known;
  const names = keysOf(data).filter((name) => data[name] !== undefined);
  if (names.length > PART_VALUES) namesOfLarge.set(data, names);
  return names;
}

/** What is no value of its declared type; validation by the schema has refused it before. */
export function misfit(data: JsonValue, wanted: string): never {
  throw new EvalError(`invalid data, expected ${wanted}, got ${isJsonObject(data) ? 'map' : typeof data}`);
}
