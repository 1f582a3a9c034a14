import { internalError, StatusError } from '../../api/errors/status-error';
import type { JsonObject, JsonValue, KubeObject } from '../../api/object';
import { applyJsonPatch, MAX_COPIED_BYTES, MAX_OPERATIONS } from '../../api/patch/json-patch';
import type { Steps } from '../../api/parts';
import { applyJsonPatch as applyInSteps } from '../../api/steps/generated/patch/json-patch';
import { readJson } from './large-work';
import { printed } from './seen-objects';

/** What an object may become, in bytes of JSON: as much as a client may send. */
export const MAX_PATCHED_BYTES = 3 * 1024 * 1024;

/** To find the operation that cannot be applied, each is tried by itself. */
const MAX_EXPLAINED = 50;

/** The operations of an answer's patch. Throws the 500 for what is none. */
export function* readPatch(patch: Buffer): Steps<readonly JsonObject[]> {
  if (patch.length === 0) return [];
  let value: unknown;
  try {
    value = yield* readJson(patch);
  } catch (error) {
    throw internalError((error as Error).message);
  }
  if (value === null) return [];
  if (!Array.isArray(value)) throw internalError('a JSON patch must be a list of operations');
  if (value.length > MAX_OPERATIONS) {
    throw internalError(`the allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${value.length}`);
  }
  return value.map((operation: unknown) => {
    if (typeof operation !== 'object' || operation === null || Array.isArray(operation)) {
      throw internalError('each operation of a JSON patch must be an object');
    }
    return operation as JsonObject;
  });
}

/** What is patched, and how much of it there is at most afterwards but for what is copied. */
export interface Patching {
  readonly object: KubeObject;
  readonly operations: readonly JsonObject[];
  /** Of the object and of the patch, as JSON. */
  readonly bytes: number;
}

/** The object with the patch. Throws the 500 for operations that cannot be applied, or make it too large or too deep. */
export function* patchedDocument({ object, operations, bytes }: Patching): Steps<JsonObject> {
  const before = object as unknown as JsonObject;
  let document: JsonValue;
  try {
    document = yield* applyInSteps(before, operations);
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    throw internalError(explain(before, operations));
  }
  const copied = operations.some(({ op }) => op === 'copy') ? MAX_COPIED_BYTES : 0;
  if (bytes + copied > MAX_PATCHED_BYTES && (yield* printed(document as object)).length > MAX_PATCHED_BYTES) {
    throw internalError(`the patched object is larger than ${MAX_PATCHED_BYTES} bytes`);
  }
  return document as JsonObject;
}

/** Which operation cannot be applied, in the words that users of kube-apiserver know. */
function explain(document: JsonValue, operations: readonly JsonObject[]): string {
  if (operations.length > MAX_EXPLAINED) return 'an operation does not apply: missing value';
  let current = document;
  for (const operation of operations) {
    try {
      current = applyJsonPatch(current, [operation]);
    } catch {
      return describe(operation);
    }
  }
  return 'the patched object is nested too deeply';
}

function describe({ op, path }: JsonObject): string {
  const [name, place] = [typeof op === 'string' ? op : '', typeof path === 'string' ? path : ''];
  switch (name) {
    case 'remove': {
      const key = place.slice(place.lastIndexOf('/') + 1);
      return `error in remove for path: '${place}': Unable to remove nonexistent key: ${key}: missing value`;
    }
    case 'test':
      return `testing value ${place} failed: test failed`;
    case 'add':
    case 'replace':
    case 'copy':
    case 'move':
      return `${name} operation does not apply: doc is missing path: ${place}: missing value`;
    default:
      return `Unexpected kind: ${name}`;
  }
}
