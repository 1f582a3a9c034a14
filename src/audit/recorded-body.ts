import { parseExact, stringifyExact } from '../api/codec/exact-json';
import { JsonPieces } from '../api/codec/json-pieces';
import { printJson } from '../api/codec/json-print';
import { isLarge, type Steps } from '../api/parts';

/** What a body belongs to. */
interface Target {
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
}

type Json = Readonly<Record<string, unknown>>;

/** In place of a token: with it, readers of the log could act as its user. */
const REDACTED = '<redacted>';

/** A text, or the steps that make a long one. */
export type RecordedText = string | Steps<string>;

/** From here on a text is parsed in pieces. */
const LARGE_TEXT = 64 * 1024;
/** Some tenths of a millisecond. */
const PIECES = { maxValues: Infinity, pieceBytes: 32 * 1024 };

/** The JSON of the body that a client has sent: decoded, or the bytes of a patch. Empty: there is none that can be shown. */
export function recordedRequest(body: unknown, target: Target, omitManagedFields: boolean): RecordedText {
  if (body === undefined) return '';
  if (Buffer.isBuffer(body))
    return body.length > LARGE_TEXT ? largePatch(body, omitManagedFields) : patchText(body, omitManagedFields);
  return printed(shown(body, target, omitManagedFields));
}

/** The JSON of the answer: as it was made from stored bytes, or of the object that was answered. */
export function recordedResponse(
  text: string,
  object: unknown,
  target: Target,
  omitManagedFields: boolean,
): RecordedText {
  if (text === '') return object === undefined ? '' : printed(shown(object, target, omitManagedFields));
  if (!omitManagedFields) return text;
  return text.length > LARGE_TEXT
    ? printedInSteps(Buffer.from(text), true)
    : stringifyExact(withoutManagedFields(parseExact(text)));
}

function printed(value: unknown): RecordedText {
  return isLarge(value) ? textInSteps(value as object) : stringifyExact(value);
}

function* textInSteps(value: object): Steps<string> {
  return (yield* printJson(value)).bytes.toString();
}

function* printedInSteps(json: Buffer, omitManagedFields: boolean): Steps<string> {
  const value = yield* new JsonPieces(json, PIECES).steps();
  const text = printed(omitManagedFields ? withoutManagedFields(value) : value);
  return typeof text === 'string' ? text : yield* text;
}

function* largePatch(body: Buffer, omitManagedFields: boolean): Steps<string> {
  try {
    return yield* printedInSteps(body, omitManagedFields);
  } catch {
    return JSON.stringify(body.toString('utf8'));
  }
}

function patchText(body: Buffer, omitManagedFields: boolean): string {
  const text = body.toString('utf8');
  try {
    const patch = parseExact(text);
    return omitManagedFields ? stringifyExact(withoutManagedFields(patch)) : stringifyExact(patch);
  } catch {
    // An applied configuration in YAML is shown as the text that it is; so is what cannot be read.
    return JSON.stringify(text);
  }
}

function shown(body: unknown, target: Target, omitManagedFields: boolean): unknown {
  const redacted = withoutToken(body, target);
  return omitManagedFields ? withoutManagedFields(redacted) : redacted;
}

/** Reviews of tokens bring one, requests for tokens are answered with one. */
function withoutToken(body: unknown, { group, resource, subresource }: Target): unknown {
  if (group === 'authentication.k8s.io' && resource === 'tokenreviews') return redact(body, 'spec');
  if (group === '' && resource === 'serviceaccounts' && subresource === 'token') return redact(body, 'status');
  return body;
}

function redact(body: unknown, part: 'spec' | 'status'): unknown {
  if (!isMap(body)) return body;
  const holder = body[part];
  if (!isMap(holder) || typeof holder.token !== 'string' || holder.token === '') return body;
  return { ...body, [part]: { ...holder, token: REDACTED } };
}

function isMap(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Of an object, and of the items of a list. */
function withoutManagedFields(body: unknown): unknown {
  if (!isMap(body)) return body;
  const { metadata, items } = body;
  const copy: Record<string, unknown> = { ...body };
  if (isMap(metadata) && 'managedFields' in metadata) {
    const { managedFields: _managedFields, ...rest } = metadata;
    copy.metadata = rest;
  }
  if (Array.isArray(items)) copy.items = items.map(withoutManagedFields);
  return copy;
}
