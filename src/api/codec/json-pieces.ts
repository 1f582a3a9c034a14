import { parseExact } from './exact-json';
import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  isBlank,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from './json-bytes';
import { LongText } from './long-text';
import { JsonSyntaxError, MAX_JSON_DEPTH, wholeCharacters } from './json-syntax';
import { rememberKeys, type Steps } from '../parts';
import { setOwn, type MutableObject } from './set-own';

/**
 * JSON parsed a piece at a time, so that a large text does not keep others waiting. The text is looked through for where
 * members of lists and maps begin and end; whole members that follow each other are parsed by the platform.
 */

/** Thrown for a text with more values than are read. */
export class TooManyValuesError extends Error {
  override readonly name = 'TooManyValuesError';
}

/** Thrown for what is no JSON; parseJson says why. */
export class MalformedJsonError extends Error {
  override readonly name = 'MalformedJsonError';
}

/** A list in a map in the outermost map, whose values do not count with the others. */
export interface ListApart {
  readonly map: string;
  readonly list: string;
  readonly maxValues: number;
}

export interface JsonPiecesOptions {
  /** Lists, maps and commas, of which each stands for a value. */
  readonly maxValues: number;
  /** Of one list, those that it may have besides. */
  readonly apart?: ListApart;
  /** How much text is parsed at a time, unless one member is longer. */
  readonly pieceBytes: number;
}

/** A member of a list or a map that is not parsed with those around it. */
interface MemberApart {
  /** Where it begins, and in a map the key before it. */
  readonly start: number;
  readonly keyStart: number;
  readonly keyEnd: number;
  readonly value: unknown;
}

/** A list or a map whose end has not been reached. */
interface OpenContainer extends MemberApart {
  readonly isList: boolean;
  /** What has been parsed of it; undefined: nothing, and all of its text is there yet. */
  value: unknown[] | MutableObject | undefined;
  /** Of a map that is parsed in more than one piece: its keys. To list those of a large one takes long. */
  keys: string[];
  /** Where the text begins that has not been parsed. */
  pending: number;
  /** What that text follows: the bracket, a comma, or a member that was put together here. */
  after: 'start' | 'comma' | 'member';
}

/** A text of more pieces than this is parsed in pieces itself. */
const MOST_TEXT_PIECES = 4;

/** Bytes that are looked through at a time where nothing ends: a long text, or nothing but blanks. */
const SCANNED_BYTES = 256 * 1024;

/** Before the end of what is not blank. */
const TRAILING_COMMA = /,[ \t\n\r]*$/;

export class JsonPieces {
  /** Plain data, once `advance` has returned true. */
  value: unknown;
  private readonly open: OpenContainer[] = [];
  /** So many have been counted, and so many in the list apart. */
  values = 0;
  private valuesApart = 0;
  /** How many containers are open around the list apart, while it is. */
  private apartDepth = Infinity;
  private position = 0;
  /** The text in quotes that was met last. */
  private textStart = 0;
  private textEnd = 0;
  /** One that is being parsed in pieces, and in a map the key before it. */
  private longText: { readonly text: LongText; readonly keyStart: number; readonly keyEnd: number } | undefined;

  constructor(
    private readonly bytes: Buffer,
    private readonly options: JsonPiecesOptions,
  ) {}

  /** What the text says, with a step for each piece. Throws as {@link advance} does. */
  *steps(): Steps<unknown> {
    while (!this.advance()) yield;
    return this.value;
  }

  /**
   * Does a piece of the work. True: all is done. Throws {@link TooManyValuesError}, {@link JsonSyntaxError} for what nests
   * too deep, and {@link MalformedJsonError}.
   */
  advance(): boolean {
    const { bytes } = this;
    if (this.longText !== undefined) {
      this.advanceText();
      return false;
    }
    const pieceEnd = this.position + this.options.pieceBytes;
    const scanEnd = this.position + Math.max(SCANNED_BYTES, this.options.pieceBytes);
    while (this.position < bytes.length) {
      if (this.position >= scanEnd) return false;
      switch (bytes[this.position]) {
        case QUOTE:
          this.passText();
          if (this.longText !== undefined) return false;
          continue;
        case COMMA:
          this.count();
          if (this.position >= pieceEnd && this.open.length > 0) {
            this.parseOpen();
            this.position += 1;
            return false;
          }
          break;
        case OPEN_BRACE:
          this.enter(false);
          break;
        case OPEN_BRACKET:
          this.enter(true);
          break;
        case CLOSE_BRACE:
          if (this.leave(false)) return true;
          break;
        case CLOSE_BRACKET:
          if (this.leave(true)) return true;
          break;
        default:
          break;
      }
      this.position += 1;
    }
    if (this.open.length > 0) throw new MalformedJsonError();
    this.value = parse(this.text(0, bytes.length));
    return true;
  }

