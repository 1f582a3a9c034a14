import type { IncomingHttpHeaders } from 'node:http';
import type { HeaderField, HeaderTable } from '../../http2/header-table';
import { readHeaderBlock } from '../../http2/hpack';
import { CONNECTION_HEADERS } from './connection-headers';

/**
 * Bytes of all headers of a request, as RFC 9113 (6.5.2) counts them. A token with all groups of its user has 16 kB at most, and
 * a thousand impersonated groups with long names take 100 kB.
 */
export const MAX_HEADER_LIST_BYTES = 128 * 1024;
/** As node:http has it for HTTP/1.1. */
export const MAX_FIELDS = 2_000;

/** Inherits nothing: a header may be named like what every object has. */
export type RequestHeaders = IncomingHttpHeaders;

/**
 * A prototype without a prototype, and not an object without one: V8 makes that a hash table, which costs more to make and to
 * read.
 */
const NewHeaders = function () {} as unknown as { new (): Record<string, string>; prototype: object };
NewHeaders.prototype = Object.create(null) as object;

export function newHeaders(): Record<string, string> {
  return new NewHeaders();
}

/** The first HEADERS of a stream, in the terms of HTTP/1.1. */
export interface RequestHead {
  readonly method: string;
  readonly url: string;
  /** Several values of one name are joined as node:http joins them. */
  readonly headers: RequestHeaders;
  /** All values of the names that came more than once. */
  readonly repeated: ReadonlyMap<string, readonly string[]> | undefined;
  /** As {@link MAX_HEADER_LIST_BYTES} counts. */
  readonly bytes: number;
}

/** `no room`: well-formed as far as it was looked at. */
export type HeadFault = 'malformed' | 'too large' | 'no room';

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
/** RFC 9110, section 5.6.2. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** RFC 9113 (8.3.1): a host and a port, never who asks. */
const AUTHORITY = /^[0-9A-Za-z\-._~%!$&'()*+,;=:[\]]*$/;
const NUMBER = /^\d{1,15}$/;
const COLON = 0x3a;
const SLASH = 0x2f;

/**
 * Reads a request's block of headers to its end whatever is wrong with it, since the table must stay the client's; what comes
 * after a fault is not looked at. Throws an {@link Http2Error} only for a block that cannot be read. `room`: bytes that the headers
 * may have, as {@link MAX_HEADER_LIST_BYTES} counts; what is refused for want of it costs no more than that.
 */
export function readRequestHead(block: Buffer, table: HeaderTable, room = Infinity): RequestHead | HeadFault {
  const collector = new HeadCollector(room);
  readHeaderBlock(block, table, (field) => collector.take(field));
  return collector.finish();
}

/** Reads trailers, of which nothing is used. */
export function readTrailers(block: Buffer, table: HeaderTable): HeadFault | undefined {
  const limit = new Limit();
  let fault: HeadFault | undefined;
  readHeaderBlock(block, table, (field) => {
    if (!limit.takes(field)) fault = 'too large';
    else if (isPseudo(field) || !isAllowed(field)) fault = 'malformed';
    return fault === undefined;
  });
  return fault;
}

class Limit {
  bytes = 0;
  #fields = 0;

  takes(field: HeaderField): boolean {
    this.bytes += field.bytes;
    return this.bytes <= MAX_HEADER_LIST_BYTES && ++this.#fields <= MAX_FIELDS;
  }
}

class HeadCollector {
  readonly #headers = newHeaders();
  readonly #limit = new Limit();
  #method: string | undefined;
  #url: string | undefined;
  #scheme: string | undefined;
  #authority: string | undefined;
  #repeated: Map<string, string[]> | undefined;
  #hasRegular = false;
  #fault: HeadFault | undefined;

  constructor(private readonly room: number) {}

  /** False when no more need come. */
  take(field: HeaderField): boolean {
    if (!this.#limit.takes(field)) this.#fault = 'too large';
    else if (this.#limit.bytes > this.room) this.#fault = 'no room';
    else if (!(isPseudo(field) ? this.#takePseudo(field) : this.#takeRegular(field))) this.#fault = 'malformed';
    return this.#fault === undefined;
  }

  finish(): RequestHead | HeadFault {
    if (this.#fault !== undefined) return this.#fault;
    const method = this.#method;
    const url = method === 'CONNECT' ? this.#connectTarget() : this.#target();
    if (method === undefined || url === undefined || !this.#hasOneHost()) return 'malformed';
    const headers = this.#headers;
    const repeated = this.#repeated;
    if (this.#authority !== undefined) headers.host = this.#authority;
    if (repeated !== undefined) joinRepeated(headers, repeated);
    return { method, url, headers, repeated, bytes: this.#limit.bytes };
  }

  /** RFC 9113, section 8.3.1. */
  #target(): string | undefined {
    const url = this.#url;
    if (url === undefined || this.#scheme === undefined) return undefined;
    return url.charCodeAt(0) === SLASH || (url === '*' && this.#method === 'OPTIONS') ? url : undefined;
  }

  /** RFC 9113, section 8.5. */
  #connectTarget(): string | undefined {
    return this.#url === undefined && this.#scheme === undefined ? this.#authority : undefined;
  }

  /** All who say it say the same host. */
  #hasOneHost(): boolean {
    const { host } = this.#headers;
    if (host === undefined) return true;
    const hosts = [...(this.#repeated?.get('host') ?? [host]), this.#authority ?? host].map((text) =>
      text.toLowerCase(),
    );
    return hosts.every((each) => each === hosts[0]);
  }

  /** False for what no request may have. */
  #takePseudo(field: HeaderField): boolean {
    const { name, value } = field;
    if (this.#hasRegular || !field.isWellFormed) return false;
    switch (name) {
      case ':method':
        if (this.#method !== undefined || !TOKEN.test(value)) return false;
        this.#method = value;
        return true;
      case ':path':
        if (this.#url !== undefined || value.includes(' ')) return false;
        this.#url = value;
        return true;
      case ':scheme':
        if (this.#scheme !== undefined || (value !== 'https' && value !== 'http')) return false;
        this.#scheme = value;
        return true;
      case ':authority':
        if (this.#authority !== undefined || !AUTHORITY.test(value)) return false;
        this.#authority = value;
        return true;
      default:
        return false;
    }
  }

  /** False for what no request may have. */
  #takeRegular(field: HeaderField): boolean {
    const { name, text: value } = field;
    this.#hasRegular = true;
    if (!isAllowed(field)) return false;
    const headers = this.#headers;
    const before = headers[name];
    if (name === 'content-length' && (!NUMBER.test(value) || (before !== undefined && before !== value))) return false;
    if (before === undefined) headers[name] = value;
    else this.#repeat(name, before, value);
    return true;
  }

  #repeat(name: string, before: string, value: string): void {
    const values = this.#repeated?.get(name);
    if (values === undefined) (this.#repeated ??= new Map()).set(name, [before, value]);
    else values.push(value);
  }
}

function isPseudo({ name }: HeaderField): boolean {
  return name.charCodeAt(0) === COLON;
}

/** RFC 9113, section 8.2. */
function isAllowed(field: HeaderField): boolean {
  const { name } = field;
  return field.isWellFormed && !CONNECTION_HEADERS.has(name) && (name !== 'te' || field.value === 'trailers');
}

/** At the end, so that the cost is that of the longest text and not of all on the way to it. */
function joinRepeated(headers: Record<string, string>, repeated: ReadonlyMap<string, readonly string[]>): void {
  for (const [name, values] of repeated) {
    if (!SINGLE.has(name)) headers[name] = values.join(name === 'cookie' ? '; ' : ', ');
  }
}
