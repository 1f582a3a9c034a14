import { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { MemoryHolder } from '../../memory/memory-budget';
import { SharedBytes } from '../../memory/shared-bytes';
import type { WatchItem } from '../../registry/types';
import type { HttpResponse } from '../transport/exchange';
import { COPIED_BYTES } from '../transport/tls-copies';
import type { WatchEncoder } from './watch-encoder';

/** The events of one turn of the loop as one chunk of a chunked body, ready to be sent on any number of connections. */
export interface WatchChunk {
  /** `<length in hex>\r\n<body>\r\n` */
  readonly framed: Buffer;
  /** Where the body begins. */
  readonly start: number;
  /** Bytes of the body. */
  readonly length: number;
  /** For connections that have not taken it. */
  readonly shared: SharedBytes;
}

/** What may wait for a client before it holds its watch back. The stream's own bound is reached by one chunk of many events. */
export const MAX_UNSENT_BYTES = 64 * 1024;

/** Of a longer chunk so much is handed over at a time, and the next part when the client has taken the one before. */
const PART_BYTES = 256 * 1024;

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
  const pieces: Uint8Array[] = [LINE_END];
  let length = 0;
  for (const item of items) {
    const encoded = item.type === 'BOOKMARK' ? encoder.bookmark(item) : encoder.event(item.type, item.entry);
    for (const piece of encoded) {
      pieces.push(piece);
      length += piece.length;
    }
  }
  const size = Buffer.from(`${length.toString(16)}\r\n`);
  pieces[0] = size;
  pieces.push(LINE_END);
  return {
    framed: Buffer.concat(pieces, size.length + length + LINE_END.length),
    start: size.length,
    length,
    shared: new SharedBytes(length),
  };
}

/**
 * False when the connection wants to be drained before more. Writes the ready chunk to the connection itself: the
 * response would frame it again for each stream, in four writes. Safe because the head is out, and because a response
 * has a connection only while it is its turn on it.
 */
export function writeChunk(response: HttpResponse, { framed, start, length }: WatchChunk): boolean {
  const socket = chunkedSocket(response);
  if (socket === undefined) return response.write(framed.subarray(start, start + length));
  if (framed.length <= PART_BYTES) return socket.write(framed) || socket.writableLength <= MAX_UNSENT_BYTES;
  socket.write(framed.subarray(0, PART_BYTES));
  return false;
}

/**
 * Hands over what is left of a chunk that the connection did not take at once, as `drained` says that it has taken what came before.
 * The chunk is held once for all that wait for it; what TLS has copied, for each of them.
 */
export async function chunkTaken(
  response: HttpResponse,
  chunk: WatchChunk,
  memory: MemoryHolder,
  drained: () => Promise<void>,
): Promise<void> {
  const { framed, shared } = chunk;
  const socket = chunkedSocket(response);
  const copied = socket === undefined ? 0 : Math.min(framed.length, COPIED_BYTES);
  memory.hold(copied);
  shared.join(memory);
  await drained();
  for (let at = PART_BYTES; socket !== undefined && at < framed.length && !response.destroyed; at += PART_BYTES) {
    if (!socket.write(framed.subarray(at, at + PART_BYTES))) await drained();
  }
  shared.leave(memory);
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
