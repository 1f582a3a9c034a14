import { printYaml } from '../api/codec/yaml-print';

/** What a client needs to reach a server, and how it proves who it is; PEM texts. */
export type KubeconfigInput = {
  readonly clusterName: string;
  readonly userName: string;
  readonly url: string;
  readonly certificateAuthority: string;
} & ({ readonly clientCertificate: string; readonly clientKey: string } | { readonly token: string });

function base64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}

/** A kubeconfig (v1 Config, YAML) with one cluster, one user and one context, everything embedded. */
export function printKubeconfig(input: KubeconfigInput): string {
  const { clusterName, userName } = input;
  return printYaml({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': clusterName,
    clusters: [
      {
        name: clusterName,
        cluster: { server: input.url, 'certificate-authority-data': base64(input.certificateAuthority) },
      },
    ],
    users: [
      {
        name: userName,
        user:
          'token' in input
            ? { token: input.token }
            : {
                'client-certificate-data': base64(input.clientCertificate),
                'client-key-data': base64(input.clientKey),
              },
      },
    ],
    contexts: [{ name: clusterName, context: { cluster: clusterName, user: userName } }],
  });
}
