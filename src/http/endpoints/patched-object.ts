import { stringifyExact } from '../../api/codec/exact-json';
import { DecodeError, jsonTypeOf } from '../../api/codec/json-decode';
import { invalid } from '../../api/errors/field-error';
import { invalidObject, type StatusError } from '../../api/errors/status-error';
import { parseApiVersion, type JsonObject, type JsonValue } from '../../api/object';
import { documentDoesNotFit } from '../../api/patch/misfit';
import type { Patched } from './patchers';

/** What the patched document has to be. */
export interface PatchedKind {
  readonly kind: string;
  readonly apiVersion: string;
  /** Custom resources say themselves what they are. */
  readonly custom: boolean;
  /** Whether the kind is known in another version: a patch may say that it has turned the document into one of that. */
  readonly isKnownIn?: (apiVersion: string) => boolean;
}

/**
 * The patched document once it is known to be of the kind, decoded by `decode`. A kind that the patch took away comes back, as in
 * any body; without a version nothing in the document means anything. Throws a 422 StatusError that shows what the patch made, or the patch itself.
 */
export function decodePatched<T>(
  { document, doesNotFit }: Patched,
  wanted: PatchedKind,
  decode: (document: JsonObject) => T,
): T {
  const typed = ofKind(document, wanted);
  return withDecodeErrors(() => decode(typed), doesNotFit);
}

/** What `decode` yields, at once or later; when the object does not fit its type, the error that `toRefusal` makes of that. */
export function withDecodeErrors<T>(decode: () => T, toRefusal: (error: DecodeError) => StatusError): T {
  const refuse = (error: unknown): never => {
    throw error instanceof DecodeError ? toRefusal(error) : error;
  };
  try {
    const decoded = decode();
    return decoded instanceof Promise ? (decoded.catch(refuse) as T) : decoded;
  } catch (error) {
    return refuse(error);
  }
}

function ofKind(document: JsonValue, wanted: PatchedKind): JsonObject {
  if (typeof document !== 'object' || document === null || Array.isArray(document)) {
    throw documentDoesNotFit(document, `the patched document is no ${wanted.kind}`);
  }
  const object = document as JsonObject;
  const { kind, apiVersion } = object;
  if (kind === wanted.kind && apiVersion === wanted.apiVersion) return object;
  if (wanted.custom) throw otherCustomKind(object, wanted);
  const { kind: wantedKind, apiVersion: wantedVersion } = wanted;
  for (const [field, value] of Object.entries({ kind, apiVersion })) {
    if (typeof (value ?? '') === 'string') continue;
    throw documentDoesNotFit(
      document,
      `json: cannot unmarshal ${jsonTypeOf(value)} into Go struct field ${wantedKind}.${field} of type string`,
    );
  }
  const found = { kind: kind || wantedKind, apiVersion: apiVersion ?? '' };
  if (found.kind === wantedKind) {
    if (found.apiVersion === '') return { kind: wantedKind, apiVersion: wantedVersion };
    const isKnown = found.apiVersion === wantedVersion || wanted.isKnownIn?.(printed(found.apiVersion)) === true;
    if (isKnown) return { ...object, ...found };
  }
  throw documentDoesNotFit(
    document,
    `the patched document is of ${printed(found.apiVersion)}, Kind=${printed(found.kind)}, ` +
      `not of ${wanted.apiVersion}, Kind=${wanted.kind}`,
  );
}

/** A custom resource's kind is a field that its validation looks at. */
function otherCustomKind(
  { kind: foundKind, apiVersion: foundVersion, metadata }: JsonObject,
  { kind, apiVersion }: PatchedKind,
): StatusError {
  const sent = { group: parseApiVersion(printed(foundVersion)).group, kind: printed(foundKind) };
  const name = (metadata as { readonly name?: string } | null | undefined)?.name ?? '';
  return invalidObject(sent, name, [
    ...(foundKind === kind ? [] : [invalid('kind', sent.kind, `must be ${kind}`)]),
    ...(foundVersion === apiVersion ? [] : [invalid('apiVersion', printed(foundVersion), `must be ${apiVersion}`)]),
  ]);
}

function printed(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : stringifyExact(value ?? '');
}
