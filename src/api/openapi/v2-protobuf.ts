import { stringifyExact } from '../codec/exact-json';
import { readFileSync } from 'node:fs';
import { type INamespace, Root, Type, Writer } from 'protobufjs';
import type { JsonObject, JsonValue } from '../object';
import { packageFile } from '../package-file';
import { isLarge, type Steps } from '../parts';
import type { Form } from './form';
import { concatSteps } from './print-steps';
import { type DocumentSource, infoOf, printV2Parts, V2_HEAD, V2_SECURITY } from './v2-document';

/** Of a tag: its field's length comes first. */
const LENGTH_DELIMITED = 2;

const MESSAGES_FILE = packageFile('generated', 'openapi-v2.json');

let documentType: Type | undefined;
let encodersAreReady = false;

/** The message `openapi.v2.Document` of proto/openapi/v2.proto. */
export function openApiV2Message(): Type {
  return (documentType ??= Root.fromJSON(JSON.parse(readFileSync(MESSAGES_FILE, 'utf8')) as INamespace).lookupType(
    'openapi.v2.Document',
  ));
}

/** Each field's message, of which its items are encoded one by one: the encodings after one another are that of all. */
const V2_PROTOBUF: Form = {
  dialect: 'v2',
  path: (name, item) => encode('Paths', { path: [{ name, value: pathItem(item) }] }),
  *definition(name, definition) {
    const value = yield* encodeSchemaSteps(definition);
    return Buffer.concat(nested('Definitions', 'additionalProperties', namedSchema(name, value)));
  },
  definitions: new WeakMap(),
  paths: new WeakMap(),
  discovery: new Map(),
};

function encode(message: string, value: JsonObject): Buffer {
  return Buffer.from(openApiV2Message().parent!.lookupType(message).encode(value).finish());
}

/**
 * The Protobuf form of the OpenAPI v2 document
 * (`application/com.github.proto-openapi.spec.v2@v1.0+protobuf`), which kubectl asks for.
 */
export function* printOpenApiV2Protobuf(source: DocumentSource): Steps<readonly Buffer[]> {
  yield* prepareEncoders();
  const { paths, definitions } = yield* printV2Parts(V2_PROTOBUF, source);
  yield;
  return [
    encode('Document', { ...V2_HEAD, info: infoOf(source) }),
    ...nested('Document', 'paths', paths),
    ...nested('Document', 'definitions', definitions),
    encode('Document', securityMessage()),
  ];
}

/** What the library generates for a message is made when it is first used, for all messages below it at once. */
function* prepareEncoders(): Generator<void, void, void> {
  if (encodersAreReady) return;
  const { parent } = openApiV2Message();
  yield;
  for (const type of parent!.nestedArray) {
    if (!(type instanceof Type)) continue;
    type.setup();
    yield;
  }
  encodersAreReady = true;
}

/** A field of a message that is a message itself, from the encoding of that in pieces. */
function nested(message: string, field: string, pieces: readonly Buffer[]): readonly Buffer[] {
  const { id } = openApiV2Message().parent!.lookupType(message).fields[field]!;
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const head = Writer.create()
    .uint32((id << 3) | LENGTH_DELIMITED)
    .uint32(length)
    .finish();
  return [Buffer.from(head), ...pieces];
}

/** In the messages a JSON object with keys of its own is a list of names and values. */
interface Named {
  readonly name: string;
  readonly value: JsonObject;
}

function named(map: JsonValue | undefined, convert: (value: JsonObject) => JsonObject): JsonValue {
  const entries = Object.entries((map ?? {}) as Readonly<Record<string, JsonObject>>);
  return entries.map(([name, value]): Named & JsonObject => ({ name, value: convert(value) }));
}

function securityMessage(): JsonObject {
  return {
    securityDefinitions: {
      additionalProperties: named(V2_SECURITY['securityDefinitions'], (definition) => ({
        apiKeySecurity: definition,
      })),
    },
    security: objects(V2_SECURITY['security']).map((requirement) => ({
      additionalProperties: Object.entries(requirement).map(([name, value]) => ({ name, value: { value } })),
    })),
  };
}

function pathItem(item: JsonObject): JsonObject {
  const entries = Object.entries(item).map(([key, value]): [string, JsonValue] => [
    key,
    key === 'parameters' ? objects(value).map(parameter) : operation(value as JsonObject),
  ]);
  return Object.fromEntries(entries);
}

function operation(source: JsonObject): JsonObject {
  return {
    ...withoutExtensions(source),
    parameters: objects(source['parameters']).map(parameter),
    responses: { responseCode: named(source['responses'], response) },
    vendorExtension: extensions(source),
  };
}

