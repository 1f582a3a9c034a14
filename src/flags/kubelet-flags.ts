import { DEFAULT_ADDRESS_TYPES } from '../kubelet/node-endpoint';
import { kubeletFiles } from '../kubelet/kubelet-files';
import type { KubeletOptions } from '../kubelet/kubelet-options';
import type { FlagTable, OptionsOf } from './flag-table';

/** The flags about connections to kubelets. */
export const kubeletFlags = {
  'kubelet-certificate-authority': {
    type: 'string',
    section: 'Kubelets',
    help: 'CA that verifies kubelets; when absent they are not verified.',
  },
  'kubelet-client-certificate': {
    type: 'string',
    section: 'Kubelets',
    help: 'Client certificate that kubelets are shown, for logs, exec, attach, port-forward and proxy.',
  },
  'kubelet-client-key': { type: 'string', section: 'Kubelets', help: 'Key of the client certificate for kubelets.' },
  'kubelet-preferred-address-types': {
    type: 'strings',
    section: 'Kubelets',
    default: DEFAULT_ADDRESS_TYPES.join(','),
    help: 'Which of the addresses in the status of a node its kubelet is reached at, the best first.',
  },
  'kubelet-timeout': {
    type: 'duration',
    section: 'Kubelets',
    default: '5s',
    help: 'Limit for making a connection to a kubelet, a pod or a service.',
  },
} as const satisfies FlagTable;

type KubeletFlags = OptionsOf<typeof kubeletFlags>;

/** What is wrong with the flags. */
export function kubeletProblems({ kubeletClientCertificate, kubeletClientKey }: KubeletFlags): readonly string[] {
  return (kubeletClientCertificate === '') === (kubeletClientKey === '')
    ? []
    : ['--kubelet-client-certificate and --kubelet-client-key go together'];
}

/** The names in which a trusted proxy says who asks; they are for this server only. */
export interface PrivateHeaders {
  readonly names: readonly string[];
  readonly prefixes: readonly string[];
}

/** Throws when a file cannot be used. */
export function kubeletOptions(
  flags: KubeletFlags,
  { names, prefixes }: PrivateHeaders,
  onFault: (error: unknown) => void,
): KubeletOptions {
  const privateNames = new Set(names.map((name) => name.toLowerCase()));
  const privatePrefixes = prefixes.map((prefix) => prefix.toLowerCase());
  return {
    tls: kubeletFiles(
      {
        certificateAuthority: flags.kubeletCertificateAuthority,
        clientCertificate: flags.kubeletClientCertificate,
        clientKey: flags.kubeletClientKey,
      },
      {
        certificateAuthority: 'kubelet-certificate-authority',
        clientCertificate: 'kubelet-client-certificate',
        clientKey: 'kubelet-client-key',
      },
      onFault,
    ),
    dialTimeoutMs: flags.kubeletTimeout,
    preferredAddressTypes: flags.kubeletPreferredAddressTypes,
    isPrivateHeader: (name) => privateNames.has(name) || privatePrefixes.some((prefix) => name.startsWith(prefix)),
  };
}
