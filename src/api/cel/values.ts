import { Uint } from './ast';

/**
 * What expressions compute with. Integers are bigints, doubles numbers. Data of the API is not copied: lists and maps look at
 * it, and make of each member a value of its declared type when it is asked for.
 */
export type Value =
  | null
  | boolean
  | bigint
  | number
  | string
  | Uint
  | Uint8Array
  | ListValue
  | MapValue
  | ObjectValue
  | Timestamp
  | Duration
  | Optional
  | TypeValue
  | Opaque;

/** Why an evaluation has no result. It is thrown, and has no stack: conditions catch many. */
export class EvalError {
  constructor(readonly message: string) {}
}

export abstract class ListValue {
  abstract readonly length: number;
  abstract at(index: number): Value;

  /** `list + list`. */
  concat(other: ListValue): ListValue {
    const items: Value[] = [];
    for (let index = 0; index < this.length; index += 1) items.push(this.at(index));
    for (let index = 0; index < other.length; index += 1) items.push(other.at(index));
    return new Items(items);
  }

  /** Undefined: as lists are compared. */
  equals(_other: ListValue): boolean | undefined {
    return undefined;
  }
}

/** A list that an expression has made. */
export class Items extends ListValue {
  constructor(readonly items: readonly Value[]) {
    super();
  }

  get length(): number {
    return this.items.length;
  }

  at(index: number): Value {
    return this.items[index] as Value;
  }
}

export abstract class MapValue {
  abstract readonly size: number;
  /** Undefined: there is no such key. */
  abstract get(key: Value): Value | undefined;
  abstract keys(): readonly Value[];
}

/** A map that an expression has made. */
export class Entries extends MapValue {
  readonly #entries: ReadonlyMap<string, readonly [Value, Value]>;
  #keys: readonly Value[] | undefined;

  constructor(entries: ReadonlyMap<string, readonly [Value, Value]>) {
    super();
    this.#entries = entries;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: Value): Value | undefined {
    const text = keyText(key);
    return text === undefined ? undefined : this.#entries.get(text)?.[1];
  }

  keys(): readonly Value[] {
    return (this.#keys ??= Array.from(this.#entries.values(), ([key]) => key));
  }

  entries(): ReadonlyMap<string, readonly [Value, Value]> {
    return this.#entries;
  }
}

/** The same text for keys that are equal; undefined for what is no key. Integers of all types are equal by value. */
export function keyText(key: Value): string | undefined {
  if (typeof key === 'string') return `s${key}`;
  if (typeof key === 'bigint') return `n${key}`;
  if (typeof key === 'boolean') return `b${key}`;
  if (key instanceof Uint) return `n${key.value}`;
  if (typeof key === 'number' && Number.isInteger(key)) return `n${BigInt(key)}`;
  return undefined;
}

/** A struct: an absent field and an unknown one are not the same. */
export abstract class ObjectValue {
  abstract readonly typeName: string;
  /** Undefined: it is not set. */
  abstract get(field: string): Value | undefined;
  abstract fields(): readonly string[];
}

/** Nanoseconds since the epoch. */
export class Timestamp {
  constructor(readonly nanos: bigint) {}
}

export class Duration {
  constructor(readonly nanos: bigint) {}
}

export class Optional {
  constructor(readonly value: Value | undefined) {}
}

export const NONE = new Optional(undefined);

export class TypeValue {
  constructor(readonly name: string) {}
}

/** A value of a library's type. */
export abstract class Opaque {
  abstract readonly typeName: string;
  abstract equals(other: Opaque): boolean;
}

/** What an operation on the value costs by its size: that of lists, maps and texts, 1 for anything else. */
export function costSize(value: Value): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 1;
  if (value instanceof ListValue || value instanceof Uint8Array) return value.length;
  return value instanceof MapValue ? value.size : 1;
}

export function typeNameOf(value: Value): string {
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'bigint':
      return 'int';
    case 'number':
      return 'double';
    case 'boolean':
      return 'bool';
    default:
  }
  if (value === null) return 'null_type';
  if (value instanceof Uint) return 'uint';
  if (value instanceof Uint8Array) return 'bytes';
  if (value instanceof ListValue) return 'list';
  if (value instanceof MapValue) return 'map';
  if (value instanceof Timestamp) return 'google.protobuf.Timestamp';
  if (value instanceof Duration) return 'google.protobuf.Duration';
  if (value instanceof Optional) return 'optional_type';
  if (value instanceof TypeValue) return 'type';
  return value.typeName;
}
