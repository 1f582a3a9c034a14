import { Socket } from 'node:net';
import type { Server as TlsServer, TLSSocket } from 'node:tls';
import { PacedStarts } from '../../async/paced-starts';
import type { MemoryBudget } from '../../memory/memory-budget';
import { PacedEnds } from '../../async/paced-ends';
import { divertConnections } from './divert-connections';

/** What TLS copies of a write that is cut: a record. From 16 KiB on it makes a buffer of the size of the write. */
export const COPIED_BYTES = 16 * 1024 - 1;
/** Of the memory for clients, how much comes on top for buffers of larger writes. */
const SHARE = 1 / 4;

let isWithoutStacks = false;

/**
 * node:http makes an error for each request that its connection leaves behind, of which there may be thousands, and nearly all that
 * it costs is the stack, which is the same for all.
 */
function withoutStacks(): void {
  if (isWithoutStacks) return;
  isWithoutStacks = true;
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  process.nextTick(() => {
    Error.stackTraceLimit = stackTraceLimit;
    isWithoutStacks = false;
  });
}

type Done = (error?: Error | null) => void;

interface Chunk {
  readonly chunk: Buffer | string;
  readonly encoding: BufferEncoding;
}

/**
 * Bounds what TLS keeps and does. For a write it makes a buffer as large, and keeps that for as long as the connection
 * lasts: a thousand connections that were sent one large object each would hold a quarter of a gigabyte. So large writes are whole on
 * as many connections as there is room for, since they cost least then; on the others they go to TLS a record at a time. When thousands of connections take such records, or end, in one
 * turn of the loop, some milliseconds' worth of them have it, and the others the next ones.
 */
export class TlsCopies {
  readonly parts = new PacedStarts();
  readonly ends = new PacedEnds();
  #room: number;

  constructor(budget: MemoryBudget) {
    this.#room = budget.limitBytes * SHARE;
  }

  /** Also for connections that are other people's later on, such as those of HTTP/2. */
  attach(server: TlsServer): void {
    divertConnections(server, 'secureConnection', (socket: TLSSocket, pass) => {
      // One that is given back by an upgrade comes once more.
      if (!Object.hasOwn(socket, '_write')) new ConnectionWrites(socket, this);
      pass();
    });
  }

  /** For connections only. False: there is no room for that. */
  take(bytes: number): boolean {
    if (bytes > this.#room) return false;
    this.#room -= bytes;
    return true;
  }

  /** For connections only. */
  give(bytes: number): void {
    this.#room += bytes;
  }
}

/** Stands between a connection's stream and TLS. */
class ConnectionWrites {
  /** What TLS keeps of the largest write that was whole. */
  #kept = 0;

  constructor(
    private readonly socket: Socket,
    private readonly copies: TlsCopies,
  ) {
    socket._write = (chunk: Buffer | string, encoding, done) => this.#write({ chunk, encoding }, done);
    socket._writev = (chunks: Chunk[], done) => this.#writeAll(chunks, done);
    copies.ends.pace(socket);
    // Before node:http's own, which follows.
    socket.on('close', withoutStacks);
  }

  #write({ chunk, encoding }: Chunk, done: Done): void {
    if (this.#mayBeWhole(chunk.length)) Socket.prototype._write.call(this.socket, chunk, encoding, done);
    else this.#writeParts(partsOf([{ chunk, encoding }]), done);
  }

  #writeAll(chunks: Chunk[], done: Done): void {
    let length = 0;
    for (const { chunk } of chunks) length += chunk.length;
    if (this.#mayBeWhole(length)) Socket.prototype._writev!.call(this.socket, chunks, done);
    else this.#writeParts(partsOf(chunks), done);
  }

  #writeParts(parts: Iterator<Buffer>, done: Done): void {
    const next: Done = (error) => {
      const part = error ? undefined : parts.next();
      if (part === undefined || part.done === true) return done(error);
      const { value } = part;
      this.copies.parts.beginOrWait(this.socket, () => {
        Socket.prototype._write.call(this.socket, value, 'buffer' as BufferEncoding, next);
      });
    };
    next();
  }

  #mayBeWhole(length: number): boolean {
    if (length <= COPIED_BYTES || length <= this.#kept) return true;
    if (!this.copies.take(length - this.#kept)) return false;
    if (this.#kept === 0) this.socket.on('close', () => this.copies.give(this.#kept));
    this.#kept = length;
    return true;
  }
}

/** All bytes, as many at a time as TLS is to copy: small chunks are joined, large ones cut. */
function* partsOf(chunks: readonly Chunk[]): Iterator<Buffer> {
  let small: Buffer[] = [];
  let length = 0;
  for (const { chunk, encoding } of chunks) {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk;
    if (length + bytes.length > COPIED_BYTES && length > 0) {
      yield Buffer.concat(small, length);
      small = [];
      length = 0;
    }
    let at = 0;
    for (; bytes.length - at >= COPIED_BYTES; at += COPIED_BYTES) yield bytes.subarray(at, at + COPIED_BYTES);
    if (at === bytes.length) continue;
    small.push(bytes.subarray(at));
    length += bytes.length - at;
  }
  if (length > 0) yield Buffer.concat(small, length);
}
