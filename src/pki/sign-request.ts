import { X509Certificate } from 'node:crypto';
import { asn1, type asn1 as Asn1 } from 'node-forge';
import type { CertificateRequest } from './certificate-request';
import { context, der, extension, OIDS, primitive, signCertificate, type Issuer } from './certificate';
import { objectIdentifier, sequence } from './distinguished-name';

/** An authority that signs what others ask for. */
export interface RequestSigner {
  readonly issuer: Issuer;
  readonly certificatePem: string;
}

/** How long what is signed holds; milliseconds since the epoch, and of duration. */
export interface Validity {
  readonly now: number;
  readonly lifetimeMs: number;
}

/** A request that this authority cannot fulfil; the message is for people. */
export class SigningError extends Error {}

/** Clocks of clients may be a little behind. */
const BACKDATE_MS = 5 * 60_000;
/** What holds for less than this holds so long from now on; other lifetimes begin with the backdating. */
const SHORT_MS = 8 * 60 * 60_000;

/** Bits of KeyUsage by the names of the API (RFC 5280, 4.2.1.3), the first bit being 0. */
const KEY_USAGE_BITS: ReadonlyMap<string, number> = new Map([
  ['signing', 0],
  ['digital signature', 0],
  ['content commitment', 1],
  ['key encipherment', 2],
  ['data encipherment', 3],
  ['key agreement', 4],
  ['cert sign', 5],
  ['crl sign', 6],
  ['encipher only', 7],
  ['decipher only', 8],
]);

const EXTENDED_USAGES: ReadonlyMap<string, string> = new Map([
  ['any', '2.5.29.37.0'],
  ['server auth', '1.3.6.1.5.5.7.3.1'],
  ['client auth', '1.3.6.1.5.5.7.3.2'],
  ['code signing', '1.3.6.1.5.5.7.3.3'],
  ['email protection', '1.3.6.1.5.5.7.3.4'],
  ['s/mime', '1.3.6.1.5.5.7.3.4'],
  ['ipsec end system', '1.3.6.1.5.5.7.3.5'],
  ['ipsec tunnel', '1.3.6.1.5.5.7.3.6'],
  ['ipsec user', '1.3.6.1.5.5.7.3.7'],
  ['timestamping', '1.3.6.1.5.5.7.3.8'],
  ['ocsp signing', '1.3.6.1.5.5.7.3.9'],
  ['microsoft sgc', '1.3.6.1.4.1.311.10.3.3'],
  ['netscape sgc', '2.16.840.1.113730.4.1'],
]);

/**
 * Signs the subject, key and names of a request, for these usages; never one that may sign others. Nothing outlasts the
 * authority. Throws a {@link SigningError}. Returns PEM.
 */
export function signRequest(
  request: CertificateRequest,
  usages: readonly string[],
  { issuer, certificatePem }: RequestSigner,
  { now, lifetimeMs }: Validity,
): string {
  const authorityEnd = Date.parse(new X509Certificate(certificatePem).validTo);
  if (now >= authorityEnd) {
    throw new SigningError(`the signer has expired: NotAfter=${new Date(authorityEnd).toISOString()}`);
  }
  const begin = now - BACKDATE_MS;
  const end = Math.min((lifetimeMs < SHORT_MS ? now : begin) + lifetimeMs, authorityEnd);
  return signCertificate(
    {
      subject: request.subject,
      extensions: [
        ...usageExtensions(usages),
        extension(OIDS.basicConstraints, true, der(sequence())),
        ...(issuer.keyIdentifier === undefined
          ? []
          : [extension(OIDS.authorityKeyIdentifier, false, der(sequence(context(0, false, issuer.keyIdentifier))))]),
        ...altNameExtension(request),
      ],
      notBefore: new Date(begin),
      notAfter: new Date(end),
    },
    request.publicKey,
    issuer,
  );
}

function usageExtensions(usages: readonly string[]): readonly Asn1.Asn1[] {
  const unknown = usages.filter((usage) => !KEY_USAGE_BITS.has(usage) && !EXTENDED_USAGES.has(usage));
  if (unknown.length > 0) throw new SigningError(`unrecognized usage values: ${JSON.stringify(unknown)}`);
  const bits = [...new Set(usages.flatMap((usage) => KEY_USAGE_BITS.get(usage) ?? []))];
  const extended = [...new Set(usages.flatMap((usage) => EXTENDED_USAGES.get(usage) ?? []))].sort();
  return [
    ...(bits.length === 0
      ? []
      : [extension(OIDS.keyUsage, true, der(primitive(asn1.Type.BITSTRING, bitString(bits))))]),
    ...(extended.length === 0
      ? []
      : [extension(OIDS.extendedKeyUsage, false, der(sequence(...extended.map(objectIdentifier))))]),
  ];
}

/** DER of named bits: as few bytes as hold them, after the number of unused bits in the last. */
function bitString(bits: readonly number[]): string {
  const last = Math.max(...bits);
  const bytes = Buffer.alloc((last >> 3) + 1);
  for (const bit of bits) bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) | (0x80 >> (bit & 7));
  return String.fromCharCode(7 - (last & 7)) + bytes.toString('latin1');
}

/** RFC 5280, 4.2.1.6: critical where there is no subject that says who it is. */
function altNameExtension({ altNames, subject }: CertificateRequest): readonly Asn1.Asn1[] {
  if (altNames.length === 0) return [];
  const isOnlyName = Array.isArray(subject.value) && subject.value.length === 0;
  return [extension(OIDS.subjectAltName, isOnlyName, der(sequence(...altNames)))];
}
