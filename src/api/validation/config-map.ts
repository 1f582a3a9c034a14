import { forbiddenField, invalid, tooLong, type FieldError } from '../errors/field-error';
import { checkAfter, checkEach } from './check-each';
import { booleanAt, mapAt } from '../kinds/field-values';
import { checkSame } from './immutable';
import type { KubeObject } from '../object';
import { keysOf } from '../parts';
import { base64Bytes, IMMUTABLE_DETAIL, MAX_DATA_BYTES, validateConfigKey } from './config-keys';
import { byteLength } from './syntax-error';

/** What the whole object is called where the problem is its size. */
const WHOLE_OBJECT = '[]';

export function validateConfigMap(object: KubeObject): readonly FieldError[] {
  const data = mapAt(object, 'data');
  const binaryData = mapAt(object, 'binaryData');
  let bytes = 0;
  return [
    ...checkEach(keysOf(data), (key) => {
      bytes += byteLength(String(data[key]));
      const errors = validateConfigKey(key, 'data');
      return Object.hasOwn(binaryData, key)
        ? [...errors, invalid(`data[${key}]`, key, 'duplicate of key present in binaryData')]
        : errors;
    }),
    ...checkEach(keysOf(binaryData), (key) => {
      bytes += base64Bytes(String(binaryData[key]));
      return validateConfigKey(key, 'binaryData');
    }),
    ...checkAfter(() => (bytes > MAX_DATA_BYTES ? [tooLong(WHOLE_OBJECT, MAX_DATA_BYTES)] : [])),
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
    ...fields.flatMap((field) =>
      checkSame(mapAt(object, field), mapAt(old, field), () => [forbiddenField(field, IMMUTABLE_DETAIL)]),
    ),
  ];
}

export function validateConfigMapUpdate(object: KubeObject, old: KubeObject): readonly FieldError[] {
  return [...validateImmutableData(object, old, ['data', 'binaryData']), ...validateConfigMap(object)];
}
