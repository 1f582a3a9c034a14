import { stringifyExact } from '../codec/exact-json';
import type { JsonValue } from '../object';
import { isList, isObject } from './members';

/**
 * Values as kube-apiserver's language prints them. Some messages that clients show, and that tests of clients expect,
 * contain such texts.
 */

/** `%v`: `map[a:1 b:[x y]]`. */
export function printGoValue(value: JsonValue): string {
  if (value === null) return '<nil>';
  if (isList(value)) return `[${value.map(printGoValue).join(' ')}]`;
  if (isObject(value)) {
    const members = Object.keys(value).sort();
    return `map[${members.map((name) => `${name}:${printGoValue(value[name] ?? null)}`).join(' ')}]`;
  }
  return String(value);
}

/** `%#v`: the value as source text. */
export function printGoSyntax(value: JsonValue): string {
  if (value === null) return 'interface {}(nil)';
  if (isList(value)) return `[]interface {}{${value.map(printGoSyntax).join(', ')}}`;
  if (isObject(value)) {
    const members = Object.keys(value).sort();
    const texts = members.map((name) => `${JSON.stringify(name)}:${printGoSyntax(value[name] ?? null)}`);
    return `map[string]interface {}{${texts.join(', ')}}`;
  }
  return stringifyExact(value);
}
