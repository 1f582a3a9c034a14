import type { ServerResponse } from 'node:http';
import { createGzip } from 'node:zlib';
import type { MaybePromise } from '../api/maybe-promise';
import { writeHead } from './response-head';

/** Bodies above this are compressed for clients that take gzip. */
const GZIP_FROM_BYTES = 128 * 1024;
/** The level at which compression costs least, as in kube-apiserver. */
const GZIP_LEVEL = 1;
const GZIP_CHUNK_BYTES = 64 * 1024;
/** Pieces are joined to blocks of this size before they are written. */
const BLOCK_BYTES = 256 * 1024;
/** The first of a body whose length is not known, which may be small. */
const FIRST_BLOCK_BYTES = 16 * 1024;
const EMPTY = Buffer.alloc(0);
/** Up to here copying is cheaper than a write of its own. */
const SMALL_BODY_BYTES = 16 * 1024;

export interface BodyWrite {
  readonly code: number;
  readonly contentType: string;
  /** The sum of all pieces, where it is known before they are made. */
  readonly length: number | undefined;
  /** The request's header of that name. */
  readonly acceptEncoding: string | readonly string[] | undefined;
}

/** A weight that refuses what it stands with (RFC 9110, "Quality Values"). */
const NO_WEIGHT = /^\s*q=0(\.0*)?\s*$/;

/** Whether an Accept-Encoding header takes gzip. */
export function takesGzip(acceptEncoding: string | readonly string[] | undefined): boolean {
  if (acceptEncoding === undefined) return false;
  return String(acceptEncoding)
    .split(',')
    .some((entry) => {
      const [coding = '', weight = ''] = entry.split(';');
      return coding.trim() === 'gzip' && !NO_WEIGHT.test(weight);
    });
}

/**
 * A few ready pieces of `length` bytes together, perhaps compressed already. Returns the bytes; a promise of them where
 * they are written in parts.
 */
export function writeReady(
  response: ServerResponse,
  write: BodyWrite & { readonly length: number },
  ready: readonly Buffer[],
): MaybePromise<number> {
  const { code, contentType, length } = write;
  if (length > GZIP_FROM_BYTES && takesGzip(write.acceptEncoding) && !response.hasHeader('Content-Encoding')) {
    return writePieces(response, write, ready);
  }
  writeHead(response, code, { 'Content-Type': contentType, 'Content-Length': length });
  // As text of one character per byte, a small body goes out in one write with the head; as bytes, it takes two.
  if (length <= SMALL_BODY_BYTES) response.end(latin1Of(ready), 'latin1');
  else response.end(ready.length === 1 ? ready[0] : Buffer.concat(ready, length));
  return length;
}

function latin1Of(ready: readonly Buffer[]): string {
  let text = '';
  for (const piece of ready) text += piece.toString('latin1');
  return text;
}

/**
 * Pieces, made as the client takes them: what it has not read yet holds them back. Resolves with the bytes of the body
 * (before compression) when all are handed over or the client is gone.
 */
export async function writePieces(
  response: ServerResponse,
  write: BodyWrite,
  pieces: Iterable<Uint8Array>,
): Promise<number> {
  const compress = (write.length === undefined || write.length > GZIP_FROM_BYTES) && takesGzip(write.acceptEncoding);
  const headers = {
    'Content-Type': write.contentType,
    ...(compress && { 'Content-Encoding': 'gzip', Vary: 'Accept-Encoding' }),
    ...(!compress && write.length !== undefined && { 'Content-Length': write.length }),
  };
  const sink = compress ? createGzip({ level: GZIP_LEVEL, chunkSize: GZIP_CHUNK_BYTES }) : response;
  if (compress) sink.pipe(response);
  let total = 0;
  for (const block of blocks(pieces, write.length)) {
    if (response.destroyed) break;
    // Not before there is something to write: until then whatever goes wrong can be told in a Status.
    if (!response.headersSent) writeHead(response, write.code, headers);
    total += block.length;
    if (!sink.write(block)) await drained(sink, response);
  }
  if (!response.headersSent) writeHead(response, write.code, headers);
  sink.end();
  return total;
}

/** Waits until more can be written, or the response is closed. */
function drained(sink: NodeJS.WritableStream, response: ServerResponse): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      sink.off('drain', done).off('error', fail);
      response.off('close', done);
    };
    const done = (): void => {
      leave();
      resolve();
    };
    const fail = (error: Error): void => {
      leave();
      reject(error);
    };
    sink.on('drain', done).on('error', fail);
    response.on('close', done);
    if (response.destroyed) done();
  });
}

/** Copies the pieces into blocks: a connection takes few large writes at a fraction of the cost of many small ones. */
function* blocks(pieces: Iterable<Uint8Array>, length: number | undefined): Iterable<Buffer> {
  let left = length ?? Infinity;
  let size = length === undefined ? FIRST_BLOCK_BYTES : BLOCK_BYTES;
  let block: Buffer = EMPTY;
  let used = 0;
  for (const piece of pieces) {
    let from = 0;
    while (from < piece.length) {
      if (used === block.length) {
        if (used > 0) yield block;
        left -= used;
        block = Buffer.allocUnsafeSlow(left > 0 ? Math.min(size, left) : size);
        size = BLOCK_BYTES;
        used = 0;
      }
      const count = Math.min(piece.length - from, block.length - used);
      block.set(count === piece.length ? piece : piece.subarray(from, from + count), used);
      used += count;
      from += count;
    }
  }
  if (used > 0) yield block.subarray(0, used);
}
