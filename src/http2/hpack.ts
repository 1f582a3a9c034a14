import { HeaderField, staticTable, type HeaderTable } from './header-table';
import { compressionError } from './http2-error';
import { decodeHuffman } from './huffman';

// How a field begins (RFC 7541, section 6), and how many bits of that byte belong to the number that follows.
const INDEXED = 0x80;
const INDEXED_BITS = 7;
/** With all bits set the number goes on in the next byte. */
const LAST_SHORT_REFERENCE = 0xfe;
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
/** More than a number of at most {@link MAX_INTEGER} takes. */
const MAX_INTEGER_BYTES = 5;

/**
 * Gives the fields of a whole block to `take`, one after the other, and has the table remember those that the sender wants
 * remembered. When `take` returns false it gets no more of them: then the rest is read for the table's sake only, and texts
 * that the table does not remember are stepped over. Throws an {@link Http2Error}, after which the table is of no use any more.
 */
export function readHeaderBlock(block: Buffer, table: HeaderTable, take: (field: HeaderField) => boolean): void {
  const reader = new BlockReader(block);
  let hasFields = false;
  let isWanted = true;
  while (!reader.isAtEnd) {
    const first = reader.peek();
    if (!(first & (INDEXED | LITERAL_INDEXED)) && first & TABLE_SIZE) {
      if (hasFields) throw compressionError('the header table changes within a block');
      table.resize(reader.integer(TABLE_SIZE_BITS));
      continue;
    }
    hasFields = true;
    if (first & INDEXED) {
      if (!isWanted && reader.skipReferences(table.lastIndex)) continue;
      const field = table.get(reader.integer(INDEXED_BITS));
      if (isWanted) isWanted = take(field);
      continue;
    }
    const isRemembered = (first & LITERAL_INDEXED) !== 0;
    const index = reader.integer(isRemembered ? LITERAL_INDEXED_BITS : LITERAL_BITS);
    const named = index === 0 ? undefined : table.get(index);
    if (!isWanted && !isRemembered) {
      if (named === undefined) reader.skipString();
      reader.skipString();
      continue;
    }
    const name = named === undefined ? reader.string() : named.name;
    const field = new HeaderField(name, reader.string(), named);
    if (isRemembered) table.add(field);
    if (isWanted) isWanted = take(field);
  }
}

class BlockReader {
  #at = 0;

  constructor(private readonly bytes: Buffer) {}

  get isAtEnd(): boolean {
    return this.#at >= this.bytes.length;
  }

  /** Steps over fields of one byte that the table has; false where there is none. A block may have nothing but these. */
  skipReferences(lastIndex: number): boolean {
    const { bytes } = this;
    const last = Math.min(INDEXED + lastIndex, LAST_SHORT_REFERENCE);
    let at = this.#at;
    for (; at < bytes.length; at++) {
      const byte = bytes[at]!;
      if (byte <= INDEXED || byte > last) break;
    }
    if (at === this.#at) return false;
    this.#at = at;
    return true;
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
    const from = this.skipString();
    return isHuffman ? decodeHuffman(this.bytes, from, this.#at) : this.bytes.toString('latin1', from, this.#at);
  }

  /** Returns where the text begins; it ends where the reader is then. */
  skipString(): number {
    const length = this.integer(STRING_LENGTH_BITS);
    const from = this.#at;
    if (from + length > this.bytes.length) throw compressionError('a header block ends too early');
    this.#at = from + length;
    return from;
  }

  #next(): number {
    const byte = this.peek();
    this.#at++;
    return byte;
  }
}

/** The fields of the static table by their names: the index of the first one, and of each value. */
const known = new Map<string, { readonly index: number; readonly ofValue: Map<string, number> }>();
staticTable.forEach(({ name, value }, at) => {
  const entry = known.get(name) ?? { index: at + 1, ofValue: new Map<string, number>() };
  known.set(name, entry);
  entry.ofValue.set(value, at + 1);
});

/** What a block says: names in lower case, and of several fields of one name all values. */
export type HeaderFields = Readonly<Record<string, string | readonly string[]>>;

/**
 * A block that refers to the static table only, so that neither side needs a memory. A character of a value is a byte.
 */
export function encodeHeaders(fields: HeaderFields): Buffer {
  let room = 0;
  for (const name in fields) {
    const value = fields[name]!;
    if (typeof value === 'string') room += roomOf(name, value);
    else for (const one of value) room += roomOf(name, one);
  }
  const bytes = Buffer.allocUnsafe(room);
  let at = 0;
  for (const name in fields) {
    const value = fields[name]!;
    if (typeof value === 'string') at = writeField(bytes, at, name, value);
    else for (const one of value) at = writeField(bytes, at, name, one);
  }
  return bytes.subarray(0, at);
}

/** At least what a field takes. */
function roomOf(name: string, value: string): number {
  return name.length + value.length + 2 * MAX_INTEGER_BYTES;
}

function writeField(bytes: Buffer, at: number, name: string, value: string): number {
  const entry = known.get(name);
  if (entry === undefined)
    return writeString(bytes, writeString(bytes, writeInteger(bytes, at, 0, LITERAL_BITS, 0), name), value);
  const whole = entry.ofValue.get(value);
  if (whole !== undefined) return writeInteger(bytes, at, INDEXED, INDEXED_BITS, whole);
  return writeString(bytes, writeInteger(bytes, at, 0, LITERAL_BITS, entry.index), value);
}

/** Returns where the next byte goes. */
function writeInteger(bytes: Buffer, at: number, first: number, bits: number, value: number): number {
  const limit = (1 << bits) - 1;
  if (value < limit) {
    bytes[at] = first | value;
    return at + 1;
  }
  bytes[at++] = first | limit;
  let rest = value - limit;
  for (; rest >= 0x80; rest >>>= 7) bytes[at++] = (rest & 0x7f) | 0x80;
  bytes[at] = rest;
  return at + 1;
}

function writeString(bytes: Buffer, at: number, text: string): number {
  const from = writeInteger(bytes, at, 0, STRING_LENGTH_BITS, text.length);
  return from + bytes.write(text, from, 'latin1');
}
