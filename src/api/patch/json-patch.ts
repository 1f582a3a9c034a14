import { badRequest, StatusError, tooLarge } from '../errors/status-error';
import { isDeeperThan } from '../codec/json-depth';
import { copyMap, finishMap } from '../copy-map';
import { setMember } from '../apply/members';
import { MAX_JSON_DEPTH } from '../codec/json-syntax';
import type { JsonObject, JsonValue } from '../object';
import { WorkBudget } from '../work-budget';
import { ValueCopier } from './copied-value';
import { jsonEqual } from './json-equal';

/**
 * RFC 6902, as kube-apiserver applies it. It is laxer than the RFC where clients have come to rely on it: `replace`
 * creates, `test` takes an absent key for null, `copy` of an absent key gives null, an absent value is null.
 */

export const MAX_OPERATIONS = 10_000;
/** What the copies of one patch may add up to, in bytes of JSON: a few operations could otherwise fill the memory. */
export const MAX_COPIED_BYTES = 3 * 1024 * 1024;

/**
 * How many places items may move along together because others come before them or go. A patch may put ten thousand items at
 * the beginning of a list that has a million.
 */
const MAX_SHIFTED_ITEMS = 16_000_000;

/** Keys and places in a pointer. */
const MAX_PATH_LENGTH = MAX_JSON_DEPTH;
/** In characters. To make a key of megabytes of tildes takes long. */
const MAX_POINTER_LENGTH = 256 * 1024;

type MutableJson = null | boolean | number | string | MutableJson[] | MutableMap;
type MutableMap = { [key: string]: MutableJson };
type Container = MutableJson[] | MutableMap;

/**
 * The document after all operations, or none: `document` and `patch` are not changed. Throws a 400 StatusError when the
 * patch is no list of maps, 413 when it has too many operations, 422 when one of them cannot be applied.
 */
export function applyJsonPatch(document: JsonValue, patch: JsonValue): JsonValue {
  const operations = readOperations(patch);
  if (operations.length > MAX_OPERATIONS) {
    throw tooLarge(
      `Request entity too large: The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${operations.length}`,
    );
  }
  const patching = new Patching(document);
  for (const operation of operations) patching.perform(operation);
  patching.finish();
  if (patching.mayBeDeep && isDeeperThan(patching.document, MAX_JSON_DEPTH)) throw unprocessable();
  return patching.document;
}

function readOperations(patch: JsonValue): readonly JsonObject[] {
  if (patch === null) return [];
  if (!Array.isArray(patch)) throw badRequest('a JSON patch must be a list of operations');
  return patch.map((operation: JsonValue) => {
    if (operation === null) return {};
    if (!isMap(operation)) throw badRequest('each operation of a JSON patch must be an object');
    return operation;
  });
}

/** Which operation failed, and why, is not told on the wire. */
function unprocessable(): StatusError {
  return new StatusError(422, 'Invalid', 'the server rejected our request due to an error in our request', {});
}

/** One document on its way through the operations. What is changed is copied first, and only once. */
class Patching {
  private root: JsonValue;
  private readonly copier = new ValueCopier(MAX_COPIED_BYTES, unprocessable);
  /** Whether something came to stand below something else; a value in the place of another changes no depth. */
  mayBeDeep = false;
  private readonly shifts = new WorkBudget(MAX_SHIFTED_ITEMS, 'the patch moves the items of lists too often');
  /** Containers that were made here and are not shared: of which they are copies, and the keys that were added. */
  private readonly owned = new Map<Container, { readonly original: JsonValue; readonly added: MutableMap }>();

  constructor(document: JsonValue) {
    this.root = document;
  }

  get document(): JsonValue {
    return this.root;
  }

  /** Nothing of the document changes any more. */
  finish(): void {
    for (const [copy, { original, added }] of this.owned)
      if (!Array.isArray(copy)) finishMap(copy, original as JsonObject, added);
  }

  perform(operation: JsonObject): void {
    const path = parsePointer(operation.path);
    switch (operation.op) {
      case 'add':
        return this.addAt(path, operation.value ?? null);
      case 'remove':
        return this.removeAt(path);
      case 'replace':
        return this.replaceAt(path, operation.value ?? null);
      case 'move':
        return this.moveTo(parsePointer(operation.from), path);
      case 'copy':
        return this.copyTo(parsePointer(operation.from), path);
      case 'test':
        if (jsonEqual(this.readAt(path), operation.value ?? null)) return;
        throw unprocessable();
      default:
        throw unprocessable();
    }
  }

  private addAt(path: readonly string[], value: JsonValue): void {
    this.noteDepth(value);
    const key = path.at(-1)!;
    const parent = this.ownParent(path);
    if (Array.isArray(parent)) {
      const index = key === '-' ? parent.length : indexFromEnd(parent.length + 1, key);
      this.shifts.spend(parent.length - index);
      parent.splice(index, 0, thaw(value));
    } else this.setKey(parent, key, value);
  }

  private removeAt(path: readonly string[]): void {
    const key = path.at(-1)!;
    const parent = this.ownParent(path);
    if (Array.isArray(parent)) {
      const index = indexFromEnd(parent.length, key);
      this.shifts.spend(parent.length - index);
      parent.splice(index, 1);
    } else if (Object.hasOwn(parent, key)) delete parent[key];
    else throw unprocessable();
  }

