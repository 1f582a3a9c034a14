import { createHash } from 'node:crypto';
import type { HttpRequest } from '../transport/exchange';

/** The tag of a document as the ETag header has it: SHA-512 in upper-case hex, in quotes. */
export function entityTag(document: Uint8Array): string {
  return `"${createHash('sha512').update(document).digest('hex').toUpperCase()}"`;
}

/** The client says in If-None-Match that it has the document of this tag. */
export function isKnown({ headers }: Pick<HttpRequest, 'headers'>, etag: string): boolean {
  const known = headers['if-none-match'];
  return known !== undefined && known.split(',').some((one) => one.trim() === etag || one.trim() === '*');
}
