import { stringifyExact } from './exact-json';
import { isLarge, keysOf, type Steps } from '../parts';

/** Text is turned into bytes when there is so much of it. */
const CHUNK_CHARACTERS = 64 * 1024;

/** What `JSON.stringify` gives, and whether reading it gives the same value again. */
export interface PrintedJson {
  readonly bytes: Buffer;
  readonly isPlain: boolean;
}

/** `JSON.stringify`, a part of a value at a time; `end` is text that follows. */
export function* printJson(value: object, end = ''): Steps<PrintedJson> {
  const printer = new JsonPrinter();
  yield* printer.print(value);
  printer.write(end);
  return { bytes: printer.bytes(), isPlain: printer.isPlain };
}

class JsonPrinter {
  isPlain = true;
  private readonly chunks: Buffer[] = [];
  private text = '';

  /** A value that is not undefined. */
  *print(value: unknown): Steps<void> {
    if (!isLarge(value)) this.printWhole(value);
    else if (Array.isArray(value)) yield* this.printList(value);
    else yield* this.printMap(value as Readonly<Record<string, unknown>>);
  }

  write(text: string): void {
    this.text += text;
    if (this.text.length < CHUNK_CHARACTERS) return;
    this.chunks.push(Buffer.from(this.text));
    this.text = '';
  }

  bytes(): Buffer {
    return Buffer.concat([...this.chunks, Buffer.from(this.text)]);
  }

  private printWhole(value: unknown): void {
    this.isPlain &&= isJson(value);
    this.write(stringifyExact(value) ?? 'null');
  }

  private *printList(list: readonly unknown[]): Steps<void> {
    let separator = '[';
    for (const item of list) {
      this.write(separator);
      separator = ',';
      if (isLarge(item)) yield* this.print(item);
      else this.printWhole(item);
      yield;
    }
    this.write(']');
  }

  private *printMap(map: Readonly<Record<string, unknown>>): Steps<void> {
    this.isPlain &&= hasPlainPrototype(map);
    let separator = '{';
    for (const key of keysOf(map)) {
      const value = map[key];
      if (value === undefined) {
        this.isPlain = false;
        continue;
      }
      this.write(`${separator}${JSON.stringify(key)}:`);
      separator = ',';
      if (isLarge(value)) yield* this.print(value);
      else this.printWhole(value);
      yield;
    }
    this.write(separator === '{' ? '{}' : '}');
  }
}

/** Whether a value is as it would be if it were written as JSON and read again: nothing undefined, no other objects. */
export function isJson(value: unknown): boolean {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return true;
  // A whole number beyond 2^53 is read as another sort of number.
  if (typeof value === 'number') return Number.isSafeInteger(value) || (Number.isFinite(value) && value % 1 !== 0);
  if (Array.isArray(value)) return value.every(isJson);
  if (typeof value !== 'object' || !hasPlainPrototype(value)) return false;
  for (const name in value) if (!isJson((value as Readonly<Record<string, unknown>>)[name])) return false;
  return true;
}

function hasPlainPrototype(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
