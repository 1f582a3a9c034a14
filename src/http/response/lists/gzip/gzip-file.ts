import { crc32 } from 'node:zlib';
import { crc32Append, crc32Shift, type Crc32Part } from './crc32-append';

/** A piece of a deflate stream that can stand anywhere in one: ends at a byte, is not the last, looks back at nothing. */
export interface DeflatedPart extends Crc32Part {
  readonly bytes: Buffer;
  /** Before compression. */
  readonly length: number;
}

/** RFC 1952: deflate, no name, no time, fastest, Unix. */
const HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 3]);
/** An empty stored block that is the last. */
const LAST_BLOCK = Buffer.from([1, 0, 0, 0xff, 0xff]);
const MAX_STORED_BYTES = 0xffff;

/** Bytes that are not worth compressing, as deflate's stored blocks (RFC 1951, "Non-compressed blocks"). */
export function storedPart(bytes: Uint8Array): DeflatedPart {
  const blocks: Uint8Array[] = [];
  for (let from = 0; from < bytes.length; from += MAX_STORED_BYTES) {
    const stored = bytes.subarray(from, from + MAX_STORED_BYTES);
    const head = Buffer.alloc(5);
    head.writeUInt16LE(stored.length, 1);
    head.writeUInt16LE(~stored.length & 0xffff, 3);
    blocks.push(head, stored);
  }
  return { bytes: Buffer.concat(blocks), length: bytes.length, crc: crc32(bytes), shift: crc32Shift(bytes.length) };
}

/**
 * Puts a gzip file together from parts that are compressed already. Each method gives what comes next in the file; first
 * `head`, last `tail`.
 */
export class GzipFile {
  private crc = 0;
  private plainLength = 0;

  /** Of all parts so far, before compression. */
  get length(): number {
    return this.plainLength;
  }

  head(): Buffer {
    return HEADER;
  }

  part(part: DeflatedPart): Buffer {
    this.crc = crc32Append(this.crc, part);
    this.plainLength += part.length;
    return part.bytes;
  }

  tail(): Buffer {
    const sums = Buffer.alloc(8);
    sums.writeUInt32LE(this.crc, 0);
    sums.writeUInt32LE(this.plainLength % 2 ** 32, 4);
    return Buffer.concat([LAST_BLOCK, sums]);
  }
}
