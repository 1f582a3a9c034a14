import { stringifyExact } from '../codec/exact-json';
import { printGoValue } from '../apply/go-text';
import type { DecodeProblem } from '../codec/json-decode';
import { invalid } from '../errors/field-error';
import { shownPart } from '../errors/shown-value';
import { StatusError } from '../errors/status-error';
import type { JsonObject, JsonValue } from '../object';

/** 422 for a patched document that is no object of its kind; it shows the document. */
export function documentDoesNotFit(document: JsonValue, detail: string): StatusError {
  return misfit(stringifyExact(shownPart(document)), detail);
}

/**
 * 422 for a strategic merge patch whose result does not fit the type of the object. Such a patch is applied to maps and
 * the maps are then restored to an object, so that the answer shows the patch and speaks of what could not be restored.
 */
export function strategicPatchDoesNotFit(patch: JsonObject, problem: DecodeProblem): StatusError {
  const detail = problem.kind === 'spelling' ? problem.message : restoreProblem(problem);
  return strategicPatchRefused(patch, detail);
}

/** 422 for a strategic merge patch, which it shows. */
export function strategicPatchRefused(patch: JsonObject, detail: string): StatusError {
  return misfit(printGoValue(shownPart(patch)), detail);
}

function misfit(shown: string, detail: string): StatusError {
  const { reason, field, message } = invalid('patch', shown, detail);
  return new StatusError(422, 'Invalid', ` "" is invalid: ${field}: ${message}`, {
    causes: [{ reason, message, field }],
  });
}

function restoreProblem({ value, expected }: Extract<DecodeProblem, { kind: 'mismatch' }>): string {
  const { sort, type } = goTypeOf(value);
  if (expected.startsWith('[]')) return `cannot restore slice from ${sort}`;
  if (expected.startsWith('map[')) return `cannot restore map from ${sort}`;
  if (expected.includes('.')) return `cannot restore struct from: ${sort}`;
  // Numbers can be converted to each other and to texts, but are not; between other sorts there is no conversion.
  const isConvertible = sort === 'int64' ? expected !== 'bool' : sort === 'float64' && /^(?:int|float)/.test(expected);
  return isConvertible ? `cannot convert ${type} to ${expected}` : `unrecognized type: ${expected}`;
}

/** What Go's decoder makes of a JSON value: the sort of the type, and its name. */
function goTypeOf(value: unknown): { readonly sort: string; readonly type: string } {
  if (Array.isArray(value)) return { sort: 'slice', type: '[]interface {}' };
  if (typeof value === 'object') return { sort: 'map', type: 'map[string]interface {}' };
  if (typeof value === 'bigint') return { sort: 'int64', type: 'int64' };
  const sort = typeof value === 'number' ? (Number.isInteger(value) ? 'int64' : 'float64') : typeof value;
  return sort === 'boolean' ? { sort: 'bool', type: 'bool' } : { sort, type: sort };
}
