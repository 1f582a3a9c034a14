import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { issueKeyPair, loadOrCreateAuthority } from '../pki/authority';
import { certificateDirectory } from '../apiserver/certificates';
import { describeFlags, parseFlags, UsageError, type FlagTable } from '../flags/flag-table';
import { printKubeconfig } from '../apiserver/kubeconfig';

const kubeconfigFlags = {
  user: { type: 'string', section: 'Kubeconfig', help: 'Name of the user (CN of the certificate). Required.' },
  group: { type: 'strings', section: 'Kubeconfig', help: 'Groups of the user, comma-separated or repeated.' },
  server: {
    type: 'string',
    section: 'Kubeconfig',
    default: 'https://127.0.0.1:6443',
    help: 'URL of the API server.',
  },
  'data-dir': {
    type: 'string',
    section: 'Kubeconfig',
    default: '.sternpost',
    help: 'Folder of "sternpost dev" or "sternpost apiserver", where the CA is.',
  },
  'cert-dir': {
    type: 'string',
    section: 'Kubeconfig',
    help: 'Folder of the CA (ca.crt, ca.key), when it is another: that of --cert-dir of "sternpost apiserver".',
  },
  help: { type: 'bool', section: 'Kubeconfig', help: 'Print this text and exit.' },
} as const satisfies FlagTable;

const CLUSTER_NAME = 'sternpost';

/** `sternpost kubeconfig`: a client certificate of the generated CA for any user, printed as a kubeconfig. */
export async function kubeconfigCommand(argv: readonly string[]): Promise<void> {
  const { options } = parseFlags(kubeconfigFlags, argv);
  if (options.help) {
    process.stdout.write(
      `sternpost kubeconfig: a kubeconfig for a user, with a new client certificate.\n\n${describeFlags(kubeconfigFlags)}`,
    );
    return;
  }
  const { user, group, server, dataDir, certDir } = options;
  if (user === '') throw new UsageError(['--user is required']);
  const directory = certificateDirectory(dataDir, certDir);
  if (!existsSync(join(directory, 'ca.key'))) {
    throw new Error(
      `${directory} holds no CA: start "sternpost dev" or "sternpost apiserver" first, or name its folder with --data-dir or --cert-dir`,
    );
  }
  const now = new Date();
  const authority = loadOrCreateAuthority(directory, 'ca', 'sternpost-ca', now);
  const spec = { subject: { commonName: user, organizations: group }, altNames: [], usages: ['client auth'] } as const;
  const pair = issueKeyPair(authority, spec, now);
  process.stdout.write(
    printKubeconfig({
      clusterName: CLUSTER_NAME,
      userName: user,
      url: server,
      certificateAuthority: authority.certificatePem,
      clientCertificate: pair.certificatePem,
      clientKey: pair.privateKeyPem,
    }),
  );
}
