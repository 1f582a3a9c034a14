import { canonicalBase64 } from '../../api/codec/base64';
import { quoteGo } from '../../api/errors/go-quote';
import { keysOf, type Steps } from '../../api/parts';
import type { ResponseStatus } from './failures';
import { readJson } from './large-work';
import { reviewApiVersion } from './review';
import type { ReviewVersion, WebhookType } from './webhook';

/** What a webhook answered, once it is known to be an answer to what it was asked. */
export interface ReviewResponse {
  readonly allowed: boolean;
  readonly status: ResponseStatus | undefined;
  /** The bytes of a JSON Patch; empty: none. */
  readonly patch: Buffer;
  readonly patchType: string;
  readonly auditAnnotations: Readonly<Record<string, string>>;
  readonly warnings: readonly string[];
}

/** What was asked. */
export interface ReviewQuestion {
  readonly uid: string;
  readonly version: ReviewVersion;
  readonly type: WebhookType;
}

type Json = Readonly<Record<string, unknown>>;

/**
 * Reads the AdmissionReview that a webhook answered with. Throws an Error for what is none, or none of the version that was sent, or
 * answers something else. Of v1beta1 neither uid nor type are looked at, as they never were.
 */
export function* readResponse(body: Buffer, { uid, version, type }: ReviewQuestion): Steps<ReviewResponse> {
  const review = yield* parseReview(body);
  const apiVersion = textOf(review, 'apiVersion') ?? '';
  const kind = textOf(review, 'kind') ?? '';
  checkVersion(apiVersion, kind, version);
  const response = mapOf(review['response'], 'response');
  if (response === undefined) throw new Error('webhook response was absent');
  const read = yield* readFields(response);
  const answered = textOf(response, 'uid') ?? '';
  if (version === 'v1beta1') {
    const mutates = type === 'admit' && read.patch.length > 0;
    return { ...read, patch: mutates ? read.patch : NO_BYTES, patchType: mutates ? 'JSONPatch' : '' };
  }
  if (answered !== uid) throw new Error(`expected response.uid=${quoteGo(uid)}, got ${quoteGo(answered)}`);
  if (apiVersion === '' || kind === '') {
    throw new Error(
      `expected webhook response of ${reviewApiVersion(version)}, Kind=AdmissionReview, got ${apiVersion || '/'}, Kind=${kind}`,
    );
  }
  checkPatchType(read, response['patchType'] ?? undefined, type);
  return read;
}

const TEXTS_AT_ONCE = 256;
const NO_BYTES = Buffer.alloc(0);

