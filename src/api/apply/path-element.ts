import { endOfString, parseExact } from '../codec/exact-json';
import { quoteGo } from '../errors/go-quote';
import { shownPart, shownText } from '../errors/shown-value';
import { JsonSyntaxError, parseJson } from '../codec/json-syntax';
import type { JsonObject, JsonValue } from '../object';
import { sortedJson } from '../sorted-json';
import { canonicalJson } from './canonical-json';

/**
 * One step of a path into an object, as FieldsV1 writes it: `f:name` (a field or a map's key), `k:{"name":"c"}` (an item
 * of a keyed list), `v:"x"` (an item of a set), `i:0` (an index). Elements are kept in this text form: the canonical text
 * (sorted keys, no spaces, Go's escapes) makes them comparable as plain strings.
 */
export type PathElement = string;

export function fieldElement(name: string): PathElement {
  return `f:${name}`;
}

export function keyElement(keys: JsonObject): PathElement {
  return `k:${canonicalJson(keys)}`;
}

export function valueElement(value: JsonValue): PathElement {
  return `v:${canonicalJson(value)}`;
}

/** The name of a field element; undefined for the other kinds. */
export function fieldNameOf(element: PathElement): string | undefined {
  return element.startsWith('f:') ? element.slice(2) : undefined;
}

export function isKeyElement(element: PathElement): boolean {
  return element.startsWith('k:');
}

/**
 * The values that an element may have. Those of a server have a text or number, or some of them by name: lists and maps cannot
 * be what an item is known by.
 */
const MAX_ELEMENT_VALUES = 256;
const STRUCTURAL = /["[{,]/g;

/** Looks at no more of the text than it takes to know. */
function hasManyValues(body: string): boolean {
  if (body.length <= MAX_ELEMENT_VALUES) return false;
  let values = 0;
  STRUCTURAL.lastIndex = 0;
  for (let found = STRUCTURAL.exec(body); found !== null; found = STRUCTURAL.exec(body)) {
    if (found[0] === '"') STRUCTURAL.lastIndex = endOfString(body, found.index) + 1;
    else if (++values > MAX_ELEMENT_VALUES) return true;
  }
  return false;
}

function parseBody(body: string): JsonValue {
  if (hasManyValues(body)) throw new SyntaxError(`a path element has more than ${MAX_ELEMENT_VALUES} values`);
  try {
    return parseJson(body) as JsonValue;
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw new SyntaxError(error.message, { cause: error });
    throw error;
  }
}

/** As many digits as an int64 has, at most. */
const INDEX = /^[+-]?\d{1,18}$/;

/**
 * Brings an element that a client or another server wrote into canonical text. Undefined for kinds that a later release
 * may have added: those are dropped, as kube-apiserver drops them. Throws a SyntaxError when the element is malformed.
 */
export function parseElement(text: string): PathElement | undefined {
  const body = text.slice(2);
  switch (text.slice(0, 2)) {
    case 'f:':
      return text;
    case 'k:': {
      const keys = parseBody(body);
      if (keys === null || typeof keys !== 'object' || Array.isArray(keys)) {
        throw new SyntaxError(`expected an object of keys: ${shownText(text)}`);
      }
      return keyElement(keys as JsonObject);
    }
    case 'v:':
      return valueElement(parseBody(body));
    case 'i:':
      if (!INDEX.test(body)) throw new SyntaxError(`expected an index: ${shownText(text)}`);
      return `i:${BigInt(body)}`;
    default:
      if (text.length < 2 || text[1] !== ':') throw new SyntaxError(`missing type of path element: ${shownText(text)}`);
      return undefined;
  }
}

const KIND_ORDER: Readonly<Record<string, number>> = { f: 0, k: 1, v: 2, i: 3 };

/** Canonical order: fields, keys, values, indexes; within each kind by content, numbers before texts before booleans. */
export function compareElements(left: PathElement, right: PathElement): number {
  const kind = left[0] as string;
  if (kind !== right[0]) return (KIND_ORDER[kind] ?? 4) - (KIND_ORDER[right[0] as string] ?? 4);
  if (kind === 'f') return left < right ? -1 : left > right ? 1 : 0;
  if (left === right) return 0;
  return compareValues(parseExact(left.slice(2)) as JsonValue, parseExact(right.slice(2)) as JsonValue);
}

/** An element with what it says, so that it is read once, however often it is compared. */
export interface ReadElement {
  readonly element: PathElement;
  /** Of a field nothing is read. */
  readonly value: JsonValue;
}

export function readElement(element: PathElement): ReadElement {
  return { element, value: element.startsWith('f:') ? null : (parseExact(element.slice(2)) as JsonValue) };
}

/** As {@link compareElements}. */
export function compareRead(left: ReadElement, right: ReadElement): number {
  const kind = left.element[0] as string;
  if (kind === 'f' || kind !== right.element[0]) return compareElements(left.element, right.element);
  return compareValues(left.value, right.value);
}

function rank(value: JsonValue): number {
  if (value === null) return 5;
  if (Array.isArray(value)) return 3;
  const ranks = { number: 0, bigint: 0, string: 1, boolean: 2, object: 4 };
  return ranks[typeof value as keyof typeof ranks];
}

function compareValues(left: JsonValue, right: JsonValue): number {
  const order = rank(left) - rank(right);
  if (order !== 0) return order;
  if (Array.isArray(left)) return compareLists(left as readonly JsonValue[], right as readonly JsonValue[]);
  if (left !== null && typeof left === 'object') {
    return compareLists(
      Object.entries(left).sort().flat() as JsonValue[],
      Object.entries(right as JsonObject)
        .sort()
        .flat() as JsonValue[],
    );
  }
  return left === right ? 0 : (left as string) < (right as string) ? -1 : 1;
}

function compareLists(left: readonly JsonValue[], right: readonly JsonValue[]): number {
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const order = compareValues(left[i] as JsonValue, right[i] as JsonValue);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

function printScalar(value: JsonValue): string {
  return typeof value === 'string' ? quoteGo(value) : sortedJson(shownPart(value));
}

/** As messages show an element: `.name`, `[name="c"]`, `[="x"]`, `[0]`. */
export function printElement(element: PathElement): string {
  const body = element.slice(2);
  switch (element[0]) {
    case 'f':
      return `.${body}`;
    case 'k': {
      const keys = parseExact(body) as JsonObject;
      return `[${Object.keys(keys)
        .map((name) => `${name}=${printScalar(keys[name] as JsonValue)}`)
        .join(',')}]`;
    }
    case 'v':
      return `[=${printScalar(parseExact(body) as JsonValue)}]`;
    default:
      return `[${body}]`;
  }
}

export function printPath(path: readonly PathElement[]): string {
  return path.map(printElement).join('');
}
