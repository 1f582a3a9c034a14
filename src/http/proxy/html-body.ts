import type { IncomingMessage } from 'node:http';
import { pipeline, Transform, type Readable } from 'node:stream';
import { createDeflateRaw, createGunzip, createGzip, createInflateRaw } from 'node:zlib';
import { HtmlLinks } from './html-links';
import { proxiedLink, type ProxiedPlace } from './links';

const ENCODINGS: ReadonlyMap<string, () => readonly [Transform, Transform]> = new Map([
  ['gzip', () => [createGunzip(), createGzip()] as const],
  ['deflate', () => [createInflateRaw(), createDeflateRaw()] as const],
]);

/** The body of a page, with its links changed. Undefined for what is no page, or is encoded in an unknown way. */
export function withChangedLinks(message: IncomingMessage, place: ProxiedPlace): Readable | undefined {
  const { 'content-type': contentType = '', 'content-encoding': encoding = '' } = message.headers;
  if (!contentType.startsWith('text/html')) return undefined;
  const links = linksOf(place);
  if (encoding === '') return pipeline(message, links, ignore);
  const coders = ENCODINGS.get(encoding)?.();
  if (coders === undefined) return undefined;
  const [decode, encode] = coders;
  return pipeline(message, decode, links, encode, ignore);
}

/** Bytes are taken as latin1, which keeps them as they are: what is looked for is ASCII in every encoding of pages. */
function linksOf(place: ProxiedPlace): Transform {
  const links = new HtmlLinks((link) => proxiedLink(link, place));
  return new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      done(null, Buffer.from(links.push(chunk.toString('latin1')), 'latin1'));
    },
    flush: (done) => done(null, Buffer.from(links.end(), 'latin1')),
  });
}

/** The body's reader learns of it. */
function ignore(): void {}
