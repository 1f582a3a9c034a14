import { createHash } from 'node:crypto';
import type { KindDefinition } from '../kinds/kind-definition';
import type { JsonObject } from '../object';
import type { Schema } from '../schema/model';
import { type CustomSchemas, DefinitionSet } from './definitions';
import { pathPrefix } from './names';
import { type Operation, operationsOf } from './operations';
import type { ParameterDescription } from './parameters';
import { consumedTypes, payloadSchema, producedTypes, RESPONSE_DESCRIPTIONS } from './payloads';
import type { DocumentInfo } from './v2-document';

/** The OpenAPI v3 document of one group version: `GET /openapi/v3/apis/apps/v1`. */
export function buildOpenApiV3(
  schema: Schema,
  definitions: readonly KindDefinition[],
  groupVersion: { readonly group: string; readonly version: string },
  info: DocumentInfo,
  custom: CustomSchemas = new Map(),
): JsonObject {
  const types = new DefinitionSet(schema, custom, 'v3', [groupVersion]);
  const paths: Record<string, Record<string, JsonObject | readonly JsonObject[]>> = {};
  const isWanted = (group: string, version: string) => group === groupVersion.group && version === groupVersion.version;
  for (const operation of operationsOf(schema, definitions, isWanted)) {
    const item = (paths[operation.path] ??= { parameters: operation.pathParameters.map(parameterObject) });
    item[operation.method] = operationObject(operation, types);
  }
  return {
    openapi: '3.0.0',
    info: { title: info.title, version: info.version },
    paths: Object.fromEntries(Object.entries(paths).sort(([a], [b]) => (a < b ? -1 : 1))),
    components: {
      schemas: types.toJson(),
      securitySchemes: {
        BearerToken: { type: 'apiKey', description: 'A bearer token.', name: 'authorization', in: 'header' },
      },
    },
    security: [{ BearerToken: [] }],
  };
}

/**
 * The index of the v3 documents: `GET /openapi/v3`. Its URLs carry the hash of each document, so that clients may keep
 * a document for as long as its URL stays.
 */
export function buildOpenApiV3Index(
  documents: Iterable<{ readonly group: string; readonly version: string; readonly hash: string }>,
): JsonObject {
  const paths = [...documents].map(({ group, version, hash }): [string, JsonObject] => {
    return [pathPrefix(group, version).slice(1), { serverRelativeURL: openApiV3Url(group, version, hash) }];
  });
  return { paths: Object.fromEntries(paths.sort(([a], [b]) => (a < b ? -1 : 1))) };
}

/** Where a document is, for as long as it is what the hash is of. */
export function openApiV3Url(group: string, version: string, hash: string): string {
  return `/openapi/v3${pathPrefix(group, version)}?hash=${hash}`;
}

/** SHA-512 in upper-case hex: the entity tag of a document, and its hash in the index. */
export function openApiHash(document: Uint8Array | string): string {
  return createHash('sha512').update(document).digest('hex').toUpperCase();
}

function operationObject(operation: Operation, types: DefinitionSet): JsonObject {
  const { body } = operation;
  const produced = producedTypes(operation);
  const responses = Object.entries(operation.responses).map(([code, payload]): [string, JsonObject] => [
    code,
    { description: RESPONSE_DESCRIPTIONS[code] ?? '', content: content(produced, payloadSchema(payload, types)) },
  ]);
  return {
    tags: [operation.tag],
    description: operation.description,
    operationId: operation.id,
    ...(operation.parameters.length === 0 ? {} : { parameters: operation.parameters.map(parameterObject) }),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            content: content(consumedTypes(operation, types), payloadSchema(body, types)),
            ...(operation.bodyRequired ? { required: true } : {}),
          },
        }),
    responses: { ...Object.fromEntries(responses), '401': { description: RESPONSE_DESCRIPTIONS['401'] } },
    'x-kubernetes-action': operation.action,
    'x-kubernetes-group-version-kind': { ...operation.kind },
  };
}

/** The same schema, whichever of the media types is used. */
function content(mediaTypes: readonly string[], schema: JsonObject): JsonObject {
  return Object.fromEntries(mediaTypes.map((mediaType) => [mediaType, { schema }]));
}

function parameterObject({ name, in: place, type, description }: ParameterDescription): JsonObject {
  return {
    name,
    in: place,
    ...(description === '' ? {} : { description }),
    ...(place === 'path' ? { required: true } : {}),
    schema: { type, uniqueItems: true },
  };
}
