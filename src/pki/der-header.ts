/** Tag and length of one value in DER (X.690), as they were sent. */
export interface DerHeader {
  readonly tagClass: number;
  readonly isCompound: boolean;
  readonly tag: number;
  readonly length: number;
  /** Where the value begins and where it ends, which may be beyond what is there. */
  readonly start: number;
  readonly end: number;
}

/** Why bytes are no DER, in the words of kube-apiserver. */
export class DerError extends Error {}

/** Of a tag with more bytes than one. */
const LONG_TAG = 0x1f;
const MAX_LENGTH = 1 << 23;

/** The header at the offset. Throws a {@link DerError}. */
export function derHeader(bytes: Buffer, offset: number): DerHeader {
  const first = bytes[offset];
  if (first === undefined) throw new DerError('asn1: syntax error: sequence truncated');
  const tag = first & LONG_TAG;
  if (tag === LONG_TAG) throw new DerError('asn1: structure error: non-minimal tag');
  const { length, start } = derLength(bytes, offset + 1);
  return { tagClass: first >> 6, isCompound: (first & 0x20) !== 0, tag, length, start, end: start + length };
}

function derLength(bytes: Buffer, offset: number): Pick<DerHeader, 'length' | 'start'> {
  const byteAt = (at: number): number => {
    const byte = bytes[at];
    if (byte === undefined) throw new DerError('asn1: syntax error: truncated tag or length');
    return byte;
  };
  const first = byteAt(offset);
  if (first < 0x80) return { length: first, start: offset + 1 };
  const count = first & 0x7f;
  if (count === 0) throw new DerError('asn1: syntax error: indefinite length found (not DER)');
  let length = 0;
  for (let index = 1; index <= count; index += 1) {
    if (length >= MAX_LENGTH) throw new DerError('asn1: structure error: length too large');
    length = length * 256 + byteAt(offset + index);
    if (length === 0) throw new DerError('asn1: structure error: superfluous leading zeros in length');
  }
  if (length < 0x80) throw new DerError('asn1: structure error: non-minimal length');
  return { length, start: offset + 1 + count };
}
