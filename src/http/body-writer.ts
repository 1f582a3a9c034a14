import type { ServerResponse } from 'node:http';
import { once } from 'node:events';
import { createGzip, constants } from 'node:zlib';

/** Bodies above this are compressed for clients that take gzip. */
const GZIP_FROM_BYTES = 128 * 1024;
/** The level at which compression costs little. */
const GZIP_LEVEL = 4;
/** Small pieces are joined to blocks of this size before they are written. */
const BLOCK_BYTES = 64 * 1024;

export interface BodyWrite {
  readonly code: number;
  readonly contentType: string;
  /** The sum of all pieces, where it is known before they are made. */
  readonly length: number | undefined;
  readonly acceptsGzip: boolean;
}

/** Whether an Accept-Encoding header takes gzip. */
export function takesGzip(acceptEncoding: string | readonly string[] | undefined): boolean {
  return acceptEncoding !== undefined && String(acceptEncoding).includes('gzip');
}

/** One ready piece. Returns its bytes; a promise of them where it is written in parts. */
export function writeBuffer(response: ServerResponse, write: BodyWrite, body: Buffer): number | Promise<number> {
  if (write.acceptsGzip && body.length > GZIP_FROM_BYTES) return writePieces(response, write, [body]);
  response.writeHead(write.code, { 'Content-Type': write.contentType, 'Content-Length': body.length });
  response.end(body);
  return body.length;
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
  response.statusCode = write.code;
  response.setHeader('Content-Type', write.contentType);
  const compress = write.acceptsGzip && (write.length === undefined || write.length > GZIP_FROM_BYTES);
  if (compress) {
    response.setHeader('Content-Encoding', 'gzip');
    response.setHeader('Vary', 'Accept-Encoding');
  } else if (write.length !== undefined) {
    response.setHeader('Content-Length', write.length);
  }
  const sink = compress ? createGzip({ level: GZIP_LEVEL, flush: constants.Z_NO_FLUSH }) : response;
  if (compress) sink.pipe(response);
  let total = 0;
  for (const block of blocks(pieces)) {
    if (response.destroyed) break;
    total += block.length;
    if (!sink.write(block)) await drained(sink, response);
  }
  sink.end();
  return total;
}

/** Waits until more can be written, or the response is closed. */
async function drained(sink: NodeJS.WritableStream, response: ServerResponse): Promise<void> {
  const closed = new AbortController();
  const onClose = (): void => closed.abort();
  response.once('close', onClose);
  try {
    if (!response.destroyed) await once(sink, 'drain', { signal: closed.signal });
  } catch (error) {
    if (!closed.signal.aborted) throw error;
  } finally {
    response.off('close', onClose);
  }
}

/** Joins small pieces; a large one passes as it is. */
function* blocks(pieces: Iterable<Uint8Array>): Iterable<Uint8Array> {
  let waiting: Uint8Array[] = [];
  let size = 0;
  for (const piece of pieces) {
    if (size > 0 && size + piece.length > BLOCK_BYTES) {
      yield Buffer.concat(waiting, size);
      waiting = [];
      size = 0;
    }
    if (piece.length >= BLOCK_BYTES) {
      yield piece;
      continue;
    }
    waiting.push(piece);
    size += piece.length;
  }
  if (size > 0) yield Buffer.concat(waiting, size);
}
