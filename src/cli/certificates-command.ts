import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { printKubeconfig } from '../apiserver/kubeconfig';
import { MASTERS_GROUP } from '../api/user';
import { ApiClient } from '../client/api-client';
import { describeFlags, parseFlags, UsageError, type FlagTable } from '../flags/flag-table';
import { makeCertificateSet, type CertificateSetOptions } from '../pki/certificate-set';
import { CertificateFolder } from './certificate-folder';
import { CertificateSecrets } from './certificate-secrets';
import { VERSION } from '../apiserver/version';

const certificatesFlags = {
  out: { type: 'string', section: 'Where', help: 'Folder for the files; each set has a folder of its own in it.' },
  'secret-prefix': {
    type: 'string',
    section: 'Where',
    help: 'Secrets with names that begin so, in the cluster in which this runs as a pod, instead of files.',
  },
  'secret-namespace': { type: 'string', section: 'Where', help: "Namespace of the Secrets; default: the pod's." },
  'dns-names': { type: 'strings', section: 'What', help: 'DNS names of the serving certificate.' },
  'ip-addresses': { type: 'strings', section: 'What', help: 'Addresses of the serving certificate.' },
  validity: {
    type: 'duration',
    section: 'What',
    default: '8760h',
    help: 'How long certificates are good; those of CAs ten years.',
  },
  'renew-before': {
    type: 'duration',
    section: 'What',
    default: '1440h',
    help: 'How long before its end a certificate is made anew; so are those that lack a name. CAs and keys stay.',
  },
  server: {
    type: 'string',
    section: 'What',
    default: 'https://127.0.0.1:6443',
    help: 'URL in the kubeconfig of the administrator.',
  },
  'internal-server': {
    type: 'string',
    section: 'What',
    help: 'URL in the kubeconfig of the controllers; default: --server.',
  },
  'service-account-key': { type: 'bool', section: 'What', default: 'true', help: 'A key for service account tokens.' },
  'front-proxy': { type: 'bool', section: 'What', help: 'A CA of authenticating proxies, and a certificate for one.' },
  'admin-kubeconfig': { type: 'bool', section: 'What', default: 'true', help: 'A kubeconfig of system:masters.' },
  'controllers-kubeconfig': { type: 'bool', section: 'What', help: 'A kubeconfig for the controllers.' },
  help: { type: 'bool', section: 'Misc', help: 'Print this text and exit.' },
} as const satisfies FlagTable;

/** Where the host cluster tells a pod how to reach it. */
const POD_FILES = '/var/run/secrets/kubernetes.io/serviceaccount';

/** `sternpost certificates`: what several replicas share, made once and renewed by a later run. */
export async function certificatesCommand(argv: readonly string[]): Promise<void> {
  const { options } = parseFlags(certificatesFlags, argv);
  if (options.help) {
    process.stdout.write(
      'sternpost certificates: CAs, keys, certificates and kubeconfigs that several replicas share, as files or Secrets. What is there ' +
        `and still good stays.\n\n${describeFlags(certificatesFlags)}`,
    );
    return;
  }
  if ((options.out === '') === (options.secretPrefix === '')) {
    throw new UsageError(['either --out or --secret-prefix is required']);
  }
  const now = new Date();
  const users = [
    ...(options.adminKubeconfig ? [{ name: 'admin', user: 'sternpost-admin', server: options.server }] : []),
    ...(options.controllersKubeconfig
      ? [
          {
            name: 'controllers',
            user: 'sternpost-controller-manager',
            server: options.internalServer || options.server,
          },
        ]
      : []),
  ].map(({ name, user, server }): CertificateSetOptions['users'][number] => ({
    name: `${name}-kubeconfig`,
    subject: { commonName: user, organizations: [MASTERS_GROUP] },
    print: (certificateAuthority, { certificatePem, privateKeyPem }) =>
      printKubeconfig({
        clusterName: 'sternpost',
        userName: user,
        url: server,
        certificateAuthority,
        clientCertificate: certificatePem,
        clientKey: privateKeyPem,
      }),
  }));
  const place = options.out === '' ? podSecrets(options) : new CertificateFolder(options.out);
  const written = await makeCertificateSet(
    {
      altNames: [...options.dnsNames, ...options.ipAddresses],
      validityMs: options.validity,
      renewBeforeMs: options.renewBefore,
      serviceAccountKey: options.serviceAccountKey,
      frontProxy: options.frontProxy,
      users,
      now,
    },
    place,
  ).finally(() => place.close());
  for (const { name, why } of written) process.stdout.write(`${name}: ${why}\n`);
}

function podSecrets(options: { readonly secretPrefix: string; readonly secretNamespace: string }): CertificateSecrets {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = '443' } = process.env;
  if (host === undefined) throw new Error('--secret-prefix is for a pod: KUBERNETES_SERVICE_HOST is not set');
  const read = (name: string): string =>
    readFileSync(join(process.env['STERNPOST_POD_FILES'] ?? POD_FILES, name), 'utf8');
  const client = new ApiClient({
    url: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    certificateAuthority: read('ca.crt'),
    bearerToken: read('token').trim(),
    userAgent: `sternpost-certificates/${VERSION}`,
  });
  return new CertificateSecrets(client, options.secretNamespace || read('namespace').trim(), options.secretPrefix);
}
