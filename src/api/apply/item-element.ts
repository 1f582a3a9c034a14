import type { JsonValue } from '../object';
import { canonicalJson } from './canonical-json';
import { isList, isObject, memberOf } from './members';
import { TypedError, type ListMergeType } from './merge-type';
import type { PathElement } from './path-element';

/** What a list item is called in field sets. Throws a TypedError for one that cannot have a name. */
export function elementOf(type: ListMergeType, item: JsonValue): PathElement {
  const element = itemElement(type, item);
  if (element instanceof Error) throw new TypedError([{ path: '', message: element.message }]);
  return element;
}

/** What a known list item is called in field sets, or why it cannot have a name. */
export function itemElement(type: ListMergeType, item: JsonValue): PathElement | Error {
  if (type.relation === 'set') {
    if (isObject(item)) return new Error("associative list without keys has an element that's a map type");
    if (isList(item)) return new Error('not supported: associative list with lists as elements');
    if (item === null) return new Error("associative list without keys has an element that's an explicit null");
    return `v:${canonicalJson(item)}`;
  }
  if (item === null) return new Error('associative list with keys may not have a null element');
  if (!isObject(item)) return new Error('associative list with keys may not have non-map elements');
  const keys: (readonly [string, JsonValue])[] = [];
  for (const { name, defaultValue } of type.keys) {
    const value = memberOf(item, name) ?? defaultValue;
    if (value === undefined) {
      return new Error(
        `associative list with keys has an element that omits key field ${JSON.stringify(name)} (and doesn't have default value)`,
      );
    }
    keys.push([name, value]);
  }
  return keyElementOf(keys);
}

/** The element of keys whose names are in order already, each name with its value. */
function keyElementOf(keys: readonly (readonly [name: string, value: JsonValue])[]): PathElement {
  let text = '';
  for (const [name, value] of keys) text += `${text === '' ? '{' : ','}"${name}":${canonicalJson(value)}`;
  return `k:${text}}`;
}
