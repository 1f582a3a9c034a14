import {
  duplicatesOf,
  objectBody,
  parseObjectBody,
  strictDecodingError,
  strictProblems,
  unreadableBody,
  unrecognizedBody,
} from '../../api/codec/request-body';
import { decodeObject, type DecodeOptions, type DecodeResult } from '../../api/codec/json-decode';
import { decodeObjectSteps } from '../../api/codec/json-decode-steps';
import { isEnvelope, openEnvelope, type Envelope } from '../../api/codec/protobuf-envelope';
import { decodeMessage } from '../../api/codec/protobuf-decode';
import { decodeMessageSteps } from '../../api/codec/protobuf-decode-steps';
import { invalid } from '../../api/errors/field-error';
import { badRequest, invalidObject, unsupportedMediaType, type StatusError } from '../../api/errors/status-error';
import { isRetiredKind } from '../../api/kinds/retired-kinds';
import type { MaybePromise } from '../../api/maybe-promise';
import {
  apiVersionOf,
  parseApiVersion,
  type GroupVersionKind,
  type JsonObject,
  type KubeObject,
} from '../../api/object';
import type { Schema, StructType } from '../../api/schema/model';
import type { RequestContext } from './context';
import { MAX_BODY_VALUES, MAX_OWNERSHIP_VALUES, nextTurn, type LargeBodies, type TextReading } from './large-bodies';
import { MEDIA_TYPES, type Format } from './negotiate';
import type { FieldValidation } from './write-options';

/** What a body is expected to be. */
export interface Expected {
  readonly kind: GroupVersionKind;
  readonly type: StructType;
  /** Custom resources say themselves what they are, and have no Protobuf. */
  readonly custom: boolean;
  readonly fieldValidation: FieldValidation;
  readonly schema: Schema;
  /** Other versions of the kind, in which the body may come as well. */
  readonly alternatives?: readonly { readonly kind: GroupVersionKind; readonly type: StructType }[];
}

const BODY_FORMATS: ReadonlyMap<string, Format> = new Map(
  (['json', 'yaml', 'protobuf'] as const).map((format) => [MEDIA_TYPES[format], format]),
);

/** The media type of a Content-Type header, in lower case, without parameters. */
export function mediaTypeOf(contentType: string | undefined): string {
  const text = contentType ?? '';
  const semicolon = text.indexOf(';');
  return (semicolon < 0 ? text : text.slice(0, semicolon)).trim().toLowerCase();
}

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const PARAMETERS = new RegExp(
  `^(?:[ \\t]*;[ \\t]*${TOKEN}[ \\t]*=[ \\t]*(?:${TOKEN}|"(?:[^"\\\\]|\\\\.)*"))*[ \\t]*;?[ \\t]*$`,
);

/** `; charset=utf-8`; one semicolon too many at the end does no harm. */
function hasReadableParameters(contentType: string): boolean {
  const semicolon = contentType.indexOf(';');
  return semicolon < 0 || PARAMETERS.test(contentType.slice(semicolon));
}

/** Absent means JSON. Throws the 415 that lists what is read. */
export function bodyFormat(contentType: string | undefined): Format {
  if (contentType === undefined || contentType === '' || contentType === MEDIA_TYPES.json) return 'json';
  const format = hasReadableParameters(contentType) ? BODY_FORMATS.get(mediaTypeOf(contentType)) : undefined;
  if (format === undefined) throw unknownBodyFormat([...BODY_FORMATS.keys()]);
  return format;
}

export function unknownBodyFormat(mediaTypes: readonly string[]): Error {
  return unsupportedMediaType(
    `the body of the request was in an unknown format - accepted media types include: ${mediaTypes.join(', ')}`,
  );
}

/**
 * From a body to the object of the expected kind and version: types checked, unknown fields gone (or refused, or warned
 * of), constant defaults filled in. A large body is worked on in turns. Throws 400, 413, 422 and 429 StatusErrors.
 */
export function decodeBody(
  context: RequestContext,
  body: Buffer,
  format: Format,
  expected: Expected,
  bodies: LargeBodies,
): MaybePromise<KubeObject> {
  if (bodies.isLarge(body, format)) return decodeLargeBody(context, body, format, expected, bodies);
  const object =
    format === 'protobuf'
      ? decodeProtobuf(openProtobuf(body, expected), expected)
      : fromText(context, parseObjectBody(body, format, expected.kind.kind), body, format, expected);
  context.requestObject = object;
  return object;
}

