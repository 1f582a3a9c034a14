import { asn1, type asn1 as Asn1 } from 'node-forge';

/** `[3] EXPLICIT`, in OpenSSL's SSL_SESSION_ASN1. */
const PEER = 3;
const TLS_1_3 = '\x03\x04';

/**
 * A session of TLS 1.3 as OpenSSL writes it, without the certificate of the peer, which each connection that resumes it would parse and
 * keep: half as much again as the connection's own state. Nobody asks for it then: resuming proves that the peer is the one whose
 * certificate was verified when the session began, which is all that is looked at without it. Anything else is left as it is, such as
 * sessions of TLS 1.2, which Node takes for unverified without it.
 */
export function withoutCertificate(session: Buffer): Buffer {
  const sequence = read(session);
  if (!Array.isArray(sequence?.value)) return session;
  const fields = sequence.value;
  if (fields[1]?.value !== TLS_1_3) return session;
  const value = fields.filter((field) => field.tagClass !== asn1.Class.CONTEXT_SPECIFIC || Number(field.type) !== PEER);
  return Buffer.from(asn1.toDer({ ...sequence, value }).getBytes(), 'latin1');
}

function read(der: Buffer): Asn1.Asn1 | undefined {
  try {
    return asn1.fromDer(der.toString('latin1'));
  } catch {
    return undefined;
  }
}
