import { badRequest, type StatusError } from '../errors/status-error';
import type { JsonObject } from '../object';
import { jsonTypeOf } from './json-decode';
import { JsonSyntaxError, duplicateFields, parseJson } from './json-syntax';
import { YamlSyntaxError, parseYaml, readYaml } from './yaml';

/** From the bytes of a request to a JSON object with apiVersion and kind, or to the 400 that says what it is not. */

export type TextFormat = 'json' | 'yaml';

const SHOWN_BYTES = 30;
const TYPE_META =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

/** The beginning of a body: as text when it looks like an object, in hex otherwise. */
function showBody(body: Uint8Array): string {
  if (body.length === 0) return '<empty>';
  const head = Buffer.from(body.subarray(0, SHOWN_BYTES));
  const looksLikeObject = /^\s*\{/.test(Buffer.from(body.subarray(0, 1024)).toString());
  return `${head.toString(looksLikeObject ? 'utf8' : 'hex')}${body.length > SHOWN_BYTES ? ' ...' : ''}`;
}

/** The 400 for a body that is no object of any kind. */
export function unrecognizedBody(expectedKind: string, problem: string, body: Uint8Array): StatusError {
  return badRequest(
    `the object provided is unrecognized (must be of type ${expectedKind}): ${problem} (${showBody(body)})`,
  );
}

function typeMetaProblem(value: unknown): string | undefined {
  const problem = (found: unknown, target: string): string => {
    return `couldn't get version/kind; json parse error: json: cannot unmarshal ${jsonTypeOf(found)} into Go ${target}`;
  };
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return problem(value, `value of type ${TYPE_META}`);
  const { apiVersion, kind } = value as Readonly<Record<string, unknown>>;
  for (const [name, found] of [
    ['apiVersion', apiVersion],
    ['kind', kind],
  ] as const) {
    if (found !== undefined && found !== null && typeof found !== 'string') {
      return problem(found, `struct field .${name} of type string`);
    }
  }
  if (typeof apiVersion === 'string' && apiVersion.split('/').length > 2) {
    return `unexpected GroupVersion string: ${apiVersion}`;
  }
  return undefined;
}

function parseText(text: string, format: TextFormat): unknown {
  return format === 'json' ? parseJson(text) : parseYaml(text);
}

/**
 * Parses a body into an object whose apiVersion and kind, if there, are texts of the right form; null and an empty YAML
 * document count as an empty object. `expectedKind` is for the message of the 400 StatusError that anything else gets.
 */
export function parseObjectBody(body: Uint8Array, format: TextFormat, expectedKind: string): JsonObject {
  let value: unknown;
  try {
    value = parseText(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString(), format);
  } catch (error) {
    throw unreadableBody(error, body, expectedKind);
  }
  return objectBody(value, body, expectedKind);
}

/** The 400 for a body that is no JSON or YAML; another error as it is. */
export function unreadableBody(error: unknown, body: Uint8Array, expectedKind: string): unknown {
  if (error instanceof JsonSyntaxError) {
    return unrecognizedBody(expectedKind, `couldn't get version/kind; json parse error: ${error.message}`, body);
  }
  return error instanceof YamlSyntaxError ? unrecognizedBody(expectedKind, error.message, body) : error;
}

/** The object that a body says. Throws the 400 for one that says something else. */
export function objectBody(said: unknown, body: Uint8Array, expectedKind: string): JsonObject {
  const value = said ?? {};
  const problem = typeMetaProblem(value);
  if (problem !== undefined) throw unrecognizedBody(expectedKind, problem, body);
  return value as JsonObject;
}

/** What a body names twice: the paths of fields in JSON, sentences in YAML. */
export function duplicatesOf(body: Uint8Array, format: TextFormat): readonly string[] {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString();
  return format === 'json' ? duplicateFields(text) : readYaml(text).duplicates;
}

/** What is wrong with a body beyond its types, for `fieldValidation=Strict` and `Warn`: one sentence each. */
export function strictProblems(
  format: TextFormat,
  duplicates: readonly string[],
  unknownFields: readonly string[],
): readonly string[] {
  const repeated = format === 'json' ? duplicates.map((path) => `duplicate field ${JSON.stringify(path)}`) : duplicates;
  return [...repeated, ...unknownFields.map((path) => `unknown field ${JSON.stringify(path)}`)];
}

/** What `fieldValidation=Strict` has against a body or a patch. */
export function strictDecodingProblem(problems: readonly string[]): string {
  return `strict decoding error: ${problems.join(', ')}`;
}

/** The 400 for `fieldValidation=Strict`; `kind` and `version` are the body's. */
export function strictDecodingError(kind: string, version: string, problems: readonly string[]): StatusError {
  return badRequest(
    `${kind} in version ${JSON.stringify(version)} cannot be handled as a ${kind}: ${strictDecodingProblem(problems)}`,
  );
}
