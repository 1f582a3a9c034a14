import { createAuthority, issueKeyPair, type KeyPair } from '../../src/pki/authority';

const now = new Date();

/** An authority, and TLS of a server that it vouches for as `localhost`. */
export const authority = createAuthority('test-ca', now);
const serving = servingKeys();
export const tls = { cert: serving.certificatePem, key: serving.privateKeyPem, ca: authority.certificatePem };

export function servingKeys(issuer = authority, name = 'localhost'): KeyPair {
  return issueKeyPair(
    issuer,
    { subject: { commonName: 's', organizations: [] }, altNames: [name], usages: ['server auth'] },
    now,
  );
}

export function clientKeys(commonName: string, organizations: readonly string[], issuer = authority): KeyPair {
  return issueKeyPair(issuer, { subject: { commonName, organizations }, altNames: [], usages: ['client auth'] }, now);
}
