import { DEFAULT_ADDRESS_TYPES } from './node-endpoint';

/** PEM texts for connections to kubelets. */
export interface KubeletTls {
  /** What verifies kubelets. Absent: they are not verified, as with kube-apiserver. */
  readonly certificateAuthority?: string;
  /** What kubelets are shown. */
  readonly clientCertificate?: string;
  readonly clientKey?: string;
}

export interface KubeletOptions {
  /** Asked for each new connection: files may have been replaced. Returns the same object while they have not. */
  readonly tls: () => KubeletTls;
  /** For making a connection, with its handshake, in milliseconds. */
  readonly dialTimeoutMs: number;
  /** Of the addresses in a node's status, the best first. */
  readonly preferredAddressTypes: readonly string[];
  /** Lower-case names of headers that are for this server only: those in which a trusted proxy says who asks. */
  readonly isPrivateHeader: (name: string) => boolean;
}

/** kube-apiserver's, without files. */
export const DEFAULT_DIAL_TIMEOUT_MS = 5_000;
const NO_FILES: KubeletTls = {};
export const DEFAULT_OPTIONS: KubeletOptions = {
  tls: () => NO_FILES,
  dialTimeoutMs: DEFAULT_DIAL_TIMEOUT_MS,
  preferredAddressTypes: DEFAULT_ADDRESS_TYPES,
  isPrivateHeader: () => false,
};