async function decodeLargeBody(
  context: RequestContext,
  body: Buffer,
  format: Format,
  expected: Expected,
  bodies: LargeBodies,
): Promise<KubeObject> {
  await bodies.begin(context, body);
  let object: KubeObject;
  if (format === 'protobuf') {
    const { found, raw } = openProtobuf(body, expected);
    const { type, options } = decodingOf(found, expected, false);
    const message = await context.takeSteps(decodeMessageSteps(typeOf(found, expected), raw, MESSAGE_LIMITS));
    const decoded = await context.takeSteps(decodeObjectSteps(type, message, options));
    object = typed(decoded.object, found);
  } else {
    const { value, duplicates } = await readLarge(context, body, format, expected, bodies);
    const parsed = objectBody(value, body, expected.kind.kind);
    const found = identifyText(parsed, expected);
    const { type, options } = decodingOf(found, expected, expected.fieldValidation !== 'Ignore');
    const decoded = await context.takeSteps(decodeObjectSteps(type, parsed, options));
    object = checked(context, decoded, found, format, expected, () => duplicates);
  }
  context.requestObject = object;
  await nextTurn(context);
  return object;
}

async function readLarge(
  context: RequestContext,
  body: Buffer,
  format: 'json' | 'yaml',
  { kind, fieldValidation }: Expected,
  bodies: LargeBodies,
): Promise<TextReading> {
  const wantsDuplicates = fieldValidation !== 'Ignore';
  try {
    return await (format === 'json'
      ? bodies.readJson(context, body, wantsDuplicates)
      : bodies.readYaml(context, body, wantsDuplicates));
  } catch (error) {
    throw unreadableBody(error, body, kind.kind);
  }
}

function fromText(
  context: RequestContext,
  parsed: JsonObject,
  body: Buffer,
  format: 'json' | 'yaml',
  expected: Expected,
): KubeObject {
  const found = identifyText(parsed, expected);
  const { type, options } = decodingOf(found, expected, expected.fieldValidation !== 'Ignore');
  return checked(context, decodeObject(type, parsed, options), found, format, expected, () =>
    duplicatesOf(body, format),
  );
}

function identifyText(parsed: JsonObject, expected: Expected): GroupVersionKind {
  const { kind: wanted, custom } = expected;
  const found = identify(parsed.apiVersion as string | undefined, parsed.kind as string | undefined, expected);
  if (custom && found.kind !== wanted.kind) {
    const name = (parsed.metadata as { name?: string } | undefined)?.name ?? '';
    throw invalidObject(found, name, [invalid('kind', found.kind, `must be ${wanted.kind}`)]);
  }
  return found;
}

function decodingOf(
  found: GroupVersionKind,
  expected: Expected,
  collectUnknown: boolean,
): { readonly type: StructType; readonly options: DecodeOptions } {
  const { kind } = expected.kind;
  return {
    type: typeOf(found, expected),
    options: { applyDefaults: true, collectUnknown, kind, version: found.version },
  };
}

/** `duplicates`: what the body names twice; asked for when that matters. */
function checked(
  context: RequestContext,
  { object, unknownFields }: DecodeResult,
  found: GroupVersionKind,
  format: 'json' | 'yaml',
  { kind: { kind, version }, fieldValidation }: Expected,
  duplicates: () => readonly string[],
): KubeObject {
  if (fieldValidation !== 'Ignore') {
    const problems = strictProblems(format, duplicates(), unknownFields);
    reportStrict(context, fieldValidation, problems, () => strictDecodingError(kind, version, problems));
  }
  return typed(object, found);
}

function typeOf(found: GroupVersionKind, { type, alternatives }: Expected): StructType {
  return alternatives?.find(({ kind }) => sameKind(kind, found))?.type ?? type;
}

/** With `Strict` problems refuse the request by throwing `refusal`, with `Warn` they are headers of the answer. */
export function reportStrict(
  context: RequestContext,
  fieldValidation: FieldValidation,
  problems: readonly string[],
  refusal: () => StatusError,
): void {
  if (problems.length === 0) return;
  if (fieldValidation === 'Strict') throw refusal();
  for (const problem of problems) context.warn(problem);
}

