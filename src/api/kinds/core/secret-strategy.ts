import { setOwn } from '../../codec/set-own';
import type { KubeObject } from '../../object';
import { keysOf, rememberKeys, type Steps } from '../../parts';
import { fill } from '../../fill-later';
import { sortNames } from '../../steps/generated/sort-in-runs';
import { mapAt, stringAt, type PlainMap } from '../field-values';

function encode(text: unknown): string {
  return Buffer.from(String(text), 'utf8').toString('base64');
}

/**
 * `stringData` is write-only: its texts become data (base64) and win over data of the same key. A key with null instead
 * of data has none.
 */
export function mergeStringData(object: KubeObject): KubeObject {
  const { stringData: _texts, ...rest } = object;
  const texts = mapAt(object, 'stringData');
  const data = mapAt(object, 'data');
  const added = keysOf(texts);
  const named = keysOf(data);
  // Decoding has sorted the keys.
  if (added.length === 0 && named.every((key) => (data[key] ?? null) !== null)) return rest;
  const merged: Record<string, unknown> = {};
  fill(merge(merged, texts, data));
  return { ...rest, data: merged };
}

function* merge(merged: Record<string, unknown>, texts: PlainMap, data: PlainMap): Steps<void> {
  const names: string[] = [];
  for (const key of keysOf(data)) if (!Object.hasOwn(texts, key)) names.push(key);
  yield;
  for (const key of keysOf(texts)) names.push(key);
  yield;
  const sorted = yield* sortNames(names);
  for (const key of sorted) {
    setOwn(merged, key, Object.hasOwn(texts, key) ? encode(texts[key]) : (data[key] ?? ''));
    yield;
  }
  rememberKeys(merged, sorted);
}

/** An update that does not say what type the secret is does not mean to change it. */
export function prepareSecretForUpdate(object: KubeObject, old: KubeObject): KubeObject {
  return stringAt(object, 'type') === '' ? { ...object, type: stringAt(old, 'type') } : object;
}
