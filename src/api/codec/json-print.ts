import { stringifyExact } from './exact-json';
import { isLarge, keysOf, type Steps } from '../parts';

/** Text is turned into bytes when there is so much of it. */
const CHUNK_CHARACTERS = 64 * 1024;

/** What `JSON.stringify` gives, and whether reading it gives the same value again. */
export interface PrintedJson {
  readonly bytes: Buffer;
  readonly isPlain: boolean;
}

/** `JSON.stringify`, a part of a value at a time; `end` is text that follows. `indent`: spaces for each level, as it takes them. */
export function* printJson(value: object, end = '', indent = 0): Steps<PrintedJson> {
  const printer = new JsonPrinter(' '.repeat(indent));
  yield* printer.print(value);
  printer.write(end);
  return { bytes: printer.bytes(), isPlain: printer.isPlain };
}

class JsonPrinter {
  isPlain = true;
  private readonly chunks: Buffer[] = [];
  private text = '';
  /** Before the members of the container that is being written; empty where nothing is indented. */
  private lineBreak: string;
  private readonly colon: string;

  constructor(private readonly indent: string) {
    this.lineBreak = indent === '' ? '' : '\n';
    this.colon = indent === '' ? ':' : ': ';
  }

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
    const text = stringifyExact(value, this.indent.length) ?? 'null';
    // Texts have no line breaks in JSON: all that there are stand between values.
    this.write(this.indent === '' ? text : text.replaceAll('\n', this.lineBreak));
  }

  private *printList(list: readonly unknown[]): Steps<void> {
    const outer = this.lineBreak;
    this.lineBreak = outer + this.indent;
    let separator = '[';
    for (const item of list) {
      this.write(separator + this.lineBreak);
      separator = ',';
      if (isLarge(item)) yield* this.print(item);
      else this.printWhole(item);
      yield;
    }
    this.lineBreak = outer;
    this.write(`${outer}]`);
  }

  private *printMap(map: Readonly<Record<string, unknown>>): Steps<void> {
    this.isPlain &&= hasPlainPrototype(map);
    const outer = this.lineBreak;
    this.lineBreak = outer + this.indent;
    let separator = '{';
    for (const key of keysOf(map)) {
      const value = map[key];
      if (value === undefined) {
        this.isPlain = false;
        continue;
      }
      this.write(`${separator}${this.lineBreak}${JSON.stringify(key)}${this.colon}`);
      separator = ',';
      if (isLarge(value)) yield* this.print(value);
      else this.printWhole(value);
      yield;
    }
    this.lineBreak = outer;
    this.write(separator === '{' ? '{}' : `${outer}}`);
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
