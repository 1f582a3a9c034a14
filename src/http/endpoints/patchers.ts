import { type DecodeError } from '../../api/codec/json-decode';
import { JsonSyntaxError, parseJson } from '../../api/codec/json-syntax';
import { badRequest, type StatusError } from '../../api/errors/status-error';
import type { JsonObject, JsonValue } from '../../api/object';
import type { Steps } from '../../api/parts';
import { applyJsonPatch } from '../../api/patch/json-patch';
import { applyMergePatch } from '../../api/patch/merge-patch';
import { documentDoesNotFit, strategicPatchDoesNotFit, strategicPatchRefused } from '../../api/patch/misfit';
import { applyStrategicMergePatch } from '../../api/patch/strategic-merge';
import * as jsonPatch from '../../api/steps/generated/patch/json-patch';
import * as mergePatch from '../../api/steps/generated/patch/merge-patch';
import * as strategicMerge from '../../api/steps/generated/patch/strategic-merge';
import type { StructType } from '../../api/schema/model';

export const JSON_PATCH = 'application/json-patch+json';
export const MERGE_PATCH = 'application/merge-patch+json';
export const STRATEGIC_MERGE_PATCH = 'application/strategic-merge-patch+json';
export const APPLY_PATCH = 'application/apply-patch+yaml';

/** The format of a patch: its Content-Type without parameters, letter by letter (`Merge-Patch` is none). */
export function patchTypeOf(contentType: string | undefined): string {
  const [mediaType = ''] = (contentType ?? '').split(';', 1);
  return mediaType;
}

/** What a patch made. */
export interface Patched {
  /** Anything: whether it is an object of the kind is yet to be seen. */
  readonly document: JsonValue;
  /** The 422 for a document that cannot be decoded, in the words of the patch's format. */
  readonly doesNotFit: (error: DecodeError) => StatusError;
  /** The 422 for a document that something else is wrong with. */
  readonly refused: (detail: string) => StatusError;
}

/**
 * From what is there to what is wanted. Both are in the requested version; the type is that version's. Throws the
 * StatusError of a patch that cannot be read or applied.
 */
export interface Patcher {
  (current: JsonObject, patch: JsonValue, type: StructType): Patched;
  /** The same where the object or the patch is large. */
  readonly inSteps: (current: JsonObject, patch: JsonValue, type: StructType) => Steps<Patched>;
}

/** What the body of a patch says. Throws the 400 for what is no JSON. */
export function readPatch(patchType: string, body: Buffer): JsonValue {
  const text = body.toString('utf8');
  // Each format has its own word for a body that is not there.
  if (patchType === STRATEGIC_MERGE_PATCH && text.trim() === '') throw badRequest('EOF');
  try {
    return parseJson(text) as JsonValue;
  } catch (error) {
    throw unreadablePatch(error);
  }
}

/** The 400 for what is no JSON; another error as it is. */
export function unreadablePatch(error: unknown): unknown {
  return error instanceof JsonSyntaxError ? badRequest(error.message) : error;
}

function isObject(value: JsonValue): value is JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

function notAnObject(): StatusError {
  return badRequest('error decoding patch: the patch must be an object');
}

/** A strategic patch is read into a Go map: null makes none, which changes nothing. */
function strategicPatch(patch: JsonValue): JsonObject {
  if (patch === null) return {};
  if (isObject(patch)) return patch;
  const found = Array.isArray(patch) ? 'array' : typeof patch === 'boolean' ? 'bool' : typeof patch;
  throw badRequest(`json: cannot unmarshal ${found} into Go value of type map[string]interface {}`);
}

function changed(document: JsonValue): Patched {
  const refused = (detail: string): StatusError => documentDoesNotFit(document, detail);
  return { document, doesNotFit: ({ detail }) => refused(detail), refused };
}

function patchByOperations(current: JsonObject, patch: JsonValue): Patched {
  return changed(applyJsonPatch(current, patch));
}

patchByOperations.inSteps = function* (current: JsonObject, patch: JsonValue): Steps<Patched> {
  return changed(yield* jsonPatch.applyJsonPatch(current, patch));
};

/** A list is a merge patch as well: it replaces the document, which is no object afterwards. */
function patchByMerge(current: JsonObject, patch: JsonValue): Patched {
  if (patch === null || typeof patch !== 'object') throw notAnObject();
  return changed(applyMergePatch(current, patch));
}

patchByMerge.inSteps = function* (current: JsonObject, patch: JsonValue): Steps<Patched> {
  if (patch === null || typeof patch !== 'object') throw notAnObject();
  return changed(yield* mergePatch.applyMergePatch(current, patch));
};

function patchStrategically(current: JsonObject, sent: JsonValue, type: StructType): Patched {
  const patch = strategicPatch(sent);
  return changedStrategically(current, patch, applyStrategicMergePatch(type, current, patch));
}

patchStrategically.inSteps = function* (current: JsonObject, sent: JsonValue, type: StructType): Steps<Patched> {
  const patch = strategicPatch(sent);
  return changedStrategically(current, patch, yield* strategicMerge.applyStrategicMergePatch(type, current, patch));
};

/** A strategic patch is made on the type: what it says of kind and apiVersion counts for nothing, but has to be text. */
function changedStrategically({ kind, apiVersion }: JsonObject, patch: JsonObject, merged: JsonObject): Patched {
  for (const value of [merged.apiVersion, merged.kind]) {
    if (typeof (value ?? '') !== 'string')
      throw strategicPatchDoesNotFit(patch, { kind: 'mismatch', value, expected: 'string' });
  }
  return {
    document: merged.kind === kind && merged.apiVersion === apiVersion ? merged : { ...merged, kind, apiVersion },
    doesNotFit: ({ problem }) => strategicPatchDoesNotFit(patch, problem),
    refused: (detail) => strategicPatchRefused(patch, detail),
  };
}

/** How each patch format is applied; server-side apply is no patch of a document and has its own way. */
export const patchers: ReadonlyMap<string, Patcher> = new Map<string, Patcher>([
  [JSON_PATCH, patchByOperations],
  [MERGE_PATCH, patchByMerge],
  [STRATEGIC_MERGE_PATCH, patchStrategically],
]);

const OPERATION_MEMBERS: ReadonlySet<string> = new Set(['op', 'path', 'from', 'value']);

/**
 * What is wrong with a patch that can be applied all the same, for `fieldValidation=Strict` and `Warn`: members that it
 * names twice (`duplicateFields` has their paths), and members that no operation has.
 */
export function strictPatchProblems(
  patchType: string,
  patch: JsonValue,
  duplicateFields: readonly string[],
): readonly string[] {
  const duplicates = duplicateFields.map((path) => `duplicate field ${JSON.stringify(path)}`);
  if (patchType !== JSON_PATCH) return duplicates;
  const operations = (patch ?? []) as readonly (JsonObject | null)[];
  const unknown = operations.flatMap((operation, index) =>
    Object.keys(operation ?? {})
      .filter((name) => !OPERATION_MEMBERS.has(name))
      .map((name) => `unknown field ${JSON.stringify(`[${index}].${name}`)}`),
  );
  return [...unknown, ...duplicates].map((problem) => `json patch ${problem}`);
}
