import { stringifyExact } from '../codec/exact-json';
import { isList, isObject, setMember } from '../apply/members';
import type { JsonObject, JsonValue } from '../object';

/** Copies values, and counts the bytes of their JSON. */
export class ValueCopier {
  private bytes = 0;

  /** `onTooMuch`: what is thrown when all copies together have more than `maxBytes`. */
  constructor(
    private readonly maxBytes: number,
    private readonly onTooMuch: () => Error,
  ) {}

  copyOf(value: JsonValue): JsonValue {
    if (isList(value)) return this.copyOfList(value);
    if (isObject(value)) return this.copyOfMap(value);
    this.spend(stringifyExact(value));
    return value;
  }

  private copyOfList(items: readonly JsonValue[]): JsonValue {
    const copy: JsonValue[] = [];
    this.spend('[]');
    for (const item of items) {
      if (copy.length > 0) this.spend(',');
      copy.push(this.copyOf(item));
    }
    return copy;
  }

  private copyOfMap(map: JsonObject): JsonValue {
    const copy: Record<string, JsonValue> = {};
    let separator = '';
    this.spend('{}');
    for (const name in map) {
      const value = map[name];
      if (value === undefined) continue;
      this.spend(`${separator}${JSON.stringify(name)}:`);
      separator = ',';
      setMember(copy, name, this.copyOf(value));
    }
    return copy;
  }

  private spend(text: string): void {
    this.bytes += Buffer.byteLength(text);
    if (this.bytes > this.maxBytes) throw this.onTooMuch();
  }
}
