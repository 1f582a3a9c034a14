import { createPublicKey, verify, type KeyObject } from 'node:crypto';
import { asn1, util, type asn1 as Asn1 } from 'node-forge';
import { DerError, derHeader, type DerHeader } from './der-header';
import { pemBlocks } from './pem';

/** What a certificate request asks for (PKCS #10, RFC 2986). */
export interface CertificateRequest {
  readonly commonName: string;
  readonly organizations: readonly string[];
  readonly dnsNames: readonly string[];
  readonly emailAddresses: readonly string[];
  readonly uris: readonly string[];
  /** In the form of their bytes. */
  readonly ipAddresses: readonly string[];
  /** As it was sent. */
  readonly subject: Asn1.Asn1;
  /** The GeneralNames of the four kinds above, as they were sent. */
  readonly altNames: readonly Asn1.Asn1[];
  readonly publicKey: KeyObject;
}

/** Why a text is no certificate request; the message is for the client. */
export class CertificateRequestError extends Error {}

/** Of a request as text: of hundreds of names. */
export const MAX_PEM_CHARACTERS = 128 * 1024;
/** In all of it, and in what it holds encoded once more: to read a million of them takes half a second. */
const MAX_VALUES = 8_000;

const PEM_LABEL = 'CERTIFICATE REQUEST';
const MALFORMED = 'x509: malformed certificate request';
const OIDS = {
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  extensionRequest: '1.2.840.113549.1.9.14',
  subjectAltName: '2.5.29.17',
} as const;
/** Context-specific tags of GeneralName (RFC 5280, section 4.2.1.6). */
const NAME_TAGS = { emailAddresses: 1, dnsNames: 2, uris: 6, ipAddresses: 7 } as const;

/** The hashes of the signature algorithms in use; Ed25519 has its own within. */
const SIGNATURE_HASHES: Readonly<Record<string, string | null>> = {
  '1.2.840.113549.1.1.5': 'sha1',
  '1.2.840.113549.1.1.11': 'sha256',
  '1.2.840.113549.1.1.12': 'sha384',
  '1.2.840.113549.1.1.13': 'sha512',
  '1.2.840.10045.4.1': 'sha1',
  '1.2.840.10045.4.3.2': 'sha256',
  '1.2.840.10045.4.3.3': 'sha384',
  '1.2.840.10045.4.3.4': 'sha512',
  '1.3.101.112': null,
};

const VERIFICATION_FAILURES: Readonly<Record<string, string>> = {
  rsa: 'crypto/rsa: verification error',
  ec: 'x509: ECDSA verification failure',
  ed25519: 'x509: Ed25519 verification failure',
};

function parts(node: Asn1.Asn1 | undefined): readonly Asn1.Asn1[] {
  return Array.isArray(node?.value) ? node.value : [];
}

function bytesOf(node: Asn1.Asn1 | undefined): string {
  return typeof node?.value === 'string' ? node.value : '';
}

interface DecodeOptions {
  readonly strict: boolean;
  readonly parseAllBytes: boolean;
  /** False: bit strings stay bytes, so that what was signed can be encoded again as it was. */
  readonly decodeBitStrings: boolean;
}

/** The library's types do not know of its options. */
const fromDer = asn1.fromDer as unknown as (bytes: util.ByteStringBuffer, options: DecodeOptions) => Asn1.Asn1;

/** Looks at no more of the bytes than it takes to know. */
function hasManyValues(bytes: Buffer): boolean {
  let values = 0;
  for (let offset = 0; offset < bytes.length; values += 1) {
    if (values === MAX_VALUES) return true;
    const { isCompound, start, end } = headerAt(bytes, offset);
    offset = isCompound ? start : end;
  }
  return false;
}

function headerAt(bytes: Buffer, offset: number): DerHeader {
  try {
    return derHeader(bytes, offset);
  } catch {
    throw new CertificateRequestError(MALFORMED);
  }
}

function decode(bytes: Buffer): Asn1.Asn1 {
  if (hasManyValues(bytes)) throw new CertificateRequestError(`a request has at most ${MAX_VALUES} values`);
  try {
    return fromDer(util.createBuffer(bytes.toString('latin1')), {
      strict: true,
      parseAllBytes: true,
      decodeBitStrings: false,
    });
  } catch {
    throw new CertificateRequestError(MALFORMED);
  }
}

const SEQUENCE = 16;
/** How kube-apiserver's library prints that a field has no options of its own. */
const NO_OPTIONS =
  '{optional:false explicit:false application:false private:false defaultValue:<nil> tag:<nil> stringType:0 timeType:0 set:false omitEmpty:false}';

/** The value of a sequence that the bytes begin with, and what is behind it. */
function sequenceAt(bytes: Buffer, name: string): { readonly value: Buffer; readonly rest: Buffer } {
  const { tagClass, tag, length, isCompound, start, end } = derHeader(bytes, 0);
  if (tagClass !== 0 || tag !== SEQUENCE || !isCompound) {
    const found = `{class:${tagClass} tag:${tag} length:${length} isCompound:${isCompound}}`;
    throw new DerError(
      `asn1: structure error: tags don't match (${SEQUENCE} vs ${found}) ${NO_OPTIONS} ${name} @${start}`,
    );
  }
  if (end > bytes.length) throw new DerError('asn1: syntax error: data truncated');
  return { value: bytes.subarray(start, end), rest: bytes.subarray(end) };
}

