import type { Authenticator } from './credentials';

/** The subject of a trusted client certificate: CN is the user, each O a group. Without CN it is no identity. */
export const authenticateClientCertificate: Authenticator = async ({ clientCertificate }) =>
  clientCertificate?.trusted === true && clientCertificate.commonName !== ''
    ? { name: clientCertificate.commonName, groups: clientCertificate.organizations }
    : undefined;
