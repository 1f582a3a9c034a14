import type { AuthorityBundle } from '../pki/authority-bundle';
import type { RequestAuthenticator } from './credentials';

/**
 * The subject of a client certificate that the client CA stands for: CN is the user, each O a group. Without CN it is no
 * identity. A certificate that the CA does not stand for (any more) is refused.
 */
export function clientCertificateAuthenticator(authority: () => AuthorityBundle): RequestAuthenticator {
  return ({ clientCertificate }) => {
    if (clientCertificate === undefined) return undefined;
    const { trusted, leaf, commonName, organizations } = clientCertificate;
    if (!trusted || !authority().vouchesFor(leaf)) return { refused: 'x509: certificate signed by unknown authority' };
    return commonName === '' ? undefined : { user: { name: commonName, groups: organizations } };
  };
}