  private replaceAt(path: readonly string[], value: JsonValue): void {
    this.noteDepth(value);
    const key = path.at(-1)!;
    const parent = this.ownParent(path);
    if (Array.isArray(parent)) parent[indexIn(parent, key)] = thaw(value);
    else this.setKey(parent, key, value);
  }

  private moveTo(from: readonly string[], path: readonly string[]): void {
    const value = this.valueAt(from);
    if (value === undefined) throw unprocessable();
    this.removeAt(from);
    this.addAt(path, value);
  }

  private noteDepth(value: JsonValue): void {
    if (typeof value === 'object' && value !== null) this.mayBeDeep = true;
  }

  private copyTo(from: readonly string[], path: readonly string[]): void {
    const value = this.readAt(from);
    // Copies of copies double the depth, and making them recurses.
    if (isDeeperThan(value, MAX_JSON_DEPTH)) throw unprocessable();
    this.addAt(path, this.copier.copyOf(value));
  }

  /** The value at the path; an absent key of a map is null, an absent parent or place in a list is an error. */
  private readAt(path: readonly string[]): JsonValue {
    const found = this.valueAt(path);
    if (found !== undefined) return found;
    const parent = this.valueAt(path.slice(0, -1));
    if (parent === undefined || !isMap(parent)) throw unprocessable();
    return null;
  }

  private valueAt(path: readonly string[]): JsonValue | undefined {
    let value: JsonValue | undefined = this.root;
    for (const key of path) {
      if (Array.isArray(value)) value = (value as readonly JsonValue[])[indexIn(value, key)];
      else if (isMap(value) && Object.hasOwn(value, key)) value = value[key];
      else return undefined;
    }
    return value;
  }

  /** The container that holds the path's last key, with every container on the way to it made our own. */
  private ownParent(path: readonly string[]): Container {
    let container = this.ownCopy(this.root);
    this.root = container;
    for (const key of path.slice(0, -1)) {
      if (Array.isArray(container)) {
        const index = indexIn(container, key);
        container = container[index] = this.ownCopy(container[index]);
      } else {
        const child = this.ownCopy(Object.hasOwn(container, key) ? container[key] : undefined);
        this.setKey(container, key, child);
        container = child;
      }
    }
    return container;
  }

  private ownCopy(value: JsonValue | undefined): Container {
    if (typeof value !== 'object' || value === null) throw unprocessable();
    if (this.owned.has(thaw(value) as Container)) return thaw(value) as Container;
    const copy = (
      Array.isArray(value) ? [...(value as readonly JsonValue[])] : copyMap(value as JsonObject)
    ) as Container;
    this.owned.set(copy, { original: value, added: {} });
    return copy;
  }

  /** Of a map of our own. */
  private setKey(map: MutableMap, key: string, value: JsonValue): void {
    setMember(map, key, thaw(value));
    setMember(this.owned.get(map)!.added, key, null);
  }
}

/** Only the type changes: containers are written to after {@link Patching} has made them its own. */
function thaw(value: JsonValue): MutableJson {
  return value as MutableJson;
}

/**
 * RFC 6901: `~1` stands for a slash, `~0` for a tilde. As in kube-apiserver there is no path to the whole document, and what
 * stands before the first slash counts for nothing.
 */
function parsePointer(pointer: JsonValue | undefined): readonly string[] {
  if (typeof pointer !== 'string' || pointer.length > MAX_POINTER_LENGTH) throw unprocessable();
  // A document that may come of the patch is not so deep that a longer path leads anywhere.
  const [, ...tokens] = pointer.split('/', MAX_PATH_LENGTH + 2);
  if (tokens.length === 0 || tokens.length > MAX_PATH_LENGTH) throw unprocessable();
  const keys: string[] = [];
  for (const token of tokens) keys.push(token.includes('~') ? unescaped(token) : token);
  return keys;
}

/** So many characters are looked at together for what they stand for. */
const UNESCAPED_CHARACTERS = 256;

function unescaped(token: string): string {
  let text = '';
  for (let start = 0; start < token.length;) {
    let end = start + UNESCAPED_CHARACTERS;
    // Neither the tilde nor what follows it stands for itself.
    while (token[end - 1] === '~') end += 1;
    text += token.slice(start, end).replace(/~1/g, '/').replace(/~0/g, '~');
    start = end;
  }
  return text;
}

/** As Go reads integers: `01` and `+1` are one. */
const INDEX = /^[+-]?\d+$/;

function indexIn(list: readonly unknown[], key: string): number {
  const index = INDEX.test(key) ? Number(key) : Infinity;
  if (index >= 0 && index < list.length) return index;
  throw unprocessable();
}

/** Of `places` in a list where something is added or removed; negative ones are counted from the end. */
function indexFromEnd(places: number, key: string): number {
  const index = INDEX.test(key) ? Number(key) : Infinity;
  const place = index < 0 ? index + places : index;
  if (place >= 0 && place < places) return place;
  throw unprocessable();
}

function isMap(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
