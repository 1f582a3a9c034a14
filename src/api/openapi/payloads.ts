import type { JsonObject } from '../object';
import type { DefinitionSet } from './definitions';
import type { Operation, Payload } from './operations';

/** What both OpenAPI versions say of bodies and answers. */

const OBJECT_TYPES: readonly string[] = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'];
const STREAM_TYPES: readonly string[] = [
  'application/json;stream=watch',
  'application/vnd.kubernetes.protobuf;stream=watch',
];
const PATCH_TYPES: readonly string[] = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
];

export const RESPONSE_DESCRIPTIONS: Readonly<Record<string, string>> = {
  '200': 'OK',
  '201': 'Created',
  '202': 'Accepted',
  '401': 'Unauthorized',
};

/** Media types that the body may have. Custom kinds take no strategic merge patch. */
export function consumedTypes({ body, kind }: Operation, types: DefinitionSet): readonly string[] {
  if (body !== 'patch') return ['*/*'];
  return types.isCustom(kind) ? PATCH_TYPES.filter((type) => !type.includes('strategic')) : PATCH_TYPES;
}

/** Media types that the answer may have. */
export function producedTypes({ responses, streams }: Operation): readonly string[] {
  if (Object.values(responses).includes('text')) return ['*/*'];
  return streams ? [...OBJECT_TYPES, ...STREAM_TYPES] : OBJECT_TYPES;
}

export function payloadSchema(payload: Payload, types: DefinitionSet): JsonObject {
  if (payload === 'text') return { type: 'string' };
  return payload === 'patch' ? types.refToPatch() : types.refToKind(payload.kind);
}
