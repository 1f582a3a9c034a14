import type { OutgoingHttpHeaders } from 'node:http';
import { encodeHeaders } from '../../http2/hpack';
import { CONNECTION_HEADERS } from './connection-headers';

const DATE_MS = 1000;
let dateUntil = 0;
let date = '';

/** Names in lower case. */
export type ResponseHeaders = Record<string, string | readonly string[]>;

/** Adds headers as node:http takes them to those that are set already. */
export function addHeaders(target: ResponseHeaders, headers: OutgoingHttpHeaders): void {
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined) target[name.toLowerCase()] = typeof value === 'number' ? String(value) : value;
  }
}

/** The block of an answer's head: the code, the date, and what else was set. */
export function encodeResponseHead(code: number, headers: ResponseHeaders): Buffer {
  const fields: ResponseHeaders = { ':status': String(code), date: dateNow() };
  for (const name in headers) if (!CONNECTION_HEADERS.has(name)) fields[name] = headers[name]!;
  return encodeHeaders(fields);
}

/** The block of what follows an answer's body. */
export function encodeTrailers(trailers: OutgoingHttpHeaders): Buffer {
  const fields: ResponseHeaders = {};
  addHeaders(fields, trailers);
  return encodeHeaders(fields);
}

/** The Date header changes once a second. */
function dateNow(): string {
  const now = Date.now();
  if (now >= dateUntil || now < dateUntil - DATE_MS) {
    dateUntil = now - (now % DATE_MS) + DATE_MS;
    date = new Date(now).toUTCString();
  }
  return date;
}
