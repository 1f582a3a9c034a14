import type { KindDefinition } from '../kinds/kind-definition';
import type { JsonObject } from '../object';
import type { Schema } from '../schema/model';
import { type CustomSchemas, DefinitionSet, type GroupVersion } from './definitions';
import { type Operation, operationsOf } from './operations';
import type { ParameterDescription } from './parameters';
import { consumedTypes, payloadSchema, producedTypes, RESPONSE_DESCRIPTIONS } from './payloads';

/** `info` of a document. */
export interface DocumentInfo {
  readonly title: string;
  /** The release served, such as `v1.21.0`. */
  readonly version: string;
}

/**
 * The OpenAPI v2 (Swagger 2.0) document of everything that is served: `GET /openapi/v2`. Clients validate by it
 * (`kubectl apply`), explain by it, and read from it how lists are merged and which requests take `dryRun`.
 *
 * `custom` has the schemas of custom kinds; their definitions are among `definitions` like all others.
 */
export function buildOpenApiV2(
  schema: Schema,
  definitions: readonly KindDefinition[],
  info: DocumentInfo,
  custom: CustomSchemas = new Map(),
): JsonObject {
  const types = new DefinitionSet(schema, custom, 'v2', groupVersionsOf(definitions));
  const paths: Record<string, Record<string, JsonObject | readonly JsonObject[]>> = {};
  for (const operation of operationsOf(schema, definitions)) {
    const item = (paths[operation.path] ??= { parameters: operation.pathParameters.map(simpleParameter) });
    item[operation.method] = operationObject(operation, types);
  }
  return {
    swagger: '2.0',
    info: { title: info.title, version: info.version },
    paths: Object.fromEntries(Object.entries(paths).sort(([a], [b]) => (a < b ? -1 : 1))),
    definitions: types.toJson(),
    securityDefinitions: {
      BearerToken: { description: 'A bearer token.', type: 'apiKey', name: 'authorization', in: 'header' },
    },
    security: [{ BearerToken: [] }],
  };
}

/** Every group version under which a kind is served, once. */
export function groupVersionsOf(definitions: readonly KindDefinition[]): readonly GroupVersion[] {
  const found = new Map<string, GroupVersion>();
  for (const { versions } of definitions) {
    for (const { group, version } of versions) found.set(`${group}/${version}`, { group, version });
  }
  return [...found.keys()].sort().flatMap((key) => found.get(key) ?? []);
}

function operationObject(operation: Operation, types: DefinitionSet): JsonObject {
  const { body } = operation;
  const responses = Object.entries(operation.responses).map(([code, payload]): [string, JsonObject] => [
    code,
    { description: RESPONSE_DESCRIPTIONS[code] ?? '', schema: payloadSchema(payload, types) },
  ]);
  return {
    description: operation.description,
    consumes: consumedTypes(operation, types),
    produces: producedTypes(operation),
    schemes: ['https'],
    tags: [operation.tag],
    operationId: operation.id,
    parameters: [
      ...(body === undefined
        ? []
        : [
            {
              name: 'body',
              in: 'body',
              ...(operation.bodyRequired ? { required: true } : {}),
              schema: payloadSchema(body, types),
            },
          ]),
      ...operation.parameters.map(simpleParameter),
    ],
    responses: { ...Object.fromEntries(responses), '401': { description: RESPONSE_DESCRIPTIONS['401'] } },
    'x-kubernetes-action': operation.action,
    'x-kubernetes-group-version-kind': { ...operation.kind },
  };
}

function simpleParameter({ name, in: place, type, description }: ParameterDescription): JsonObject {
  return {
    uniqueItems: true,
    type,
    ...(description === '' ? {} : { description }),
    name,
    in: place,
    ...(place === 'path' ? { required: true } : {}),
  };
}
