import { stringifyExact } from '../codec/exact-json';
import type { JsonObject, JsonValue } from '../object';
import { sortNames } from '../sort-in-runs';
import { isList, isObject } from './members';

/**
 * Values as kube-apiserver's language prints them. Some messages that clients show, and that tests of clients expect,
 * contain such texts.
 */

/** `%v`: `map[a:1 b:[x y]]`. */
export function printGoValue(value: JsonValue): string {
  if (value === null) return '<nil>';
  if (isList(value)) return `[${valuesOfList(value)}]`;
  if (isObject(value)) return `map[${valuesOfMap(value)}]`;
  return String(value);
}

function valuesOfList(items: readonly JsonValue[]): string {
  let text = '';
  for (let index = 0; index < items.length; index++) {
    text += (index === 0 ? '' : ' ') + printGoValue(items[index] as JsonValue);
  }
  return text;
}

function valuesOfMap(map: JsonObject): string {
  let text = '';
  for (const name of sortNames(Object.keys(map))) {
    text += `${text === '' ? '' : ' '}${name}:${printGoValue(map[name] ?? null)}`;
  }
  return text;
}

/** `%#v`: the value as source text. */
export function printGoSyntax(value: JsonValue): string {
  if (value === null) return 'interface {}(nil)';
  if (isList(value)) return `[]interface {}{${syntaxOfList(value)}}`;
  if (isObject(value)) return `map[string]interface {}{${syntaxOfMap(value)}}`;
  return stringifyExact(value);
}

function syntaxOfList(items: readonly JsonValue[]): string {
  let text = '';
  for (const item of items) text += (text === '' ? '' : ', ') + printGoSyntax(item);
  return text;
}

function syntaxOfMap(map: JsonObject): string {
  let text = '';
  for (const name of sortNames(Object.keys(map))) {
    text += `${text === '' ? '' : ', '}${JSON.stringify(name)}:${printGoSyntax(map[name] ?? null)}`;
  }
  return text;
}