function* parseReview(body: Buffer): Steps<Json> {
  const unreadable = (problem: string): Error => new Error(`couldn't get version/kind; json parse error: ${problem}`);
  let value: unknown;
  try {
    value = yield* readJson(body);
  } catch (error) {
    throw unreadable((error as Error).message);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw unreadable('the answer is no map');
  return value as Json;
}

/** A review may leave out what it is; nothing else may be said. */
function checkVersion(apiVersion: string, kind: string, version: ReviewVersion): void {
  const wanted = reviewApiVersion(version);
  if (kind !== '' && kind !== 'AdmissionReview') {
    throw new Error(
      `no kind ${quoteGo(kind)} is registered for version ${quoteGo(apiVersion || wanted)} in scheme "admission"`,
    );
  }
  if (apiVersion !== '' && apiVersion !== wanted) {
    const got = apiVersion.slice(apiVersion.lastIndexOf('/') + 1);
    throw new Error(`converting (${got}.AdmissionReview) to (${version}.AdmissionReview): unknown conversion`);
  }
}

function* readFields(response: Json): Steps<ReviewResponse> {
  const { allowed = false } = response;
  if (typeof allowed !== 'boolean') throw new Error('response.allowed is no boolean');
  return {
    allowed,
    status: readStatus(mapOf(response['status'], 'response.status')),
    patch: readBase64(textOf(response, 'patch') ?? ''),
    patchType: textOf(response, 'patchType') ?? '',
    auditAnnotations: yield* textsOf(response['auditAnnotations'], 'response.auditAnnotations'),
    warnings: listOf(response['warnings'], 'response.warnings'),
  };
}

function checkPatchType({ patch, patchType }: ReviewResponse, sentType: unknown, type: WebhookType): void {
  if (type === 'validating') {
    if (patch.length > 0) throw new Error('validating webhook may not return response.patch');
    if (sentType !== undefined) throw new Error('validating webhook may not return response.patchType');
    return;
  }
  if (patch.length > 0 && sentType === undefined) {
    throw new Error('webhook returned response.patch but not response.patchType');
  }
  if (patch.length === 0 && sentType !== undefined) {
    throw new Error('webhook returned response.patchType but not response.patch');
  }
  if (sentType !== undefined && patchType === '') {
    throw new Error(`webhook returned invalid response.patchType of ${quoteGo(patchType)}`);
  }
}

function readStatus(status: Json | undefined): ResponseStatus | undefined {
  if (status === undefined) return undefined;
  const { code = 0 } = status;
  if (typeof code !== 'number' || !Number.isInteger(code)) throw new Error('response.status.code is no integer');
  const details = mapOf(status['details'], 'response.status.details');
  const metadata = mapOf(status['metadata'], 'response.status.metadata');
  return {
    code,
    message: textOf(status, 'message') ?? '',
    reason: textOf(status, 'reason') ?? '',
    ...(details === undefined ? {} : { details: readDetails(details) }),
    ...(metadata === undefined ? {} : { metadata: readMetadata(metadata) }),
  };
}

/** Only what a Status has. */
function readDetails(details: Json): NonNullable<ResponseStatus['details']> {
  const { causes, retryAfterSeconds } = details;
  if (causes !== undefined && causes !== null && !Array.isArray(causes)) {
    throw new Error('response.status.details.causes is no list');
  }
  return {
    ...textFields(details, ['name', 'group', 'kind', 'uid']),
    ...(Array.isArray(causes)
      ? {
          causes: causes.map((cause) =>
            textFields(mapOf(cause, 'response.status.details.causes[]') ?? {}, ['reason', 'message', 'field']),
          ),
        }
      : {}),
    ...(typeof retryAfterSeconds === 'number' && retryAfterSeconds !== 0 ? { retryAfterSeconds } : {}),
  };
}

function readMetadata(metadata: Json): NonNullable<ResponseStatus['metadata']> {
  return textFields(metadata, ['selfLink', 'resourceVersion', 'continue']);
}

function textFields(map: Json, names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const text = textOf(map, name);
      return text ? [[name, text]] : [];
    }),
  );
}

function readBase64(text: string): Buffer {
  try {
    return Buffer.from(canonicalBase64(text), 'base64');
  } catch {
    throw new Error('response.patch: illegal base64 data');
  }
}

function mapOf(value: unknown, what: string): Json | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'object' || Array.isArray(value)) throw new Error(`${what} is no map`);
  return value as Json;
}

function textOf(map: Json, name: string): string | undefined {
  const value = map[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw new Error(`${name} is no text`);
  return value;
}

function* textsOf(value: unknown, what: string): Steps<Readonly<Record<string, string>>> {
  const map = mapOf(value, what) ?? {};
  for (const [index, key] of keysOf(map).entries()) {
    if (typeof map[key] !== 'string') throw new Error(`${what} has what is no text`);
    if (index % TEXTS_AT_ONCE === TEXTS_AT_ONCE - 1) yield;
  }
  return map as Readonly<Record<string, string>>;
}

function listOf(value: unknown, what: string): readonly string[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value) || value.some((text) => typeof text !== 'string'))
    throw new Error(`${what} is no list of texts`);
  return value as readonly string[];
}
