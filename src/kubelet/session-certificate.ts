import { asn1, type asn1 as Asn1 } from 'node-forge';

/** `[3] EXPLICIT`, in OpenSSL's SSL_SESSION_ASN1. */
const PEER = 3;
const TLS_1_3 = '\x03\x04';
/** What releases of Node.js since 2026 write before it: this, and the name that the session is for, after two bytes with its length. */
const NODE_STATE = Buffer.from('\0nodejs:tls:session:1\0');

/**
 * A session of TLS 1.3 as OpenSSL and Node.js write it, without the certificate of the peer, which each connection that resumes it would parse and
 * keep: half as much again as the connection's own state. Nobody asks for it then: resuming proves that the peer is the one whose
 * certificate was verified when the session began, which is all that is looked at without it. Anything else is left as it is, such as
 * sessions of TLS 1.2, which Node takes for unverified without it.
 */
export function withoutCertificate(session: Buffer): Buffer {
  const start = startOf(session);
  const sequence = read(session.subarray(start));
  if (!Array.isArray(sequence?.value)) return session;
  const fields = sequence.value;
  if (fields[1]?.value !== TLS_1_3) return session;
  const value = fields.filter((field) => field.tagClass !== asn1.Class.CONTEXT_SPECIFIC || Number(field.type) !== PEER);
  const small = Buffer.from(asn1.toDer({ ...sequence, value }).getBytes(), 'latin1');
  return Buffer.concat([session.subarray(0, start), small]);
}

/** Where OpenSSL's part begins. */
function startOf(session: Buffer): number {
  const head = NODE_STATE.length;
  if (!session.subarray(0, head).equals(NODE_STATE) || session.length < head + 2) return 0;
  return head + 2 + session.readUInt16BE(head);
}

function read(der: Buffer): Asn1.Asn1 | undefined {
  try {
    return asn1.fromDer(der.toString('latin1'));
  } catch {
    return undefined;
  }
}
