import { createHash, createPublicKey, randomBytes, sign, X509Certificate, type KeyObject } from 'node:crypto';
import { isIP } from 'node:net';
import { asn1, type asn1 as Asn1 } from 'node-forge';
import { ipv4Bytes, ipv6Groups } from './ip-address';
import { encodeName, objectIdentifier, sequence, type DistinguishedName } from './distinguished-name';

/** What a certificate says (RFC 5280). */
export interface CertificateSpec {
  readonly subject: DistinguishedName;
  /** DNS names and IP addresses, mixed. */
  readonly altNames: readonly string[];
  readonly usages: readonly ('server auth' | 'client auth')[];
  readonly isAuthority: boolean;
  readonly notBefore: Date;
  readonly notAfter: Date;
}

export interface Issuer {
  /** As its certificate has it: clients compare the bytes. */
  readonly name: Asn1.Asn1;
  /** Binary; undefined when its certificate has none. */
  readonly keyIdentifier: string | undefined;
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

export const OIDS = {
  'server auth': '1.3.6.1.5.5.7.3.1',
  'client auth': '1.3.6.1.5.5.7.3.2',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
} as const;

/** Bits of KeyUsage, as the two bytes of a BIT STRING with its count of unused bits. */
const KEY_USAGE_AUTHORITY = '\x01\x86'; // digitalSignature, keyCertSign, cRLSign
const KEY_USAGE_LEAF = '\x05\xa0'; // digitalSignature, keyEncipherment

export function primitive(type: Asn1.Type, value: string): Asn1.Asn1 {
  return asn1.create(asn1.Class.UNIVERSAL, type, false, value);
}

export function context(tag: number, constructed: boolean, value: string | Asn1.Asn1[]): Asn1.Asn1 {
  return asn1.create(asn1.Class.CONTEXT_SPECIFIC, tag, constructed, value);
}

export function der(node: Asn1.Asn1): string {
  return asn1.toDer(node).getBytes();
}

function signatureAlgorithm(key: KeyObject): { readonly hash: string | null; readonly identifier: Asn1.Asn1 } {
  switch (key.asymmetricKeyType) {
    case 'rsa':
      return {
        hash: 'sha256',
        identifier: sequence(objectIdentifier('1.2.840.113549.1.1.11'), primitive(asn1.Type.NULL, '')),
      };
    case 'ec':
      return { hash: 'sha256', identifier: sequence(objectIdentifier('1.2.840.10045.4.3.2')) };
    case 'ed25519':
      return { hash: null, identifier: sequence(objectIdentifier('1.3.101.112')) };
    default:
      throw new Error(`cannot sign certificates with a key of type ${key.asymmetricKeyType ?? 'unknown'}`);
  }
}

/** RFC 5280 4.1.2.5: two-digit years until 2049, four-digit ones after. */
function time(date: Date): Asn1.Asn1 {
  return date.getUTCFullYear() < 2050
    ? primitive(asn1.Type.UTCTIME, asn1.dateToUtcTime(date))
    : primitive(asn1.Type.GENERALIZEDTIME, asn1.dateToGeneralizedTime(date));
}

function ipBytes(address: string): string {
  if (isIP(address) === 4) return String.fromCharCode(...ipv4Bytes(address));
  return ipv6Groups(address)
    .map((value) => String.fromCharCode(value >> 8, value & 0xff))
    .join('');
}

function altName(name: string): Asn1.Asn1 {
  return isIP(name) === 0 ? context(2, false, name) : context(7, false, ipBytes(name));
}

function keyIdentifier(key: KeyObject): string {
  return createHash('sha1')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest('binary');
}

export function extension(oid: string, critical: boolean, value: string): Asn1.Asn1 {
  return sequence(
    objectIdentifier(oid),
    ...(critical ? [primitive(asn1.Type.BOOLEAN, '\xff')] : []),
    primitive(asn1.Type.OCTETSTRING, value),
  );
}

function extensions(spec: CertificateSpec, publicKey: KeyObject, issuer: Issuer): Asn1.Asn1[] {
  const bool = primitive(asn1.Type.BOOLEAN, '\xff');
  const usageBits = spec.isAuthority ? KEY_USAGE_AUTHORITY : KEY_USAGE_LEAF;
  return [
    extension(OIDS.keyUsage, true, der(primitive(asn1.Type.BITSTRING, usageBits))),
    ...(spec.usages.length > 0
      ? [
          extension(
            OIDS.extendedKeyUsage,
            false,
            der(sequence(...spec.usages.map((usage) => objectIdentifier(OIDS[usage])))),
          ),
        ]
      : []),
    extension(OIDS.basicConstraints, true, der(sequence(...(spec.isAuthority ? [bool] : [])))),
    extension(OIDS.subjectKeyIdentifier, false, der(primitive(asn1.Type.OCTETSTRING, keyIdentifier(publicKey)))),
    ...(issuer.keyIdentifier === undefined
      ? []
      : [extension(OIDS.authorityKeyIdentifier, false, der(sequence(context(0, false, issuer.keyIdentifier))))]),
    ...(spec.altNames.length > 0
      ? [extension(OIDS.subjectAltName, false, der(sequence(...spec.altNames.map(altName))))]
      : []),
  ];
}

/** One that signs itself. */
export function newIssuer(subject: DistinguishedName, privateKey: KeyObject): Issuer {
  const publicKey = createPublicKey(privateKey);
  return { name: encodeName(subject), keyIdentifier: keyIdentifier(publicKey), publicKey, privateKey };
}

/** One that exists, made here or elsewhere. */
export function issuerOf(certificatePem: string, privateKey: KeyObject): Issuer {
  const certificate = asn1.fromDer(new X509Certificate(certificatePem).raw.toString('binary'));
  const [toBeSigned] = childrenOf(certificate);
  const fields = childrenOf(toBeSigned).filter((field) => field.tagClass === asn1.Class.UNIVERSAL);
  // Without the version: serial number, algorithm, issuer, validity, subject.
  const name = fields[4];
  if (name === undefined) throw new Error('the certificate has no subject');
  return { name, keyIdentifier: keyIdentifierIn(toBeSigned), publicKey: createPublicKey(privateKey), privateKey };
}

function keyIdentifierIn(toBeSigned: Asn1.Asn1 | undefined): string | undefined {
  const field = childrenOf(toBeSigned).find(
    ({ tagClass, type }) => tagClass === asn1.Class.CONTEXT_SPECIFIC && Number(type) === 3,
  );
  const wanted = asn1.oidToDer(OIDS.subjectKeyIdentifier).getBytes();
  const found = childrenOf(childrenOf(field)[0]).find((one) => childrenOf(one)[0]?.value === wanted);
  const value = childrenOf(found).at(-1)?.value;
  return typeof value === 'string' ? (asn1.fromDer(value).value as string) : undefined;
}

function childrenOf(node: Asn1.Asn1 | undefined): readonly Asn1.Asn1[] {
  return Array.isArray(node?.value) ? node.value : [];
}

/** A serial number of 16 random bytes, positive and without a leading zero byte. */
function serialNumber(): string {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return bytes.toString('binary');
}

/**
 * Issues an X.509 v3 certificate for `publicKey`, signed by `issuer` (RSA and ECDSA with SHA-256, or Ed25519).
 * For a self-signed authority, `issuer` is the subject itself. Returns PEM.
 */
export function issueCertificate(spec: CertificateSpec, publicKey: KeyObject, issuer: Issuer): string {
  const { notBefore, notAfter } = spec;
  const content = {
    subject: encodeName(spec.subject),
    extensions: extensions(spec, publicKey, issuer),
    notBefore,
    notAfter,
  };
  return signCertificate(content, publicKey, issuer);
}

/** What a certificate says, encoded but for its key, its issuer and its times. */
export interface CertificateContent {
  readonly subject: Asn1.Asn1;
  readonly extensions: readonly Asn1.Asn1[];
  readonly notBefore: Date;
  readonly notAfter: Date;
}

/** The same for content that is not ours to choose. Returns PEM. */
export function signCertificate(content: CertificateContent, publicKey: KeyObject, issuer: Issuer): string {
  const algorithm = signatureAlgorithm(issuer.privateKey);
  const toBeSigned = sequence(
    context(0, true, [primitive(asn1.Type.INTEGER, '\x02')]),
    primitive(asn1.Type.INTEGER, serialNumber()),
    algorithm.identifier,
    issuer.name,
    sequence(time(content.notBefore), time(content.notAfter)),
    content.subject,
    asn1.fromDer(publicKey.export({ type: 'spki', format: 'der' }).toString('binary')),
    context(3, true, [sequence(...content.extensions)]),
  );
  const signature = sign(algorithm.hash, Buffer.from(der(toBeSigned), 'binary'), issuer.privateKey);
  const certificate = sequence(
    toBeSigned,
    algorithm.identifier,
    primitive(asn1.Type.BITSTRING, `\x00${signature.toString('binary')}`),
  );
  return toPem('CERTIFICATE', Buffer.from(der(certificate), 'binary'));
}

/** RFC 7468 text of one block, lines of 64 characters. */
export function toPem(label: string, bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}
