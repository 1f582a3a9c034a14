import { authorizationHeader, readKubeconfigUsers, type KubeconfigUser } from './kubeconfig-file';
import type { PeerTls } from './peer-tls';

/** What a backend is shown of us. */
export interface BackendCredentials {
  readonly tls: Pick<PeerTls, 'clientCertificate' | 'clientKey'>;
  /** The Authorization header. */
  readonly authorization: string | undefined;
}

export const NO_CREDENTIALS: BackendCredentials = { tls: {}, authorization: undefined };

const DEFAULT_PORT = ':443';

/**
 * The credentials of a kubeconfig whose users are named after backends (`webhook.ns.svc`, `*.example.com:8443`, `*`): the nearest name
 * counts, then the user of the current context. Throws what is wrong with the file.
 */
export function readBackendCredentials(file: string): (hostAndPort: string) => BackendCredentials {
  const { users, current } = readKubeconfigUsers(file);
  const known = new Map([...users].map(([name, user]) => [name, credentialsOf(user)]));
  const fallback = known.get('*') ?? (current === undefined ? NO_CREDENTIALS : (known.get(current) ?? NO_CREDENTIALS));
  return (hostAndPort) => {
    const withoutPort = hostAndPort.endsWith(DEFAULT_PORT) ? hostAndPort.slice(0, -DEFAULT_PORT.length) : undefined;
    const names = [...namesFor(hostAndPort), ...(withoutPort === undefined ? [] : namesFor(withoutPort))];
    const found = names.find((name) => known.has(name));
    return (found === undefined ? undefined : known.get(found)) ?? fallback;
  };
}

/** The host itself, then with more and more of its beginning replaced by a star. */
function namesFor(host: string): readonly string[] {
  const labels = host.split('.');
  return [host, ...labels.slice(1).map((_label, index) => `*.${labels.slice(index + 1).join('.')}`)];
}

function credentialsOf(user: KubeconfigUser): BackendCredentials {
  if (user.exec !== undefined) throw new Error('commands for the credentials of webhooks are not supported');
  const { clientCertificate, clientKey } = user.tls;
  return {
    tls: {
      ...(clientCertificate === undefined ? {} : { clientCertificate }),
      ...(clientKey === undefined ? {} : { clientKey }),
    },
    authorization: authorizationHeader(user),
  };
}
