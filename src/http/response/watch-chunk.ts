import { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { MemoryHolder } from '../../memory/memory-budget';
import { sharedBytesOf } from '../../memory/shared-bytes';
import type { WatchItem } from '../../registry/types';
import type { HttpResponse } from '../transport/exchange';
import { COPIED_BYTES } from '../transport/tls-copies';
import { cutPieces } from './pieces';
import type { WatchEncoder } from './watch-encoder';

/** The events of one turn of the loop as one chunk of a chunked body, ready to be sent on any number of connections. */
export interface WatchChunk {
  /** `<length in hex>\r\n<body>\r\n`: mostly in one piece; large objects are pieces of their own, as they lie in memory. */
  readonly framed: readonly Buffer[];
  /** The body alone. */
  readonly pieces: readonly Buffer[];
  /** Bytes of the body. */
  readonly length: number;
}

/** What may wait for a client before it holds its watch back. The stream's own bound is reached by one chunk of many events. */
export const MAX_UNSENT_BYTES = 64 * 1024;

/** Of a longer chunk so much is handed over at a time, and the next part when the client has taken the one before. */
const PART_BYTES = 256 * 1024;

/** From here on a piece is not copied. */
const UNCOPIED_BYTES = 64 * 1024;

const LINE_END = Buffer.from('\r\n');

const remembered = new WeakMap<WatchEncoder, WeakMap<readonly WatchItem[], WatchChunk>>();

/** Streams that are given the same items in the same format share the chunk. */
export function encodeBatch(items: readonly WatchItem[], encoder: WatchEncoder): WatchChunk {
  if (!encoder.shared) return chunkOf(items, encoder);
  let chunks = remembered.get(encoder);
  if (chunks === undefined) remembered.set(encoder, (chunks = new WeakMap()));
  let chunk = chunks.get(items);
  if (chunk === undefined) chunks.set(items, (chunk = chunkOf(items, encoder)));
  return chunk;
}

function chunkOf(items: readonly WatchItem[], encoder: WatchEncoder): WatchChunk {
  const all: Uint8Array[] = [LINE_END];
  let length = 0;
  for (const item of items) {
    const encoded = item.type === 'BOOKMARK' ? encoder.bookmark(item) : encoder.event(item.type, item.entry);
    for (const piece of encoded) {
      all.push(piece);
      length += piece.length;
    }
  }
  const size = Buffer.from(`${length.toString(16)}\r\n`);
  all[0] = size;
  all.push(LINE_END);
  const framed = joinSmall(all);
  const last = framed.length - 1;
  const pieces = framed.map((piece, index) =>
    piece.subarray(index === 0 ? size.length : 0, piece.length - (index === last ? LINE_END.length : 0)),
  );
  return { framed, pieces: pieces.filter((piece) => piece.length > 0), length };
}

/** The same bytes, with neighbours joined that are not large. */
function joinSmall(pieces: readonly Uint8Array[]): readonly Buffer[] {
  const joined: Buffer[] = [];
  let from = 0;
  pieces.forEach((piece, index) => {
    if (piece.length < UNCOPIED_BYTES) return;
    if (from < index) joined.push(Buffer.concat(pieces.slice(from, index)));
    joined.push(Buffer.isBuffer(piece) ? piece : Buffer.from(piece.buffer, piece.byteOffset, piece.length));
    from = index + 1;
  });
  joined.push(Buffer.concat(from === 0 ? pieces : pieces.slice(from)));
  return joined;
}

/**
 * False when the connection wants to be drained before more. Writes the ready chunk to the connection itself: the
 * response would frame it again for each stream, in four writes. Safe because the head is out, and because a response
 * has a connection only while it is its turn on it.
 */
export function writeChunk(response: HttpResponse, { framed, pieces }: WatchChunk): boolean {
  const socket = chunkedSocket(response);
  if (socket === undefined) {
    let isTaken = true;
    for (const piece of pieces) isTaken = response.write(piece) && isTaken;
    return isTaken;
  }
  const first = framed[0]!;
  if (framed.length === 1 && first.length <= PART_BYTES) {
    return socket.write(first) || socket.writableLength <= MAX_UNSENT_BYTES;
  }
  socket.write(first.subarray(0, PART_BYTES));
  return false;
}

/**
 * Hands over what is left of a chunk that the connection did not take at once, as `drained` says that it has taken what came before.
 * The chunk is held once for all that wait for it; what TLS has copied, for each of them.
 */
export async function chunkTaken(
  response: HttpResponse,
  { framed, length }: WatchChunk,
  memory: MemoryHolder,
  drained: () => Promise<void>,
): Promise<void> {
  const socket = chunkedSocket(response);
  const copied = socket === undefined ? 0 : Math.min(length, COPIED_BYTES);
  const shared = framed.map(sharedBytesOf);
  memory.hold(copied);
  for (const bytes of shared) bytes.join(memory);
  await drained();
  let isFirst = true;
  for (const part of socket === undefined ? [] : cutPieces(framed, PART_BYTES)) {
    if (isFirst) isFirst = false;
    else if (response.destroyed) break;
    else if (!socket!.write(part)) await drained();
  }
  for (const bytes of shared) bytes.leave(memory);
  memory.release(copied);
}

/** What tells when more can be written. */
export function drainSource(response: HttpResponse): Socket | HttpResponse {
  return chunkedSocket(response) ?? response;
}

/** The connection, where it is the answer's alone and takes chunks. */
function chunkedSocket(response: HttpResponse): Socket | undefined {
  if (!(response instanceof ServerResponse) || !response.chunkedEncoding || !response.headersSent) return undefined;
  return response.socket ?? undefined;
}
