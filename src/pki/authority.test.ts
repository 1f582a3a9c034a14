import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAuthority, issueKeyPair, loadOrCreateAuthority, loadOrIssueKeyPair } from './authority';

const now = new Date('2026-03-01T12:00:00Z');
const spec = {
  subject: { commonName: 'sternpost', organizations: ['system:masters', 'ops'] },
  altNames: ['localhost', '127.0.0.1', '::1', 'fd00::12:1'],
  usages: ['server auth', 'client auth'] as const,
};

describe('a certificate authority', () => {
  const authority = createAuthority('sternpost-ca', now);

  it('is a certificate authority that signed itself', () => {
    const certificate = new X509Certificate(authority.certificatePem);
    expect(certificate.ca).toBe(true);
    expect(certificate.subject).toBe('CN=sternpost-ca');
    expect(certificate.checkIssued(certificate)).toBe(true);
    expect(certificate.verify(certificate.publicKey)).toBe(true);
  });

  it('issues certificates with names, groups and usages that OpenSSL reads', () => {
    const pair = issueKeyPair(authority, spec, now);
    const certificate = new X509Certificate(pair.certificatePem);
    expect(certificate.subject).toBe('O=system:masters\nO=ops\nCN=sternpost');
    expect(certificate.subjectAltName).toBe(
      'DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1, IP Address:FD00:0:0:0:0:0:12:1',
    );
    expect(certificate.ca).toBe(false);
    expect(certificate.checkIssued(new X509Certificate(authority.certificatePem))).toBe(true);
    expect(certificate.verify(authority.issuer.publicKey)).toBe(true);
    expect(certificate.checkHost('localhost')).toBe('localhost');
    expect(certificate.checkIP('127.0.0.1')).toBe('127.0.0.1');
    expect(Date.parse(certificate.validTo) - now.getTime()).toBe(365 * 86_400_000);
  });
});

describe('certificates kept in a directory', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'sternpost-pki-'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  it('are made once, with keys that only their owner may read', () => {
    const first = loadOrCreateAuthority(directory, 'ca', 'sternpost-ca', now);
    const again = loadOrCreateAuthority(directory, 'ca', 'sternpost-ca', now);
    expect(again.certificatePem).toBe(first.certificatePem);
    expect(statSync(join(directory, 'ca.key')).mode & 0o777).toBe(0o600);

    const pair = loadOrIssueKeyPair(directory, 'serving', first, spec, now);
    expect(statSync(join(directory, 'serving.key')).mode & 0o777).toBe(0o600);
    expect(loadOrIssueKeyPair(directory, 'serving', again, { ...spec, altNames: ['localhost'] }, now)).toEqual(pair);
  });

  it('are made anew when they run out, lack a name or were signed by another authority', () => {
    const authority = loadOrCreateAuthority(directory, 'ca', 'sternpost-ca', now);
    const plain = { ...spec, altNames: ['localhost', '::1'] };
    const pair = loadOrIssueKeyPair(directory, 'serving', authority, plain, now);
    const late = new Date(now.getTime() + 360 * 86_400_000);
    const renewed = loadOrIssueKeyPair(directory, 'serving', authority, plain, late);
    expect(renewed.certificatePem).not.toBe(pair.certificatePem);
    const named = loadOrIssueKeyPair(directory, 'serving', authority, { ...plain, altNames: ['example.org'] }, late);
    expect(named.certificatePem).not.toBe(renewed.certificatePem);
    const other = createAuthority('sternpost-ca', now);
    const signedByOther = issueKeyPair(other, plain, late);
    writeFileSync(join(directory, 'serving.crt'), signedByOther.certificatePem);
    expect(loadOrIssueKeyPair(directory, 'serving', authority, plain, late).certificatePem).not.toBe(
      signedByOther.certificatePem,
    );
    expect(readFileSync(join(directory, 'serving.crt'), 'utf8')).not.toBe(signedByOther.certificatePem);
  });
});