  private count(): void {
    if (this.apartDepth !== Infinity) return this.countApart();
    this.values += 1;
    if (this.values > this.options.maxValues) {
      throw new TooManyValuesError(`the body has more than ${this.options.maxValues} values`);
    }
  }

  private countApart(): void {
    const { list, maxValues } = this.options.apart!;
    this.valuesApart += 1;
    if (this.valuesApart > maxValues) throw new TooManyValuesError(`${list} has more than ${maxValues} values`);
  }

  /** Whether the list that begins here is the one apart: the names of it and of the map around it are those that were met last. */
  private isApart(): boolean {
    const { apart } = this.options;
    if (apart === undefined || this.open.length !== 2 || this.open[0]!.isList) return false;
    const around = this.open[1]!;
    return (
      !around.isList &&
      this.isText(around.keyStart, around.keyEnd, apart.map) &&
      this.isText(this.textStart, this.textEnd, apart.list)
    );
  }

  private isText(start: number, end: number, text: string): boolean {
    return end - start === text.length + 2 && this.bytes.toString('latin1', start + 1, end - 1) === text;
  }

  /** To after the quote that ends the text which begins here. */
  private passText(): void {
    const { bytes } = this;
    let end = this.position + 1;
    for (; end < bytes.length && bytes[end] !== QUOTE; end += 1) if (bytes[end] === BACKSLASH) end += 1;
    if (end >= bytes.length) throw new MalformedJsonError();
    const { position, textStart: keyStart, textEnd: keyEnd } = this;
    this.textStart = position;
    this.textEnd = end + 1;
    this.position = end + 1;
    const { pieceBytes } = this.options;
    if (end - position > MOST_TEXT_PIECES * pieceBytes && this.isMember(position)) {
      this.longText = { text: new LongText(bytes, position + 1, end, pieceBytes), keyStart, keyEnd };
    }
  }

  /** Whether the text that begins there belongs to a list, or to a map and is no key. */
  private isMember(position: number): boolean {
    const container = this.open.at(-1);
    if (container === undefined) return false;
    if (container.isList) return true;
    let before = position - 1;
    while (isBlank(this.bytes[before])) before -= 1;
    return this.bytes[before] === COLON;
  }

  private advanceText(): void {
    const { text, keyStart, keyEnd } = this.longText!;
    if (!isParsed(text)) return;
    this.longText = undefined;
    this.parseBefore({ start: this.textStart, keyStart, keyEnd, value: text.value }, this.open.length - 1);
    this.passMember(this.open.at(-1)!, this.textEnd);
  }

  private enter(isList: boolean): void {
    if (this.open.length === 0 && !this.isBlank(0, this.position)) throw new MalformedJsonError();
    if (this.open.length === MAX_JSON_DEPTH) throw new JsonSyntaxError('exceeded max depth');
    this.count();
    if (isList && this.isApart()) this.apartDepth = this.open.length;
    const { position, textStart, textEnd } = this;
    this.open.push({
      isList,
      start: position,
      keyStart: textStart,
      keyEnd: textEnd,
      value: undefined,
      keys: [],
      pending: position + 1,
      after: 'start',
    });
  }

  /** True: the whole text is parsed. */
  private leave(isList: boolean): boolean {
    const container = this.open.pop();
    if (container === undefined || container.isList !== isList) throw new MalformedJsonError();
    if (this.open.length === this.apartDepth) this.apartDepth = Infinity;
    const parent = this.open.at(-1);
    // As long as nothing of it has been parsed it is a part of its parent's text.
    if (container.value === undefined && parent !== undefined) return false;
    this.parseRest(container, this.position);
    rememberKeys(container.value as object, container.keys);
    if (parent !== undefined) {
      this.passMember(parent, this.position + 1);
      return false;
    }
    if (!this.isBlank(this.position + 1, this.bytes.length)) throw new MalformedJsonError();
    this.value = container.value;
    return true;
  }