interface OpenedBody {
  readonly found: GroupVersionKind;
  /** The message, without its envelope. */
  readonly raw: Uint8Array;
}

const MESSAGE_LIMITS = { maxValues: MAX_BODY_VALUES, maxOwnershipValues: MAX_OWNERSHIP_VALUES };

function openProtobuf(body: Buffer, expected: Expected): OpenedBody {
  const { kind: wanted, custom } = expected;
  if (custom && isEnvelope(body)) throw unrecognizedBody(wanted.kind, 'custom resources have no Protobuf form', body);
  const { apiVersion, kind, raw } = openBody(body, wanted.kind);
  return { found: identify(apiVersion, kind, expected), raw };
}

function decodeProtobuf({ found, raw }: OpenedBody, expected: Expected): KubeObject {
  const message = decodeMessage(typeOf(found, expected), raw, MESSAGE_LIMITS);
  const { type, options } = decodingOf(found, expected, false);
  return typed(decodeObject(type, message, options).object, found);
}

function openBody(body: Buffer, expectedKind: string): Envelope {
  try {
    return openEnvelope(body);
  } catch (error) {
    if (!(error instanceof Error) || error instanceof TypeError) throw error;
    throw unrecognizedBody(expectedKind, error instanceof RangeError ? 'unexpected EOF' : error.message, body);
  }
}

/** What the body says it is, completed by what is expected. Throws a 400 when the two do not go together. */
function identify(apiVersion: string | undefined, kind: string | undefined, expected: Expected): GroupVersionKind {
  const { kind: wanted, custom, schema, alternatives = [] } = expected;
  if (custom && (!kind || !apiVersion)) {
    throw badRequest(
      `${wanted.kind} in version ${JSON.stringify(wanted.version)} cannot be handled as a ${wanted.kind}: ` +
        `Object '${!kind ? 'Kind' : 'apiVersion'}' is missing`,
    );
  }
  const found: GroupVersionKind = {
    kind: kind || wanted.kind,
    ...(apiVersion ? parseApiVersion(apiVersion) : { group: wanted.group, version: wanted.version }),
  };
  const sameVersion = found.group === wanted.group && found.version === wanted.version;
  if (sameVersion && (found.kind === wanted.kind || custom)) return found;
  if (alternatives.some(({ kind: other }) => sameKind(other, found))) return found;
  const isKnown = schema.kind(found.group, found.version, found.kind) !== undefined || isRetiredKind(found);
  if (!custom && !isKnown) {
    throw unhandled(
      found,
      wanted,
      `no kind ${JSON.stringify(found.kind)} is registered for version ${JSON.stringify(apiVersionOf(found.group, found.version))}`,
    );
  }
  if (found.kind === wanted.kind) {
    throw badRequest(
      `the API version in the data (${apiVersionOf(found.group, found.version)}) does not match the expected API version (${apiVersionOf(wanted.group, wanted.version)})`,
    );
  }
  throw unhandled(
    found,
    wanted,
    `converting (${goName(found, found.version)}) to (${goName(wanted, groupPackage(wanted))}): unknown conversion`,
  );
}

function sameKind(one: GroupVersionKind, other: GroupVersionKind): boolean {
  return one.group === other.group && one.version === other.version && one.kind === other.kind;
}

function unhandled(found: GroupVersionKind, wanted: GroupVersionKind, problem: string): Error {
  return badRequest(
    `${found.kind} in version ${JSON.stringify(found.version)} cannot be handled as a ${wanted.kind}: ${problem}`,
  );
}

function goName({ kind }: GroupVersionKind, packageName: string): string {
  return `${packageName}.${kind}`;
}

/** The API's messages name groups by their first word; the one without a name is `core`. */
function groupPackage({ group }: GroupVersionKind): string {
  return group === '' ? 'core' : (group.split('.')[0] ?? group);
}

function typed(object: KubeObject, { group, version, kind }: GroupVersionKind): KubeObject {
  return { ...object, kind, apiVersion: apiVersionOf(group, version) };
}
