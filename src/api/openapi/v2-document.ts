import type { KindDefinition } from '../kinds/kind-definition';
import type { JsonObject } from '../object';
import type { Steps } from '../parts';
import type { Schema } from '../schema/model';
import { type CustomSchemas, DefinitionSet } from './definitions';
import { type Form, joinMembers, jsonForm } from './form';
import type { Operation } from './operations';
import { byName, type ParameterDescription } from './parameters';
import { inOrder, printPaths } from './paths';
import { printRemoteParts, type RemotePart } from './remote-part';
import { consumedTypes, extensionsOf, payloadSchema, producedTypes, RESPONSE_DESCRIPTIONS } from './payloads';

/** `info` of a document. */
export interface DocumentInfo {
  readonly title: string;
  /** The release served, such as `v1.21.0`. */
  readonly version: string;
}

/** The parts of a document in some form, before they are put together. */
export interface DocumentParts {
  readonly paths: readonly Buffer[];
  readonly definitions: readonly Buffer[];
}

/** What a document is about. `custom` has the schemas of custom kinds; their definitions are among `definitions`. */
export interface DocumentSource {
  readonly schema: Schema;
  readonly definitions: readonly KindDefinition[];
  readonly info: DocumentInfo;
  readonly custom?: CustomSchemas;
  /** Of group versions of other servers. v3 has a document for each of these. */
  readonly remote?: readonly RemotePart[];
}

export const V2_HEAD = { swagger: '2.0' } as const;
export const V2_SECURITY: JsonObject = {
  securityDefinitions: {
    BearerToken: { description: 'A bearer token.', type: 'apiKey', name: 'authorization', in: 'header' },
  },
  security: [{ BearerToken: [] }],
};

const V2_JSON = jsonForm('v2');

/**
 * The OpenAPI v2 (Swagger 2.0) document of everything that is served: `GET /openapi/v2`, as JSON. Clients validate by it
 * (`kubectl apply`), explain by it, and read from it how lists are merged and which requests take `dryRun`. The document is all pieces
 * after one another, most of which other documents share.
 */
export function* printOpenApiV2(source: DocumentSource): Steps<readonly Buffer[]> {
  const { paths, definitions } = yield* printV2Parts(V2_JSON, source);
  yield;
  const head = JSON.stringify({ ...V2_HEAD, info: infoOf(source) });
  return [
    ...joinMembers(`${head.slice(0, -1)},"paths":{`, paths, '},"definitions":{'),
    ...joinMembers('', definitions, `},${JSON.stringify(V2_SECURITY).slice(1)}`),
  ];
}

export function infoOf({ info: { title, version } }: DocumentSource): JsonObject {
  return { title, version };
}

export function* printV2Parts(
  form: Form,
  { schema, definitions, custom = new Map(), remote = [] }: DocumentSource,
): Steps<DocumentParts> {
  const types = new DefinitionSet(schema, custom, form);
  const paths = yield* printPaths(form, schema, definitions, types, {
    parameter: simpleParameter,
    operation: operationObject,
  });
  yield* types.print();
  const remotePaths = yield* printRemoteParts(form, types, remote);
  const own = new Set(paths.map(({ path }) => path));
  const all = [...paths, ...remotePaths.filter(({ path }) => !own.has(path))];
  return { paths: yield* inOrder(all), definitions: yield* types.inOrder() };
}

function operationObject(operation: Operation, types: DefinitionSet): JsonObject {
  const consumes = consumedTypes(operation);
  const parameters = parametersOf(operation, types);
  const responses = Object.entries(operation.responses).map(([code, payload]): [string, JsonObject] => [
    code,
    { description: RESPONSE_DESCRIPTIONS[code] ?? '', schema: payloadSchema(payload, types) },
  ]);
  return {
    description: operation.description,
    ...(consumes.length === 0 ? {} : { consumes }),
    produces: producedTypes(operation),
    schemes: ['https'],
    tags: [operation.tag],
    operationId: operation.id,
    ...(parameters.length === 0 ? {} : { parameters }),
    responses: { ...Object.fromEntries(responses), '401': { description: RESPONSE_DESCRIPTIONS['401'] } },
    ...extensionsOf(operation),
  };
}

/** The body is a parameter, in its place among the others. */
function parametersOf(operation: Operation, types: DefinitionSet): readonly JsonObject[] {
  const { body, bodyRequired } = operation;
  const parameters = operation.parameters.map(simpleParameter);
  if (body === undefined) return parameters;
  const required = bodyRequired ? { required: true } : {};
  const inBody = { name: 'body', in: 'body', ...required, schema: payloadSchema(body, types) };
  return [...parameters, inBody].sort(byName);
}

function simpleParameter({
  name,
  in: place,
  type,
  description,
}: ParameterDescription): JsonObject & { readonly name: string } {
  return {
    uniqueItems: true,
    type,
    ...(description === '' ? {} : { description }),
    name,
    in: place,
    ...(place === 'path' ? { required: true } : {}),
  };
}
