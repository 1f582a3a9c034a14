import type { KubeObject } from '../../api/object';
import type { Status } from '../../api/errors/status-error';
import type { StructType } from '../../api/schema/model';
import type { ListResult } from '../../registry/types';
import type { CacheEntry } from '../../storage/cache/cache';
import type { ServedResource } from '../../resources/served-resource';
import type { Negotiated } from '../request/negotiate';

/** What an endpoint answers; `response-writer.ts` is the one place that turns it into bytes. */
export type ApiResponse =
  /** A stored object, in the served version. */
  | { readonly type: 'entry'; readonly code: number; readonly entry: CacheEntry; readonly served: ServedResource }
  | { readonly type: 'list'; readonly result: ListResult; readonly served: ServedResource }
  /** An object that is not of the storage: a Status, a Scale, a review. `struct` is its type, for Protobuf. */
  | {
      readonly type: 'object';
      readonly code: number;
      readonly object: WireObject;
      readonly struct?: StructType;
      /** When it is of a served kind: it may be asked for as a Table or as metadata only. */
      readonly served?: ServedResource;
    }
  /** Bytes of any kind. */
  | {
      readonly type: 'bytes';
      readonly code: number;
      readonly contentType: string;
      readonly body: Buffer | string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** No body: a redirect, or nothing to show. */
  | { readonly type: 'empty'; readonly code: number; readonly headers?: Readonly<Record<string, string>> }
  /** The endpoint has written, or will write, the answer itself (watches, logs, upgrades). */
  | { readonly type: 'streamed' };

/** An answer, and how it is to be written. */
export interface Dispatched {
  readonly response: ApiResponse;
  readonly negotiated: Negotiated;
}

/** In the version of its apiVersion, ready to be written. */
export type WireObject = KubeObject | Status | Readonly<Record<string, unknown>>;

export function entryResponse(code: number, entry: CacheEntry, served: ServedResource): ApiResponse {
  return { type: 'entry', code, entry, served };
}

export function statusResponse(code: number, status: Omit<Status, 'kind' | 'apiVersion' | 'metadata'>): ApiResponse {
  return { type: 'object', code, object: { kind: 'Status', apiVersion: 'v1', metadata: {}, ...status } };
}

export function textResponse(code: number, body: string, headers?: Readonly<Record<string, string>>): ApiResponse {
  return {
    type: 'bytes',
    code,
    contentType: 'text/plain; charset=utf-8',
    body,
    headers: { 'X-Content-Type-Options': 'nosniff', ...headers },
  };
}
