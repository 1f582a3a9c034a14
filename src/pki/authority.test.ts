import { execFileSync } from 'node:child_process';
import { createPrivateKey, X509Certificate } from 'node:crypto';
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
    // Named by its algorithm: there are clients that take a key without for RSA.
    expect(pair.privateKeyPem).toMatch(/^-----BEGIN EC PRIVATE KEY-----\n/);
    expect(certificate.checkPrivateKey(createPrivateKey(pair.privateKeyPem))).toBe(true);
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

  it.each([
    ['rsa:2048', []],
    ['ec', ['-pkeyopt', 'ec_paramgen_curve:P-384']],
    ['rsa:2048', ['-addext', 'subjectKeyIdentifier=none']],
  ])('come from an authority that somebody else has made (%s %j), under its name and key', (key, more) => {
    const [certificate, privateKey] = [join(directory, 'ca.crt'), join(directory, 'ca.key')];
    const files = ['-keyout', privateKey, '-out', certificate];
    const subject = '/O=Ops, Inc./CN=Our CA';
    execFileSync('openssl', ['req', '-x509', '-nodes', '-newkey', key, ...files, '-subj', subject, ...more], {
      stdio: 'ignore',
    });
    const authority = loadOrCreateAuthority(directory, 'ca', 'sternpost-ca', now);
    const pair = loadOrIssueKeyPair(directory, 'serving', authority, spec, new Date());
    const leaf = new X509Certificate(pair.certificatePem);
    expect(leaf.checkIssued(new X509Certificate(authority.certificatePem))).toBe(true);
    expect(leaf.issuer).toBe('O=Ops\\, Inc.\nCN=Our CA');
    const verified = execFileSync('openssl', ['verify', '-CAfile', certificate, join(directory, 'serving.crt')]);
    expect(verified.toString()).toContain('OK');
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

  const damages: readonly (readonly [string, (file: string) => void, RegExp])[] = [
    [
      'ca.crt',
      (file) => writeFileSync(file, 'garbage'),
      /it holds no certificate\. Restore it from a backup, or remove/,
    ],
    ['ca.crt', (file) => writeFileSync(file, damaged(file)), /it holds a certificate that cannot be read/],
    ['ca.key', (file) => writeFileSync(file, ''), /it holds no private key\. .*clients then need new kubeconfigs/],
    ['ca.key', (file) => writeFileSync(file, damaged(file)), /it holds a private key that cannot be read/],
    ['ca.key', (file) => rmSync(file), /it is missing/],
    [
      'ca.key',
      (file) => writeFileSync(file, createAuthority('x', now).privateKeyPem),
      /it is not the key of .*ca\.crt/,
    ],
    ['serving.crt', (file) => writeFileSync(file, damaged(file)), /it holds a certificate that cannot be read/],
    ['serving.key', (file) => writeFileSync(file, 'garbage'), /it holds no private key/],
  ];

  it.each(damages)('are not made anew in silence when %s is damaged: it is named (%#)', (name, damage, problem) => {
    const load = (): unknown => {
      const authority = loadOrCreateAuthority(directory, 'ca', 'sternpost-ca', now);
      return loadOrIssueKeyPair(directory, 'serving', authority, spec, now);
    };
    load();
    damage(join(directory, name));
    expect(load).toThrow(problem);
    expect(load).toThrow(join(directory, name));
  });

  it('are completed when the process was killed between the two files', () => {
    const authority = loadOrCreateAuthority(directory, 'ca', 'sternpost-ca', now);
    const pair = issueKeyPair(authority, spec, now);
    rmSync(join(directory, 'ca.crt'));
    const again = loadOrCreateAuthority(directory, 'ca', 'sternpost-ca', now);
    expect(again.privateKeyPem).toBe(authority.privateKeyPem);
    // Old and new certificates stand for one authority.
    const known = new X509Certificate(authority.certificatePem);
    expect(new X509Certificate(issueKeyPair(again, spec, now).certificatePem).verify(known.publicKey)).toBe(true);
    expect(new X509Certificate(pair.certificatePem).checkIssued(new X509Certificate(again.certificatePem))).toBe(true);
    const serving = loadOrIssueKeyPair(directory, 'serving', again, spec, now);
    writeFileSync(join(directory, 'serving.key'), issueKeyPair(again, spec, now).privateKeyPem);
    expect(loadOrIssueKeyPair(directory, 'serving', again, spec, now)).not.toEqual(serving);
  });
});

/** The PEM text with some of its bytes garbled. */
function damaged(file: string): string {
  const lines = readFileSync(file, 'utf8').split('\n');
  return [lines[0], 'AAAA', ...lines.slice(2)].join('\n');
}
