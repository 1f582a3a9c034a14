import { createAuthority, issueKeyPair } from '../pki/authority';
import type { ServingCertificates } from './certificates';

/** The name under which the server's own clients ask for it; kube-apiserver's. */
export const LOOPBACK_NAME = 'apiserver-loopback-client';

/**
 * A serving certificate came from a file: it may have any issuer and any name. The server's own clients ask
 * for a name of their own, and get a certificate that lives in memory only.
 */
export function loopbackCertificate(now: Date): {
  readonly authority: string;
  readonly addTo: (certificates: ServingCertificates) => ServingCertificates;
} {
  const authority = createAuthority('sternpost-loopback-ca', now);
  const pair = issueKeyPair(
    authority,
    {
      subject: { commonName: LOOPBACK_NAME, organizations: [] },
      altNames: [LOOPBACK_NAME],
      usages: ['server auth'],
    },
    now,
  );
  const named = { ...pair, patterns: [LOOPBACK_NAME] };
  return {
    authority: authority.certificatePem,
    addTo: (certificates) => ({ ...certificates, named: [named, ...certificates.named] }),
  };
}
