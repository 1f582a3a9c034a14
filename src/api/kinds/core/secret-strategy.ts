import type { KubeObject } from '../../object';
import { mapAt, stringAt } from '../field-values';

function encode(text: unknown): string {
  return Buffer.from(String(text), 'utf8').toString('base64');
}

/**
 * `stringData` is write-only: its texts become data (base64) and win over data of the same key. A key with null instead
 * of data has none.
 */
export function mergeStringData(object: KubeObject): KubeObject {
  const { stringData: _texts, ...rest } = object;
  const texts = Object.entries(mapAt(object, 'stringData')).map(([key, text]) => [key, encode(text)] as const);
  const given = Object.entries(mapAt(object, 'data')).map(([key, data]) => [key, data ?? ''] as const);
  if (texts.length === 0 && given.length === 0) return rest;
  const data = Object.entries(Object.fromEntries([...given, ...texts]));
  data.sort(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0));
  return { ...rest, data: Object.fromEntries(data) };
}

/** An update that does not say what type the secret is does not mean to change it. */
export function prepareSecretForUpdate(object: KubeObject, old: KubeObject): KubeObject {
  return stringAt(object, 'type') === '' ? { ...object, type: stringAt(old, 'type') } : object;
}
