import type { ClientTls } from '../aggregator/remote-apis';
import { kubeletFiles } from '../kubelet/kubelet-files';
import type { FlagTable, OptionsOf } from './flag-table';

/** The flags about other API servers. */
export const aggregatorFlags = {
  'proxy-client-cert-file': {
    type: 'string',
    section: 'Misc',
    help: 'Client certificate that other API servers are shown, so that they believe who this one says is asking.',
  },
  'proxy-client-key-file': {
    type: 'string',
    section: 'Misc',
    help: 'Key of the client certificate for other API servers.',
  },
} as const satisfies FlagTable;

type AggregatorFlags = OptionsOf<typeof aggregatorFlags>;

/** What is wrong with the flags. */
export function aggregatorProblems({ proxyClientCertFile, proxyClientKeyFile }: AggregatorFlags): readonly string[] {
  return (proxyClientCertFile === '') === (proxyClientKeyFile === '')
    ? []
    : ['--proxy-client-cert-file and --proxy-client-key-file go together'];
}

/** Throws when a file cannot be used. */
export function proxyClientFromFlags(
  { proxyClientCertFile, proxyClientKeyFile }: AggregatorFlags,
  onFault: (error: unknown) => void,
): ClientTls {
  return kubeletFiles(
    { certificateAuthority: '', clientCertificate: proxyClientCertFile, clientKey: proxyClientKeyFile },
    { certificateAuthority: '', clientCertificate: 'proxy-client-cert-file', clientKey: 'proxy-client-key-file' },
    onFault,
  );
}