/** The whole request. What is wrong with its frame is told in kube-apiserver's words. */
function decodeRequest(bytes: Buffer): Asn1.Asn1 {
  try {
    const { value, rest } = sequenceAt(bytes, 'certificateRequest');
    sequenceAt(value, 'tbsCertificateRequest');
    const root = decode(bytes.subarray(0, bytes.length - rest.length));
    if (rest.length > 0) throw new DerError('asn1: syntax error: trailing data');
    return root;
  } catch (error) {
    if (error instanceof DerError) throw new CertificateRequestError(error.message);
    throw error;
  }
}

function oidOf(node: Asn1.Asn1 | undefined): string {
  return asn1.derToOid(bytesOf(node));
}

function text(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

function subjectValues(subject: Asn1.Asn1 | undefined, oid: string): readonly string[] {
  return parts(subject)
    .flatMap(parts)
    .filter((attribute) => oidOf(parts(attribute)[0]) === oid)
    .map((attribute) => text(bytesOf(parts(attribute)[1])));
}

function altNames(attributes: Asn1.Asn1 | undefined): readonly Asn1.Asn1[] {
  const requested = parts(attributes).find((attribute) => oidOf(parts(attribute)[0]) === OIDS.extensionRequest);
  const extensions = parts(parts(parts(requested)[1])[0]);
  const extension = extensions.find((one) => oidOf(parts(one)[0]) === OIDS.subjectAltName);
  return extension === undefined ? [] : parts(decode(Buffer.from(bytesOf(parts(extension).at(-1)), 'latin1')));
}

function publicKey(info: Asn1.Asn1 | undefined): KeyObject {
  const der = asn1.toDer(info ?? asn1.create(asn1.Class.UNIVERSAL, asn1.Type.SEQUENCE, true, [])).getBytes();
  try {
    return createPublicKey({ key: Buffer.from(der, 'latin1'), format: 'der', type: 'spki' });
  } catch {
    throw new CertificateRequestError(MALFORMED);
  }
}

/** The key that the request is about. Throws unless the request is signed with it. */
function checkSignature(root: Asn1.Asn1): KeyObject {
  const [info, algorithm, signature] = parts(root);
  if (info === undefined) throw new CertificateRequestError(MALFORMED);
  const key = publicKey(parts(info)[2]);
  const hash = SIGNATURE_HASHES[oidOf(parts(algorithm)[0])];
  if (hash === undefined) {
    throw new CertificateRequestError('x509: cannot verify signature: algorithm unimplemented');
  }
  const signed = Buffer.from(asn1.toDer(info).getBytes(), 'latin1');
  // The first byte of a bit string counts its unused bits.
  const value = Buffer.from(bytesOf(signature).slice(1), 'latin1');
  if (!verify(hash, signed, key, value)) {
    const type = key.asymmetricKeyType ?? '';
    throw new CertificateRequestError(VERIFICATION_FAILURES[type] ?? 'x509: verification failure');
  }
  return key;
}

function requestIn(pem: string): Asn1.Asn1 {
  if (pem.length > MAX_PEM_CHARACTERS) {
    throw new CertificateRequestError(`a request has at most ${MAX_PEM_CHARACTERS} characters`);
  }
  const block = pemBlocks(pem).next().value;
  if (block?.label !== PEM_LABEL) throw new CertificateRequestError(`PEM block type must be ${PEM_LABEL}`);
  return decodeRequest(block.bytes);
}

/** Which organizations a request is for, whoever has signed it. Throws a CertificateRequestError where it is none. */
export function requestedOrganizations(pem: string): readonly string[] {
  return subjectValues(parts(parts(requestIn(pem))[0])[1], OIDS.organization);
}

/**
 * Reads a PEM text whose first block is a certificate request. Throws a CertificateRequestError for any other, and for one that is far
 * longer than a request can be.
 */
export function parseCertificateRequest(pem: string): CertificateRequest {
  const root = requestIn(pem);
  const key = checkSignature(root);
  const [, subject, , attributes] = parts(parts(root)[0]);
  const names = altNames(attributes);
  const tags: readonly number[] = Object.values(NAME_TAGS);
  if (subject === undefined) throw new CertificateRequestError(MALFORMED);
  const ofTag = (tag: number): readonly string[] =>
    names.filter((name) => Number(name.type) === tag).map((name) => text(bytesOf(name)));
  return {
    commonName: subjectValues(subject, OIDS.commonName).at(-1) ?? '',
    organizations: subjectValues(subject, OIDS.organization),
    dnsNames: ofTag(NAME_TAGS.dnsNames),
    emailAddresses: ofTag(NAME_TAGS.emailAddresses),
    uris: ofTag(NAME_TAGS.uris),
    ipAddresses: ofTag(NAME_TAGS.ipAddresses),
    subject,
    altNames: names.filter((name) => tags.includes(Number(name.type))),
    publicKey: key,
  };
}
