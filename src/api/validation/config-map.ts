import { forbiddenField, invalid, tooLong, type FieldError } from '../errors/field-error';
import { checkEach } from './check-each';
import { booleanAt, mapAt } from '../kinds/field-values';
import { deepEqual } from '../kinds/deep-equal';
import type { KubeObject } from '../object';
import { base64Bytes, IMMUTABLE_DETAIL, MAX_DATA_BYTES, validateConfigKey } from './config-keys';
import { byteLength } from './syntax-error';

/** What the whole object is called where the problem is its size. */
const WHOLE_OBJECT = '[]';

export function validateConfigMap(object: KubeObject): readonly FieldError[] {
  const data = mapAt(object, 'data');
  const binaryData = mapAt(object, 'binaryData');
  const textBytes = Object.values(data).reduce<number>((sum, text) => sum + byteLength(String(text)), 0);
  const binaryBytes = Object.values(binaryData).reduce<number>((sum, text) => sum + base64Bytes(String(text)), 0);
  return [
    ...checkEach(Object.keys(data), (key) => [
      ...validateConfigKey(key, 'data'),
      ...(Object.hasOwn(binaryData, key)
        ? [invalid(`data[${key}]`, key, 'duplicate of key present in binaryData')]
        : []),
    ]),
    ...checkEach(Object.keys(binaryData), (key) => validateConfigKey(key, 'binaryData')),
    ...(textBytes + binaryBytes > MAX_DATA_BYTES ? [tooLong(WHOLE_OBJECT, MAX_DATA_BYTES)] : []),
  ];
}

/** An immutable object stays immutable, and so does what it holds: its metadata alone may change. */
export function validateImmutableData(
  object: KubeObject,
  old: KubeObject,
  fields: readonly string[],
): readonly FieldError[] {
  if (!booleanAt(old, 'immutable')) return [];
  return [
    ...(booleanAt(object, 'immutable') ? [] : [forbiddenField('immutable', IMMUTABLE_DETAIL)]),
    ...fields
      .filter((field) => !deepEqual(mapAt(object, field), mapAt(old, field)))
      .map((field) => forbiddenField(field, IMMUTABLE_DETAIL)),
  ];
}

export function validateConfigMapUpdate(object: KubeObject, old: KubeObject): readonly FieldError[] {
  return [...validateImmutableData(object, old, ['data', 'binaryData']), ...validateConfigMap(object)];
}
