import { JsonSyntaxError, parseJson } from '../api/codec/json-syntax';
import { badRequest } from '../api/errors/status-error';
import type { JsonObject, JsonValue } from '../api/object';
import { applyJsonPatch } from '../api/patch/json-patch';
import { applyMergePatch } from '../api/patch/merge-patch';
import { applyStrategicMergePatch } from '../api/patch/strategic-merge';
import type { StructType } from '../api/schema/model';

export const JSON_PATCH = 'application/json-patch+json';
export const MERGE_PATCH = 'application/merge-patch+json';
export const STRATEGIC_MERGE_PATCH = 'application/strategic-merge-patch+json';
export const APPLY_PATCH = 'application/apply-patch+yaml';

/**
 * From what is there to what is wanted. Both are in the requested version; the type is that version's. Throws the
 * StatusError of a patch that cannot be read or applied.
 */
export type Patcher = (current: JsonObject, patch: Buffer, type: StructType) => JsonObject;

/** `emptyProblem`: what is said of a body that is not there; each format has its own word for it. */
function readPatch(body: Buffer, emptyProblem = 'unexpected end of JSON input'): JsonValue {
  try {
    return parseJson(body.toString('utf8')) as JsonValue;
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw badRequest(body.length === 0 ? emptyProblem : error.message);
    throw error;
  }
}

function isObject(value: JsonValue): value is JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

function readObject(body: Buffer, emptyProblem?: string): JsonObject {
  const patch = readPatch(body, emptyProblem);
  if (!isObject(patch)) throw badRequest('error decoding patch: the patch must be an object');
  return patch;
}

function objectOf(patched: JsonValue): JsonObject {
  if (!isObject(patched)) throw badRequest('the patched document is not an object');
  return patched;
}

/** How each patch format is applied; server-side apply is no patch of a document and has its own way. */
export const patchers: ReadonlyMap<string, Patcher> = new Map<string, Patcher>([
  [JSON_PATCH, (current, body) => objectOf(applyJsonPatch(current, readPatch(body)))],
  [MERGE_PATCH, (current, body) => objectOf(applyMergePatch(current, readObject(body)))],
  [STRATEGIC_MERGE_PATCH, (current, body, type) => applyStrategicMergePatch(type, current, readObject(body, 'EOF'))],
]);