  /** What was put together apart ends there. */
  private passMember(container: OpenContainer, end: number): void {
    container.pending = end;
    container.after = 'member';
  }

  /** Parses all members that have ended at the comma where we are, from the innermost container outwards. */
  private parseOpen(): void {
    const innermost = this.open.at(-1)!;
    const isNew = innermost.value === undefined;
    this.parseToComma(innermost);
    if (isNew) this.parseBefore(innermost, this.open.length - 2);
  }

  /** Adds a member to the open container with that index, and what is before it in this one and those around it. */
  private parseBefore(member: MemberApart, index: number): void {
    let [child, isNew] = [member, true];
    // Where something of a container has been parsed, so has all that comes before it.
    for (let at = index; isNew && at >= 0; at -= 1) {
      const parent = this.open[at]!;
      isNew = parent.value === undefined;
      this.parseToChild(parent, child);
      child = parent;
    }
  }

  private parseToComma(container: OpenContainer): void {
    const text = this.text(container.pending, this.position);
    if (container.after === 'member') {
      if (text !== '') addMembers(container, withoutLeadingComma(text));
    } else addMembers(container, text);
    container.pending = this.position + 1;
    container.after = 'comma';
  }

  /** The members before one that has not ended, and that one as far as it has been parsed. */
  private parseToChild(parent: OpenContainer, child: MemberApart): void {
    const end = parent.isList ? child.start : child.keyStart;
    const text = this.text(parent.pending, end);
    const members = parent.after === 'member' ? withoutLeadingComma(text) : text;
    if (members === '') parent.value ??= parent.isList ? [] : {};
    else {
      if (!TRAILING_COMMA.test(members)) throw new MalformedJsonError();
      addMembers(parent, members.replace(TRAILING_COMMA, ''));
    }
    if (Array.isArray(parent.value)) parent.value.push(child.value);
    else {
      if (child.keyStart < parent.pending || this.text(child.keyEnd, child.start) !== ':') {
        throw new MalformedJsonError();
      }
      addMember(parent, parse(this.text(child.keyStart, child.keyEnd)) as string, child.value);
    }
  }

  /** The members up to the end of the container. */
  private parseRest(container: OpenContainer, end: number): void {
    const text = this.text(container.pending, end);
    if (text !== '') addMembers(container, container.after === 'member' ? withoutLeadingComma(text) : text);
    else if (container.after === 'comma') throw new MalformedJsonError();
    else container.value ??= container.isList ? [] : {};
  }

  /** What stands there, without the blanks around it, of which there may be megabytes. */
  private text(from: number, to: number): string {
    const { bytes } = this;
    let [start, end] = [from, to];
    while (start < end && isBlank(bytes[start])) start += 1;
    while (end > start && isBlank(bytes[end - 1])) end -= 1;
    return bytes.toString('utf8', start, end);
  }

  private isBlank(from: number, to: number): boolean {
    for (let index = from; index < to; index += 1) if (!isBlank(this.bytes[index])) return false;
    return true;
  }
}

/** Parses a part of it. True: it was the last one. */
function isParsed(text: LongText): boolean {
  try {
    return text.advance();
  } catch {
    throw new MalformedJsonError();
  }
}

function parse(text: string): unknown {
  try {
    return wholeCharacters(text, parseExact(text));
  } catch {
    throw new MalformedJsonError();
  }
}

function withoutLeadingComma(text: string): string {
  if (!text.startsWith(',')) throw new MalformedJsonError();
  return text.slice(1);
}

/** Parses members, of which there must be one at least, and adds them to what has been parsed of their container. */
function addMembers(container: OpenContainer, members: string): void {
  if (members === '') throw new MalformedJsonError();
  const { value } = container;
  const added = parse(container.isList ? `[${members}]` : `{${members}}`) as unknown[] | MutableObject;
  if (value === undefined) {
    container.value = added;
    if (!container.isList) container.keys = Object.keys(added);
  } else if (Array.isArray(value)) for (const item of added as unknown[]) value.push(item);
  else for (const key of Object.keys(added)) addMember(container, key, (added as MutableObject)[key]);
}

function addMember({ value, keys }: OpenContainer, key: string, member: unknown): void {
  const map = value as MutableObject;
  if (!Object.hasOwn(map, key)) keys.push(key);
  setOwn(map, key, member);
}
