import type { JsonValue } from '../object';
import { isLarge, keysOf, type Steps } from '../parts';
import { isJsonList, isJsonObject, valueSchema, type JsonSchema } from './json-schema';
import { listKeyOf } from './list-key';

/** Finds the item of an old list that an item of the new one stands for. */
export type Counterpart = (item: JsonValue, index: number) => JsonValue | undefined;

/** Items of keyed lists have theirs by key, those of sets and atomic lists none, all others by their place. */
export function counterpartsIn(old: readonly JsonValue[], schema: JsonSchema): Counterpart {
  switch (schema['x-kubernetes-list-type']) {
    case 'map':
      return byKey(old, schema['x-kubernetes-list-map-keys'] ?? []);
    case 'set':
    case 'atomic':
      return () => undefined;
    default:
      return (_, index) => old[index] ?? undefined;
  }
}

function byKey(old: readonly JsonValue[], keys: readonly string[]): Counterpart {
  const items = new Map<string, JsonValue>();
  for (const item of old) {
    const key = listKeyOf(item, keys);
    if (!items.has(key)) items.set(key, item);
  }
  return (item) => items.get(listKeyOf(item, keys));
}

/**
 * The parts of a changed object that are as they were. What is wrong with them does not stand in the way of the change
 * (kube-apiserver's CRDValidationRatcheting). The order of a keyed list counts for nothing.
 */
export class Unchanged {
  /** Maps and lists, with what they are the same as. */
  readonly #pairs = new Map<JsonValue, JsonValue>();

  static *between(schema: JsonSchema, value: JsonValue, old: JsonValue): Steps<Unchanged> {
    const unchanged = new Unchanged();
    yield* unchanged.#compareInSteps(schema, value, old);
    return unchanged;
  }

  has(value: JsonValue, old: JsonValue): boolean {
    return value === old || this.#pairs.get(value) === old;
  }

  /** All parts are looked at, also where one has changed: each may be asked about. */
  #compare(schema: JsonSchema | undefined, value: JsonValue, old: JsonValue): boolean {
    if (value === old) return true;
    let same = haveSameSize(value, old);
    for (const part of partsOf(schema, value, old)) {
      if (part.old === undefined || !this.#compare(part.schema, part.value, part.old)) same = false;
    }
    if (same) this.#pairs.set(value, old);
    return same;
  }

  *#compareInSteps(schema: JsonSchema | undefined, value: JsonValue, old: JsonValue): Steps<boolean> {
    if (value === old) return true;
    if (!isLarge(value)) return this.#compare(schema, value, old);
    let same = haveSameSize(value, old);
    let count = 0;
    for (const part of partsOf(schema, value, old)) {
      if (part.old === undefined || !(yield* this.#compareInSteps(part.schema, part.value, part.old))) same = false;
      count += 1;
      if (count % PARTS_AT_ONCE === 0) yield;
    }
    yield;
    if (same) this.#pairs.set(value, old);
    return same;
  }
}

const PARTS_AT_ONCE = 8;

interface Part {
  /** Undefined: nothing in it is found by key. */
  readonly schema: JsonSchema | undefined;
  readonly value: JsonValue;
  readonly old: JsonValue | undefined;
}

function* partsOf(schema: JsonSchema | undefined, value: JsonValue, old: JsonValue): Generator<Part, void, void> {
  if (isJsonList(value) && isJsonList(old)) {
    const type = schema?.['x-kubernetes-list-type'];
    const asUnit = type === 'set' || type === 'atomic';
    const find = type === 'map' && schema !== undefined ? counterpartsIn(old, schema) : undefined;
    for (const [index, item] of value.entries()) {
      yield { schema: asUnit ? undefined : schema?.items, value: item, old: find ? find(item, index) : old[index] };
    }
  } else if (isJsonObject(value) && isJsonObject(old)) {
    const values = schema && valueSchema(schema);
    for (const name of keysOf(value)) {
      const member = value[name];
      if (member === undefined) continue;
      const ofMember = schema?.properties !== undefined && Object.hasOwn(schema.properties, name);
      yield {
        schema: ofMember ? schema.properties[name] : values,
        value: member,
        old: Object.hasOwn(old, name) ? old[name] : undefined,
      };
    }
  }
}

/** False also for values that have no parts. */
function haveSameSize(value: JsonValue, old: JsonValue): boolean {
  if (isJsonList(value)) return isJsonList(old) && value.length === old.length;
  return isJsonObject(value) && isJsonObject(old) && keysOf(value).length === keysOf(old).length;
}
