import { ErrorCode, Http2Error } from './http2-error';
import { decodeHuffman } from './huffman';

export type Headers = ReadonlyMap<string, string>;

/** RFC 7541, appendix A: names, some with a value; the first has index 1. */
const staticTable: readonly (readonly [name: string, value: string])[] = `
:authority|:method=GET|:method=POST|:path=/|:path=/index.html|:scheme=http|:scheme=https|:status=200|:status=204|
:status=206|:status=304|:status=400|:status=404|:status=500|accept-charset|accept-encoding=gzip, deflate|
accept-language|accept-ranges|accept|access-control-allow-origin|age|allow|authorization|cache-control|
content-disposition|content-encoding|content-language|content-length|content-location|content-range|content-type|
cookie|date|etag|expect|expires|from|host|if-match|if-modified-since|if-none-match|if-range|if-unmodified-since|
last-modified|link|location|max-forwards|proxy-authenticate|proxy-authorization|range|referer|refresh|retry-after|
server|set-cookie|strict-transport-security|transfer-encoding|user-agent|vary|via|www-authenticate`
  .replaceAll('\n', '')
  .split('|')
  .map((entry) => {
    const [name = '', value = ''] = entry.split('=');
    return [name, value];
  });

// How a field begins (RFC 7541, section 6), and how many bits of that byte belong to the number that follows.
const INDEXED = 0x80;
const INDEXED_BITS = 7;
const LITERAL_INDEXED = 0x40;
const LITERAL_INDEXED_BITS = 6;
const TABLE_SIZE = 0x20;
const TABLE_SIZE_BITS = 5;
/** "Without indexing" and "never indexed", which differ only for those who pass a field on. */
const LITERAL_BITS = 4;

const HUFFMAN = 0x80;
const STRING_LENGTH_BITS = 7;
/** Far beyond every length and index; keeps the arithmetic within 32 bits. */
const MAX_INTEGER = 2 ** 24;

/** A block that refers to the static table only, so that neither side needs a memory. Names are in lower case. */
export function encodeHeaders(fields: Readonly<Record<string, string>>): Buffer {
  const bytes: number[] = [];
  for (const [name, value] of Object.entries(fields)) {
    const whole = staticTable.findIndex((entry) => entry[0] === name && entry[1] === value) + 1;
    if (whole > 0) {
      pushInteger(bytes, INDEXED, INDEXED_BITS, whole);
      continue;
    }
    const index = staticTable.findIndex((entry) => entry[0] === name) + 1;
    pushInteger(bytes, 0, LITERAL_BITS, index);
    if (index === 0) pushString(bytes, name);
    pushString(bytes, value);
  }
  return Buffer.from(bytes);
}

/** Blocks that came before, with what they mean: a block without state always means the same, and servers repeat themselves. */
const known = new Map<string, Headers>();
const MAX_KNOWN = 64;
const MAX_KNOWN_BYTES = 256;

/**
 * Reads a whole block of someone who was told that we keep no dynamic table (SETTINGS_HEADER_TABLE_SIZE 0). A field that
 * is to be remembered is then larger than the table, which RFC 7541 (4.4) allows; a reference to one is an error. The last of
 * several fields of one name wins. Throws an {@link Http2Error}.
 */
export function decodeHeaders(block: Buffer): Headers {
  if (block.length > MAX_KNOWN_BYTES) return readBlock(block);
  const key = block.toString('latin1');
  const before = known.get(key);
  if (before !== undefined) return before;
  const headers = readBlock(block);
  if (known.size === MAX_KNOWN) known.clear();
  known.set(key, headers);
  return headers;
}

function readBlock(block: Buffer): Headers {
  const headers = new Map<string, string>();
  const reader = new BlockReader(block);
  while (!reader.isAtEnd) {
    const first = reader.peek();
    if (first & INDEXED) {
      headers.set(...staticEntry(reader.integer(INDEXED_BITS)));
    } else if (!(first & LITERAL_INDEXED) && first & TABLE_SIZE) {
      if (reader.integer(TABLE_SIZE_BITS) > 0) throw compressionError('the header table is larger than we allow');
      if (headers.size > 0) throw compressionError('the header table changes within a block');
    } else {
      const index = reader.integer(first & LITERAL_INDEXED ? LITERAL_INDEXED_BITS : LITERAL_BITS);
      const name = index === 0 ? reader.string() : staticEntry(index)[0];
      headers.set(name, reader.string());
    }
  }
  return headers;
}

function staticEntry(index: number): readonly [string, string] {
  const entry = staticTable[index - 1];
  if (entry === undefined) throw compressionError(`there is no header field with index ${index}`);
  return entry;
}

class BlockReader {
  #at = 0;

  constructor(private readonly bytes: Buffer) {}

  get isAtEnd(): boolean {
    return this.#at >= this.bytes.length;
  }

  peek(): number {
    const byte = this.bytes[this.#at];
    if (byte === undefined) throw compressionError('a header block ends too early');
    return byte;
  }

  /** RFC 7541, section 5.1: a number that begins in the last bits of this byte. */
  integer(bits: number): number {
    const limit = (1 << bits) - 1;
    let value = this.#next() & limit;
    if (value < limit) return value;
    for (let shift = 0; ; shift += 7) {
      const byte = this.#next();
      value += (byte & 0x7f) * 2 ** shift;
      if (value > MAX_INTEGER || shift > 21) throw compressionError('a number in a header block is too large');
      if (byte < 0x80) return value;
    }
  }

  string(): string {
    const isHuffman = (this.peek() & HUFFMAN) !== 0;
    const length = this.integer(STRING_LENGTH_BITS);
    const from = this.#at;
    const to = from + length;
    if (to > this.bytes.length) throw compressionError('a header block ends too early');
    this.#at = to;
    return isHuffman ? decodeHuffman(this.bytes.subarray(from, to)) : this.bytes.toString('latin1', from, to);
  }

  #next(): number {
    const byte = this.peek();
    this.#at++;
    return byte;
  }
}

function pushInteger(bytes: number[], first: number, bits: number, value: number): void {
  const limit = (1 << bits) - 1;
  if (value < limit) {
    bytes.push(first | value);
    return;
  }
  bytes.push(first | limit);
  let rest = value - limit;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest & 0x7f) | 0x80);
  bytes.push(rest);
}

function pushString(bytes: number[], text: string): void {
  const encoded = Buffer.from(text, 'latin1');
  pushInteger(bytes, 0, STRING_LENGTH_BITS, encoded.length);
  bytes.push(...encoded);
}

function compressionError(message: string): Http2Error {
  return new Http2Error(ErrorCode.COMPRESSION_ERROR, message);
}