function parameter(source: JsonObject): JsonObject {
  switch (source['in']) {
    case 'body':
      return { parameter: { bodyParameter: { ...source, schema: schemaMessage(source['schema'] as JsonObject) } } };
    case 'path':
      return { parameter: { nonBodyParameter: { pathParameterSubSchema: source } } };
    default:
      return { parameter: { nonBodyParameter: { queryParameterSubSchema: source } } };
  }
}

function response(source: JsonObject): JsonObject {
  const schema = source['schema'] as JsonObject | undefined;
  return { response: { ...source, ...(schema === undefined ? {} : { schema: { schema: schemaMessage(schema) } }) } };
}

/** Members of a schema whose message is not their JSON value. */
const SCHEMA_MEMBERS: ReadonlyMap<string, (value: JsonValue) => readonly [string, JsonValue]> = new Map(
  Object.entries({
    $ref: (value) => ['_ref', value],
    type: (value) => ['type', { value: [value] }],
    default: (value) => ['default', yaml(value)],
    example: (value) => ['example', yaml(value)],
    enum: (value) => ['enum', (value as readonly JsonValue[]).map(yaml)],
    items: (value) => ['items', { schema: [schemaMessage(value as JsonObject)] }],
    properties: (value) => ['properties', { additionalProperties: named(value, schemaMessage) }],
    additionalProperties: (value) => [
      'additionalProperties',
      typeof value === 'boolean' ? { boolean: value } : { schema: schemaMessage(value as JsonObject) },
    ],
  }),
);

function schemaMessage(schema: JsonObject): JsonObject {
  const message: Record<string, JsonValue> = {};
  for (const [key, value] of Object.entries(withoutExtensions(schema))) {
    if (value === undefined) continue;
    const [name, converted] = SCHEMA_MEMBERS.get(key)?.(value) ?? [key, value];
    message[name] = converted;
  }
  const vendorExtension = extensions(schema);
  return vendorExtension.length === 0 ? message : { ...message, vendorExtension };
}

function namedSchema(name: string, schema: readonly Buffer[]): readonly Buffer[] {
  return [encode('NamedSchema', { name }), ...nested('NamedSchema', 'value', schema)];
}

/** protobufjs encodes a hundred messages within one another, and a level of JSON is two of them at most. */
const LEVELS_AT_ONCE = 30;

function isDeep(value: JsonValue | undefined, levels = LEVELS_AT_ONCE): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((member: JsonValue | undefined) => isDeep(member, levels - 1));
}

/** A large one in many steps: fields of a message may stand in any order, and those in it are encoded by themselves. */
function* encodeSchemaSteps(schema: JsonObject): Steps<readonly Buffer[]> {
  if (!isLarge(schema) && !isDeep(schema)) return [encode('Schema', schemaMessage(schema))];
  const { properties, items, additionalProperties, ...rest } = schema;
  const pieces: Buffer[] = [encode('Schema', schemaMessage(rest))];
  if (isSchema(properties)) {
    const ofProperties: Buffer[] = [];
    for (const [name, property] of Object.entries(properties as Readonly<Record<string, JsonObject>>)) {
      const named = namedSchema(name, yield* encodeSchemaSteps(property));
      ofProperties.push(...nested('Properties', 'additionalProperties', named));
      yield;
    }
    pieces.push(...nested('Schema', 'properties', ofProperties));
  }
  if (isSchema(items)) {
    const ofItems = nested('ItemsItem', 'schema', yield* encodeSchemaSteps(items));
    pieces.push(...nested('Schema', 'items', ofItems));
  }
  if (isSchema(additionalProperties)) {
    const ofValues = nested('AdditionalPropertiesItem', 'schema', yield* encodeSchemaSteps(additionalProperties));
    pieces.push(...nested('Schema', 'additionalProperties', ofValues));
  } else if (additionalProperties !== undefined) {
    pieces.push(encode('Schema', schemaMessage({ additionalProperties })));
  }
  // What is put together again and again would be as many pieces as there are properties.
  return [yield* concatSteps(pieces)];
}

function isSchema(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function withoutExtensions(source: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(source).filter(([key]) => !key.startsWith('x-')));
}

function extensions(source: JsonObject): readonly JsonObject[] {
  return Object.entries(source)
    .filter(([key]) => key.startsWith('x-'))
    .map(([name, value]) => ({ name, value: yaml(value ?? null) }));
}

/** JSON is YAML too; readers expect the text to end its line. */
function yaml(value: JsonValue): JsonObject {
  return { yaml: `${stringifyExact(value)}\n` };
}

function objects(value: JsonValue | undefined): readonly JsonObject[] {
  return (value ?? []) as readonly JsonObject[];
}
