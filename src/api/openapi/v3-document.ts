import type { JsonObject } from '../object';
import type { Steps } from '../parts';
import { DefinitionSet, type GroupVersion } from './definitions';
import { joinMembers, jsonForm } from './form';
import { pathPrefix } from './names';
import type { Operation } from './operations';
import type { ParameterDescription } from './parameters';
import { inOrder, printPaths } from './paths';
import { consumedTypes, extensionsOf, payloadSchema, producedTypes, RESPONSE_DESCRIPTIONS } from './payloads';
import { type DocumentSource, infoOf } from './v2-document';

const V3_JSON = jsonForm('v3');

/** The OpenAPI v3 document of one group version: `GET /openapi/v3/apis/apps/v1`. */
export function* printOpenApiV3(source: DocumentSource, groupVersion: GroupVersion): Steps<readonly Buffer[]> {
  const { schema, definitions, custom = new Map() } = source;
  const types = new DefinitionSet(schema, custom, V3_JSON);
  const describe = { parameter: parameterObject, operation: operationObject };
  const paths = yield* printPaths(V3_JSON, schema, definitions, types, describe, groupVersion);
  yield* types.print();
  const pathsInOrder = yield* inOrder(paths);
  const definitionsInOrder = yield* types.inOrder();
  const head = JSON.stringify({ openapi: '3.0.0', info: infoOf(source) });
  const securitySchemes = {
    BearerToken: { type: 'apiKey', description: 'A bearer token.', name: 'authorization', in: 'header' },
  };
  return [
    ...joinMembers(`${head.slice(0, -1)},"paths":{`, pathsInOrder, '},"components":{"schemas":{'),
    ...joinMembers('', definitionsInOrder, `},${JSON.stringify({ securitySchemes }).slice(1)}`),
    Buffer.from(`,${JSON.stringify({ security: [{ BearerToken: [] }] }).slice(1)}`),
  ];
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
            content: content(consumedTypes(operation), payloadSchema(body, types)),
            ...(operation.bodyRequired ? { required: true } : {}),
          },
        }),
    responses: { ...Object.fromEntries(responses), '401': { description: RESPONSE_DESCRIPTIONS['401'] } },
    ...extensionsOf(operation),
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
