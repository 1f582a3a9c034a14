import { load } from 'js-yaml';
import type { ApiServer } from '../../src';
import { ApiClient } from '../../src/client/api-client';

interface Kubeconfig {
  readonly users: readonly { readonly user: Readonly<Record<string, string>> }[];
  readonly clusters: readonly { readonly cluster: Readonly<Record<string, string>> }[];
}

/** What the kubeconfig of a server holds, as PEM texts. */
export function adminCredentials(server: Pick<ApiServer, 'kubeconfig'>): {
  readonly certificateAuthority: string;
  readonly clientCertificate: string;
  readonly clientKey: string;
} {
  const { clusters, users } = load(server.kubeconfig) as Kubeconfig;
  const decode = (text: string | undefined): string => Buffer.from(text ?? '', 'base64').toString();
  return {
    certificateAuthority: decode(clusters[0]?.cluster['certificate-authority-data']),
    clientCertificate: decode(users[0]?.user['client-certificate-data']),
    clientKey: decode(users[0]?.user['client-key-data']),
  };
}

/** A client of the server that may do all. */
export function adminClient(server: Pick<ApiServer, 'url' | 'kubeconfig'>): ApiClient {
  return new ApiClient({ url: server.url, ...adminCredentials(server), userAgent: 'test' });
}
