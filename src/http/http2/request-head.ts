import type { IncomingHttpHeaders } from 'node:http';
import { sizeOf, type HeaderField, type HeaderTable } from '../../http2/header-table';
import { readHeaderBlock } from '../../http2/hpack';
import { CONNECTION_HEADERS } from './connection-headers';

/** Bytes of all headers of a request, as RFC 9113 (6.5.2) counts them. */
export const MAX_HEADER_BYTES = 1024 * 1024;

/** The first HEADERS of a stream, in the terms of HTTP/1.1. */
export interface RequestHead {
  readonly method: string;
  readonly url: string;
  /** Several values of one name are joined as node:http joins them. */
  readonly headers: IncomingHttpHeaders;
  /** All values of the names that came more than once. */
  readonly repeated: ReadonlyMap<string, readonly string[]> | undefined;
  /** As {@link MAX_HEADER_BYTES} counts. */
  readonly bytes: number;
}

export type HeadFault = 'malformed' | 'too large';

const PSEUDO_HEADERS: ReadonlySet<string> = new Set([':method', ':path', ':scheme', ':authority']);
/** Of these the first value counts, as in node:http. */
const SINGLE: ReadonlySet<string> = new Set([
  'age',
  'authorization',
  'content-length',
  'content-type',
  'etag',
  'expires',
  'from',
  'host',
  'if-modified-since',
  'if-unmodified-since',
  'last-modified',
  'location',
  'max-forwards',
  'proxy-authorization',
  'referer',
  'retry-after',
  'server',
  'user-agent',
]);
/** RFC 9110 (5.6.2), without capitals. */
const NAME = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;
// eslint-disable-next-line no-control-regex -- what control characters there are is the point
const BAD_IN_VALUE = /[\0-\x08\x0a-\x1f\x7f]/;
const NUMBER = /^\d{1,15}$/;

/**
 * Reads a request's block of headers to its end whatever is wrong with it, since the table must stay the client's. Throws an
 * {@link Http2Error} only for a block that cannot be read.
 */
export function readRequestHead(block: Buffer, table: HeaderTable): RequestHead | HeadFault {
  const collector = new HeadCollector();
  readHeaderBlock(block, table, (field) => collector.take(field));
  return collector.finish();
}

/** Reads trailers, of which nothing is used. */
export function skipTrailers(block: Buffer, table: HeaderTable): void {
  readHeaderBlock(block, table, () => undefined);
}

class HeadCollector {
  readonly #pseudo: { [name: string]: string | undefined } = {};
  readonly #headers: Record<string, string> = {};
  #repeated: Map<string, string[]> | undefined;
  #hasRegular = false;
  #bytes = 0;
  #fault: HeadFault | undefined;

  take(field: HeaderField): void {
    this.#bytes += sizeOf(field);
    if (this.#bytes > MAX_HEADER_BYTES) this.#fault ??= 'too large';
    if (this.#fault !== undefined) return;
    const { name, value } = field;
    if (BAD_IN_VALUE.test(value)) this.#fault = 'malformed';
    else if (name.startsWith(':')) this.#takePseudo(name, value);
    else this.#takeRegular(name, value);
  }

  finish(): RequestHead | HeadFault {
    const { ':method': method, ':path': url, ':scheme': scheme, ':authority': authority } = this.#pseudo;
    if (this.#fault !== undefined) return this.#fault;
    if (!method || !url || !scheme) return 'malformed';
    if (authority !== undefined) this.#headers.host = authority;
    return { method, url, headers: this.#headers, repeated: this.#repeated, bytes: this.#bytes };
  }

  #takePseudo(name: string, value: string): void {
    if (this.#hasRegular || !PSEUDO_HEADERS.has(name) || this.#pseudo[name] !== undefined) this.#fault = 'malformed';
    this.#pseudo[name] = value;
  }

  #takeRegular(name: string, value: string): void {
    this.#hasRegular = true;
    if (!NAME.test(name) || CONNECTION_HEADERS.has(name) || (name === 'te' && value !== 'trailers')) {
      this.#fault = 'malformed';
    }
    const before: unknown = this.#headers[name];
    if (name === 'content-length' && (!NUMBER.test(value) || (typeof before === 'string' && before !== value))) {
      this.#fault = 'malformed';
    }
    // Names like "constructor" are found in every object.
    if (typeof before !== 'string') {
      this.#headers[name] = value;
      return;
    }
    const values = this.#repeated?.get(name);
    if (values === undefined) (this.#repeated ??= new Map()).set(name, [before, value]);
    else values.push(value);
    if (!SINGLE.has(name)) this.#headers[name] = `${before}${name === 'cookie' ? '; ' : ', '}${value}`;
  }
}
