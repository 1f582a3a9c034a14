import { createPrivateKey, createPublicKey, generateKeyPairSync, X509Certificate } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { issueCertificate, type CertificateSpec, type Issuer } from './certificate';

const DAY_MS = 24 * 60 * 60 * 1000;
const AUTHORITY_DAYS = 3650;
const LEAF_DAYS = 365;
/** A certificate is made anew when less than this is left. */
const RENEW_BEFORE_MS = 30 * DAY_MS;
/** Clocks of clients may be a little behind. */
const BACKDATE_MS = 5 * 60 * 1000;

export interface KeyPair {
  readonly certificatePem: string;
  readonly privateKeyPem: string;
}

/** A certificate authority whose key this process holds. */
export interface Authority extends KeyPair {
  readonly issuer: Issuer;
}

type LeafSpec = Pick<CertificateSpec, 'subject' | 'altNames' | 'usages'>;

function generate(
  spec: Omit<CertificateSpec, 'notBefore' | 'notAfter'>,
  days: number,
  now: Date,
  issuer?: Issuer,
): KeyPair {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const certificatePem = issueCertificate(
    { ...spec, notBefore: new Date(now.getTime() - BACKDATE_MS), notAfter: new Date(now.getTime() + days * DAY_MS) },
    publicKey,
    issuer ?? { subject: spec.subject, publicKey, privateKey },
  );
  return { certificatePem, privateKeyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
}

function asAuthority(pair: KeyPair, commonName: string): Authority {
  const privateKey = createPrivateKey(pair.privateKeyPem);
  return {
    ...pair,
    issuer: { subject: { commonName, organizations: [] }, publicKey: createPublicKey(privateKey), privateKey },
  };
}

function readPair(directory: string, name: string): KeyPair | undefined {
  try {
    return {
      certificatePem: readFileSync(join(directory, `${name}.crt`), 'utf8'),
      privateKeyPem: readFileSync(join(directory, `${name}.key`), 'utf8'),
    };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Keys are readable by their owner only. */
function writePair(directory: string, name: string, pair: KeyPair): KeyPair {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  writeFileSync(join(directory, `${name}.key`), pair.privateKeyPem, { mode: 0o600 });
  writeFileSync(join(directory, `${name}.crt`), pair.certificatePem);
  return pair;
}

/** Makes an authority that lives in memory only. */
export function createAuthority(commonName: string, now: Date): Authority {
  const spec = { subject: { commonName, organizations: [] }, altNames: [], usages: [], isAuthority: true };
  return asAuthority(generate(spec, AUTHORITY_DAYS, now), commonName);
}

/** The authority kept in `directory` as `<name>.crt` and `<name>.key`; made on first use. */
export function loadOrCreateAuthority(directory: string, name: string, commonName: string, now: Date): Authority {
  const known = readPair(directory, name);
  if (known !== undefined) return asAuthority(known, commonName);
  const made = createAuthority(commonName, now);
  writePair(directory, name, made);
  return made;
}

/** A key of its own and a certificate for it, valid for a year. */
export function issueKeyPair(authority: Authority, spec: LeafSpec, now: Date): KeyPair {
  return generate({ ...spec, isAuthority: false }, LEAF_DAYS, now, authority.issuer);
}

function stillGood(pair: KeyPair, authority: Authority, altNames: readonly string[], now: Date): boolean {
  const certificate = new X509Certificate(pair.certificatePem);
  return (
    certificate.verify(authority.issuer.publicKey) &&
    Date.parse(certificate.validTo) - now.getTime() > RENEW_BEFORE_MS &&
    altNames.every((name) => (isIP(name) === 0 ? certificate.checkHost(name) : certificate.checkIP(name)) !== undefined)
  );
}

/** The pair kept in `directory`; made on first use, and anew when it runs out, lacks a name or has another issuer. */
export function loadOrIssueKeyPair(
  directory: string,
  name: string,
  authority: Authority,
  spec: LeafSpec,
  now: Date,
): KeyPair {
  const known = readPair(directory, name);
  if (known !== undefined && stillGood(known, authority, spec.altNames, now)) return known;
  return writePair(directory, name, issueKeyPair(authority, spec, now));
}
