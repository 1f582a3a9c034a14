import type { X509Certificate } from 'node:crypto';
import type { AuthorityBundle } from '../pki/authority-bundle';
import type { Authenticated, ClientCertificate, RequestAuthenticator } from './credentials';

/**
 * The subject of a client certificate that the client CA stands for: CN is the user, each O a group. Without CN it is no
 * identity. A certificate that the CA does not stand for (any more) is refused; `showed` is told of each other one.
 */
export function clientCertificateAuthenticator(
  authority: () => AuthorityBundle,
  showed: (certificate: X509Certificate) => void = () => undefined,
): RequestAuthenticator {
  const users = new WeakMap<ClientCertificate, Authenticated>();
  const userOf = (certificate: ClientCertificate): Authenticated => {
    let user = users.get(certificate);
    if (user === undefined) {
      const { commonName: name, organizations: groups } = certificate;
      users.set(certificate, (user = { user: { name, groups } }));
    }
    return user;
  };
  return ({ clientCertificate }) => {
    if (clientCertificate === undefined) return undefined;
    const { trusted, leaf, commonName } = clientCertificate;
    if (!trusted || !authority().vouchesFor(leaf)) return { refused: 'x509: certificate signed by unknown authority' };
    showed(leaf);
    return commonName === '' ? undefined : userOf(clientCertificate);
  };
}
