import { withoutLineBreaks } from '../api/codec/base64';
import { JsonSyntaxError, parseJson } from '../api/codec/json-syntax';
import { badRequest, expired, type StatusError } from '../api/errors/status-error';
import type { Revision } from '../storage/store';

/**
 * Continue tokens have kube-apiserver's form, so that a list begun there can be continued here: base64url of JSON with
 * the revision of the first page and the key, relative to the list's prefix, where the next one starts.
 */

const VERSION = 'meta.k8s.io/v1';
/** Stands for "whatever is newest": the token of an expired list's inconsistent rest. */
const INCONSISTENT = -1;

export interface ContinueToken {
  /** Undefined: the newest state. */
  readonly revision: Revision | undefined;
  /** A whole key, the first of the next page. */
  readonly start: string;
}

/** `start` begins with `prefix`. */
export function encodeContinueToken({ revision, start }: ContinueToken, prefix: string): string {
  const fields = { v: VERSION, rv: revision ?? INCONSISTENT, start: start.slice(prefix.length) };
  return Buffer.from(JSON.stringify(fields)).toString('base64url');
}

/** Throws 400, in the words of the API, for what is no token or leaves the prefix. */
export function decodeContinueToken(token: string, prefix: string): ContinueToken {
  const { v, rv, start } = readFields(decodeBase64Url(token));
  if (v !== VERSION) throw invalidToken(`server does not recognize this encoded version ${JSON.stringify(v)}`);
  if (rv === 0) throw invalidToken(`incorrect encoded start resourceVersion (version ${VERSION})`);
  if (start === '') throw invalidToken(`encoded start key empty (version ${VERSION})`);
  const relative = start.startsWith('/') ? start.slice(1) : start;
  if (relative.split('/').some((part) => part === '' || part === '.' || part === '..')) throw invalidToken(start);
  // Negative numbers other than -1 mean the same.
  return { revision: rv < 0 ? undefined : (rv as Revision), start: prefix + relative };
}

/** The 410 that offers to go on without consistency. */
export function expiredToken({ start }: ContinueToken, prefix: string): StatusError {
  return expired(
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without ' +
      'the continue parameter, or use the continue token in this response to retrieve the remainder of the results. ' +
      'Continuing with the provided token results in an inconsistent list - objects that were created, modified, or ' +
      'deleted between the time the first chunk was returned and now may show up in the list.',
    encodeContinueToken({ revision: undefined, start }, prefix),
  );
}

function invalidToken(cause: string): StatusError {
  return badRequest(`invalid continue token: continue key is not valid: ${cause}`);
}

function decodeBase64Url(token: string): Buffer {
  const text = withoutLineBreaks(token);
  const bad = text.search(/[^A-Za-z0-9_-]/);
  const offset = bad >= 0 ? bad : text.length % 4 === 1 ? text.length - 1 : -1;
  if (offset >= 0) throw invalidToken(`illegal base64 data at input byte ${offset}`);
  return Buffer.from(text, 'base64url');
}

interface TokenFields {
  readonly v: string;
  readonly rv: number;
  readonly start: string;
}

function readFields(bytes: Buffer): TokenFields {
  let fields: unknown;
  try {
    fields = parseJson(bytes.toString('utf8'), bytes) ?? {};
  } catch (error) {
    throw error instanceof JsonSyntaxError ? invalidToken(error.message) : error;
  }
  if (typeof fields !== 'object' || Array.isArray(fields)) {
    throw invalidToken(`json: cannot unmarshal ${jsonTypeOf(fields)} into Go value of type etcd3.continueToken`);
  }
  const { v, rv, start } = fields as Readonly<Record<string, unknown>>;
  if (typeof (rv ?? 0) !== 'number' || !Number.isInteger(rv ?? 0)) throw wrongType('rv', rv, 'int64');
  return {
    v: readText('v', v),
    rv: Math.min((rv ?? 0) as number, Number.MAX_SAFE_INTEGER),
    start: readText('start', start),
  };
}

function readText(field: string, value: unknown): string {
  if (typeof (value ?? '') !== 'string') throw wrongType(field, value, 'string');
  return (value ?? '') as string;
}

function wrongType(field: string, value: unknown, type: string): StatusError {
  return invalidToken(
    `json: cannot unmarshal ${jsonTypeOf(value)} into Go struct field continueToken.${field} of type ${type}`,
  );
}

/** As messages name it; a number that does not fit is named with its value. */
function jsonTypeOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'number' : `number ${value}`;
  return typeof value === 'boolean' ? 'bool' : typeof value;
}
