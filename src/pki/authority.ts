import { createPrivateKey, createPublicKey, generateKeyPairSync, X509Certificate, type KeyObject } from 'node:crypto';
import { existsSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { writePrivateFile, writePublicFile } from '../files/private-files';
import { issueCertificate, issuerOf, newIssuer, type CertificateSpec, type Issuer } from './certificate';
import { belongTogether, PemFileError, readCertificates, readPemPair, readPrivateKey, type PemPair } from './pem-files';

const DAY_MS = 24 * 60 * 60 * 1000;
const AUTHORITY_DAYS = 3650;
const LEAF_DAYS = 365;
/** A certificate is made anew when less than this is left. */
const RENEW_BEFORE_MS = 30 * DAY_MS;
/** Clocks of clients may be a little behind. */
const BACKDATE_MS = 5 * 60 * 1000;

export type KeyPair = PemPair;

/** A certificate authority whose key this process holds. */
export interface Authority extends KeyPair {
  readonly issuer: Issuer;
}

export type LeafSpec = Pick<CertificateSpec, 'subject' | 'altNames' | 'usages'>;

function generate(
  spec: Omit<CertificateSpec, 'notBefore' | 'notAfter'>,
  days: number,
  now: Date,
  issuer?: Issuer,
): KeyPair {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const signer = issuer ?? newIssuer(spec.subject, privateKey);
  return {
    certificatePem: certify(spec, days, now, publicKey, signer),
    // The form that names the kind of key: fabric8's client takes any other in a kubeconfig for RSA.
    privateKeyPem: privateKey.export({ type: 'sec1', format: 'pem' }).toString(),
  };
}

function certify(
  spec: Omit<CertificateSpec, 'notBefore' | 'notAfter'>,
  days: number,
  now: Date,
  publicKey: KeyObject,
  issuer: Issuer,
): string {
  const notBefore = new Date(now.getTime() - BACKDATE_MS);
  const notAfter = new Date(now.getTime() + days * DAY_MS);
  return issueCertificate({ ...spec, notBefore, notAfter }, publicKey, issuer);
}

/** An authority from elsewhere. */
export function readAuthority(pair: KeyPair): Authority {
  return { ...pair, issuer: issuerOf(pair.certificatePem, createPrivateKey(pair.privateKeyPem)) };
}

function remedyFor(name: string): string {
  return `Restore it from a backup, or remove ${name}.crt and ${name}.key to have new ones made`;
}

/** The key first: a process that is killed in between can make the certificate again. */
function writePair(directory: string, name: string, pair: KeyPair): KeyPair {
  writePrivateFile(join(directory, `${name}.key`), pair.privateKeyPem);
  writePublicFile(join(directory, `${name}.crt`), pair.certificatePem);
  return pair;
}

/** Makes an authority that lives in memory only. */
export function createAuthority(commonName: string, now: Date): Authority {
  const spec = { subject: { commonName, organizations: [] }, altNames: [], usages: [], isAuthority: true };
  return readAuthority(generate(spec, AUTHORITY_DAYS, now));
}

/**
 * The authority kept in `directory` as `<name>.crt` and `<name>.key`; made on first use. Throws when one of them is
 * damaged, or the key is missing: another authority in its place would lock out everybody who trusts this one.
 */
export function loadOrCreateAuthority(directory: string, name: string, commonName: string, now: Date): Authority {
  const [certificateFile, keyFile] = [join(directory, `${name}.crt`), join(directory, `${name}.key`)];
  const remedy = `${remedyFor(name)}; clients then need new kubeconfigs`;
  if (!existsSync(keyFile)) {
    if (existsSync(certificateFile))
      throw new PemFileError(keyFile, `it is missing, and ${certificateFile} is there`, remedy);
    const made = createAuthority(commonName, now);
    writePair(directory, name, made);
    return made;
  }
  if (!existsSync(certificateFile)) {
    const renewed = authorityOf(readPrivateKey(keyFile, remedy), commonName, now);
    writePublicFile(certificateFile, renewed.certificatePem);
    return renewed;
  }
  return readAuthority(readPemPair(certificateFile, keyFile, remedy));
}

/** What trusts an earlier certificate of the same name and key trusts this one. */
function authorityOf(privateKeyPem: string, commonName: string, now: Date): Authority {
  const privateKey = createPrivateKey(privateKeyPem);
  const spec = { subject: { commonName, organizations: [] }, altNames: [], usages: [], isAuthority: true };
  const certificatePem = certify(
    spec,
    AUTHORITY_DAYS,
    now,
    createPublicKey(privateKey),
    newIssuer(spec.subject, privateKey),
  );
  return readAuthority({ certificatePem, privateKeyPem });
}

/** A key of its own and a certificate for it, valid for a year unless said otherwise. */
export function issueKeyPair(authority: Authority, spec: LeafSpec, now: Date, days = LEAF_DAYS): KeyPair {
  return generate({ ...spec, isAuthority: false }, days, now, authority.issuer);
}

/** Whether the authority has issued it, it has all names, and its end is further away than `renewBeforeMs`. */
export function isStillGood(
  pair: KeyPair,
  authority: Authority,
  altNames: readonly string[],
  now: Date,
  renewBeforeMs = RENEW_BEFORE_MS,
): boolean {
  const certificate = new X509Certificate(pair.certificatePem);
  return (
    certificate.checkIssued(new X509Certificate(authority.certificatePem)) &&
    certificate.verify(authority.issuer.publicKey) &&
    Date.parse(certificate.validTo) - now.getTime() > renewBeforeMs &&
    altNames.every((name) => (isIP(name) === 0 ? certificate.checkHost(name) : certificate.checkIP(name)) !== undefined)
  );
}

/**
 * The pair kept in `directory`; made on first use, and anew when it runs out, lacks a name, has another issuer or was
 * written in half. Throws when a file is damaged.
 */
export function loadOrIssueKeyPair(
  directory: string,
  name: string,
  authority: Authority,
  spec: LeafSpec,
  now: Date,
): KeyPair {
  const [certificateFile, keyFile] = [join(directory, `${name}.crt`), join(directory, `${name}.key`)];
  if (existsSync(certificateFile) && existsSync(keyFile)) {
    const known = {
      certificatePem: readCertificates(certificateFile, remedyFor(name)),
      privateKeyPem: readPrivateKey(keyFile, remedyFor(name)),
    };
    if (belongTogether(known) && isStillGood(known, authority, spec.altNames, now)) return known;
  }
  return writePair(directory, name, issueKeyPair(authority, spec, now));
}
