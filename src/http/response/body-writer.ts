import type { OutgoingHttpHeaders } from 'node:http';
import { createGzip } from 'node:zlib';
import type { MaybePromise } from '../../api/maybe-promise';
import type { Work } from '../../async/loop-work';
import { Turn } from '../../async/turn';
import type { ConnectionMemory } from '../../memory/memory-budget';
import { sharedBytesOf, type SharedBytes } from '../../memory/shared-bytes';
import { BlockWriter, drained, type Sink } from './block-writer';
import type { HttpResponse } from '../transport/exchange';
import { COPIED_BYTES } from '../transport/tls-copies';
import { cutPieces } from './pieces';
import { writeHead } from './response-head';

/** Bodies above this are compressed for clients that take gzip. */
const GZIP_FROM_BYTES = 128 * 1024;
/** The level at which compression costs least, as in kube-apiserver. */
const GZIP_LEVEL = 1;
const GZIP_CHUNK_BYTES = 64 * 1024;
/** Up to here copying is cheaper than a write of its own. */
const SMALL_BODY_BYTES = 16 * 1024;
/** Of a larger body so much is handed over at a time, and the next part when the client has taken the one before. */
const PART_BYTES = 256 * 1024;
/** zlib's memory for one stream at the level above, with the chunk that it writes to. */
const GZIP_BYTES = 384 * 1024;

/** What is compressed ahead of the client. */
const AHEAD_BYTES = 256 * 1024;

export interface BodyWrite {
  readonly code: number;
  readonly contentType: string;
  /** The sum of all pieces, where it is known before they are made. */
  readonly length: number | undefined;
  /** The request's header of that name. */
  readonly acceptEncoding: string | readonly string[] | undefined;
  /** Its memory is told what the client has not taken yet; looked up only for what is worth it. */
  readonly request: Work & { readonly memory: ConnectionMemory };
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
  response: HttpResponse,
  write: BodyWrite & { readonly length: number },
  ready: readonly Buffer[],
  /** The pieces are there anyway, whether this client takes them or not. */
  isShared: boolean,
): MaybePromise<number> {
  const { code, contentType, length } = write;
  if (length > GZIP_FROM_BYTES && takesGzip(write.acceptEncoding) && !response.hasHeader('Content-Encoding')) {
    return writePieces(response, write, [ready]);
  }
  writeHead(response, code, { 'Content-Type': contentType, 'Content-Length': length });
  // As text of one character per byte, a small body goes out in one write with the head; as bytes, it takes two.
  if (length <= SMALL_BODY_BYTES) {
    response.end(latin1Of(ready), 'latin1');
    return length;
  }
  const { memory } = write.request;
  const isInParts = length > PART_BYTES;
  memory.hold(isShared && isInParts ? COPIED_BYTES : length);
  if (isInParts) return writeInParts(response, ready, length, isShared ? memory : undefined);
  for (const piece of ready) response.write(piece);
  response.end();
  return length;
}

/**
 * The next part is handed over when the client has taken the one before. Bytes that others share are not copied: `sharing` is told
 * of them while they wait.
 */
async function writeInParts(
  response: HttpResponse,
  ready: readonly Buffer[],
  length: number,
  sharing: ConnectionMemory | undefined,
): Promise<number> {
  let shared: SharedBytes | undefined;
  for (const part of cutPieces(ready, PART_BYTES)) {
    if (!response.write(part) && response.writableNeedDrain) {
      if (sharing !== undefined && shared === undefined) {
        shared = sharedBytesOf(longestOf(ready));
        shared.join(sharing);
      }
      await drained(response, response);
    }
    if (response.destroyed) break;
  }
  if (sharing !== undefined) shared?.leave(sharing);
  response.end();
  return length;
}

function longestOf(pieces: readonly Buffer[]): Buffer {
  return pieces.reduce((one, other) => (other.length > one.length ? other : one));
}

function latin1Of(ready: readonly Buffer[]): string {
  let text = '';
  for (const piece of ready) text += piece.toString('latin1');
  return text;
}

/** Whether a body is compressed for its client: it takes gzip, and the body is large or may be. */
export function isCompressed({ length, acceptEncoding }: BodyWrite): boolean {
  return (length === undefined || length > GZIP_FROM_BYTES) && takesGzip(acceptEncoding);
}

/**
 * Pieces, some at a time, made as the client takes them: what it has not read yet holds them back, and between them others
 * have their turn. Resolves with the bytes of the body (before compression) when all are handed over or the client is gone.
 */
export async function writePieces(
  response: HttpResponse,
  write: BodyWrite,
  pieces: Iterable<MaybePromise<readonly Uint8Array[]>>,
): Promise<number> {
  const compressed = isCompressed(write);
  if (compressed) write.request.memory.hold(GZIP_BYTES);
  const open = (): Sink => {
    writeHead(response, write.code, headersOf(write, compressed));
    return compressed ? gzipInto(response) : response;
  };
  const out = new BlockWriter(response, open, write.request.memory);
  await handOver(out, pieces, write.request);
  out.end();
  return out.bytes;
}

/** Until all is written or the client is gone. */
async function handOver(
  out: BlockWriter,
  pieces: Iterable<MaybePromise<readonly Uint8Array[]>>,
  work: Work,
): Promise<void> {
  const turn = new Turn(work);
  for (const made of pieces) {
    const some = made instanceof Promise ? await made : made;
    if (made instanceof Promise) {
      if (out.closed) return;
      turn.restart();
    }
    for (const piece of some) {
      const waiting = out.write(piece);
      if (waiting === undefined) continue;
      await waiting;
      if (out.closed) return;
      // Many clients may have taken their parts in the same turn of the loop.
      await turn.next();
      if (out.closed) return;
    }
    if (!turn.isOver) continue;
    await turn.next();
    if (out.closed) return;
  }
}

/**
 * Pieces of a gzip file that is made as the client takes it. Resolves when all are handed over or the client is gone,
 * and then `pieces` is returned from.
 */
export async function writeGzipped(
  response: HttpResponse,
  write: BodyWrite,
  pieces: AsyncIterable<Uint8Array>,
): Promise<void> {
  // Until there is something to write, so that not all answers of a connection are begun at once.
  const { memory } = write.request;
  memory.hold(AHEAD_BYTES);
  const open = (): Sink => {
    memory.release(AHEAD_BYTES);
    writeHead(response, write.code, headersOf(write, true));
    return response;
  };
  const out = new BlockWriter(response, open, write.request.memory);
  for await (const piece of pieces) {
    const waiting = out.write(piece);
    if (waiting !== undefined) await waiting;
    if (out.closed) break;
  }
  out.end();
}

function headersOf({ contentType, length }: BodyWrite, compressed: boolean): OutgoingHttpHeaders {
  return {
    'Content-Type': contentType,
    ...(compressed && { 'Content-Encoding': 'gzip', Vary: 'Accept-Encoding' }),
    ...(!compressed && length !== undefined && { 'Content-Length': length }),
  };
}

function gzipInto(response: HttpResponse): Sink {
  const gzip = createGzip({ level: GZIP_LEVEL, chunkSize: GZIP_CHUNK_BYTES });
  gzip.pipe(response);
  // Nothing is read on for a client that is gone.
  response.once('close', () => gzip.destroy());
  return gzip;
}
