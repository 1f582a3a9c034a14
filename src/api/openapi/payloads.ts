import type { JsonObject } from '../object';
import type { DefinitionSet } from './definitions';
import type { Media, Operation, Payload } from './operations';

/** What both OpenAPI versions say of bodies and answers. */

const ANY: readonly string[] = ['*/*'];
const JSON_ONLY: readonly string[] = ['application/json'];
const CUSTOM_TYPES: readonly string[] = ['application/json', 'application/yaml'];
const OBJECT_TYPES: readonly string[] = [...CUSTOM_TYPES, 'application/vnd.kubernetes.protobuf'];
const STREAM_TYPES: readonly string[] = [
  ...OBJECT_TYPES,
  'application/json;stream=watch',
  'application/vnd.kubernetes.protobuf;stream=watch',
];
const PATCH_TYPES: readonly string[] = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
];
/** Custom kinds say nothing of how lists are merged. */
const CUSTOM_PATCH_TYPES: readonly string[] = PATCH_TYPES.filter((type) => !type.includes('strategic'));

interface MediaTypes {
  readonly consumes: readonly string[];
  readonly produces: readonly string[];
}

const MEDIA_TYPES: Readonly<Record<Media, MediaTypes>> = {
  object: { consumes: ANY, produces: OBJECT_TYPES },
  stream: { consumes: ANY, produces: STREAM_TYPES },
  custom: { consumes: CUSTOM_TYPES, produces: CUSTOM_TYPES },
  any: { consumes: ANY, produces: ANY },
  discovery: { consumes: OBJECT_TYPES, produces: OBJECT_TYPES },
  log: { consumes: ANY, produces: ['text/plain', ...OBJECT_TYPES] },
  json: { consumes: JSON_ONLY, produces: JSON_ONLY },
  issuer: { consumes: [], produces: JSON_ONLY },
  keys: { consumes: [], produces: ['application/jwk-set+json'] },
};

export const RESPONSE_DESCRIPTIONS: Readonly<Record<string, string>> = {
  '200': 'OK',
  '201': 'Created',
  '202': 'Accepted',
  '401': 'Unauthorized',
};

/** Media types that the body may have. */
export function consumedTypes({ body, media }: Operation): readonly string[] {
  if (body !== 'patch') return MEDIA_TYPES[media].consumes;
  return media === 'custom' ? CUSTOM_PATCH_TYPES : PATCH_TYPES;
}

/** Media types that the answer may have. */
export function producedTypes({ media }: Operation): readonly string[] {
  return MEDIA_TYPES[media].produces;
}

export function payloadSchema(payload: Payload, types: DefinitionSet): JsonObject {
  switch (payload) {
    case 'text':
      return { type: 'string' };
    case 'patch':
      return types.refToPatch();
    case 'release':
      return types.refToRelease();
    default:
      return types.refToKind(payload.kind);
  }
}

/** What kubectl reads of an operation: what it does, and to which kind. */
export function extensionsOf({ action, kind }: Operation): JsonObject {
  return {
    ...(action === undefined ? {} : { 'x-kubernetes-action': action }),
    ...(kind === undefined ? {} : { 'x-kubernetes-group-version-kind': { ...kind } }),
  };
}
