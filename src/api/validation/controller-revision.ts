import { stringifyExact } from '../codec/exact-json';
import { required, type FieldError } from '../errors/field-error';
import type { KubeObject } from '../object';
import { byteListLiteral } from './go-literal';
import { validateUnchanged } from './immutable';
import { validateNonNegative } from './numbers';

export function validateControllerRevision(object: KubeObject): readonly FieldError[] {
  const data = object['data'];
  return [
    ...(data === undefined || data === null ? [required('data', 'data is mandatory')] : []),
    ...validateNonNegative(object['revision'] as number | bigint | undefined, 'revision'),
  ];
}

/** Any data as messages show it: the bytes of its JSON text. */
function rawLiteral(data: unknown): string {
  if (data === undefined || data === null) return '"null"';
  const bytes = byteListLiteral('[]uint8', Buffer.from(stringifyExact(data)));
  const type = 'runtime.TypeMeta{APIVersion:"", Kind:""}';
  return `runtime.Unknown{TypeMeta:${type}, Raw:${bytes}, ContentEncoding:"", ContentType:"application/json"}`;
}

export function validateControllerRevisionUpdate(object: KubeObject, old: KubeObject): readonly FieldError[] {
  return [
    ...validateControllerRevision(object),
    ...validateUnchanged(object['data'], old['data'], 'data', () => rawLiteral(object['data'])),
  ];
}
