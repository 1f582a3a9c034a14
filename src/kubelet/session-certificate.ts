const SEQUENCE = 0x30;
const INTEGER = 0x02;
/** `[3] EXPLICIT`, in OpenSSL's SSL_SESSION_ASN1. */
const PEER = 0xa3;
const TLS_1_3 = 0x0304;

interface Element {
  readonly tag: number;
  readonly contents: Buffer;
  /** With its tag and length. */
  readonly whole: Buffer;
}

/**
 * A session of TLS 1.3 as OpenSSL writes it, without the certificate of the peer, which each connection that resumes it would parse and
 * keep: half as much again as the connection's own state. Nobody asks for it then: resuming proves that the peer is the one whose
 * certificate was verified. Anything else is left as it is, such as sessions of TLS 1.2, which Node takes for unverified without it.
 */
export function withoutCertificate(session: Buffer): Buffer {
  const [outer] = elementsOf(session);
  if (outer?.tag !== SEQUENCE || outer.whole.length !== session.length) return session;
  const fields = elementsOf(outer.contents);
  const version = fields[1];
  if (version?.tag !== INTEGER || version.contents.length !== 2 || version.contents.readUInt16BE() !== TLS_1_3) {
    return session;
  }
  const kept = fields.filter(({ tag }) => tag !== PEER).map(({ whole }) => whole);
  const contents = Buffer.concat(kept);
  return Buffer.concat([Buffer.of(SEQUENCE, ...lengthOf(contents)), contents]);
}

/** None where they are not well-formed. */
function elementsOf(der: Buffer): readonly Element[] {
  const elements: Element[] = [];
  for (let at = 0; at + 2 <= der.length;) {
    const first = der[at + 1]!;
    const lengthBytes = first < 0x80 ? 0 : first & 0x7f;
    const start = at + 2 + lengthBytes;
    if (lengthBytes > 4 || start > der.length) return [];
    const end = start + (lengthBytes === 0 ? first : der.readUIntBE(at + 2, lengthBytes));
    if (end > der.length) return [];
    elements.push({ tag: der[at]!, contents: der.subarray(start, end), whole: der.subarray(at, end) });
    at = end;
  }
  return elements;
}

/** As DER has it: in as few bytes as it takes. */
function lengthOf({ length }: Buffer): readonly number[] {
  if (length < 0x80) return [length];
  return length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
}
