import { statSync } from 'node:fs';
import { namedBy } from '../files/named-file';
import { readCertificates, readPemPair } from '../pki/pem-files';
import type { KubeletTls } from './kubelet-options';

/** Paths of PEM files; empty: none. */
export interface KubeletFiles {
  readonly certificateAuthority: string;
  readonly clientCertificate: string;
  readonly clientKey: string;
}

/** The flags that name them, for who has to mend one. */
export type KubeletFileFlags = { readonly [Name in keyof KubeletFiles]: string };

/** How soon a changed file is noticed. */
const LOOK_MS = 2_000;

/**
 * Reads the files, and again when they have changed: a client certificate is replaced before it expires. Files that cannot be
 * used for a moment, as while they are being replaced, change nothing. Throws when they cannot be used now.
 */
export function kubeletFiles(
  files: KubeletFiles,
  flags: KubeletFileFlags,
  onFault: (error: unknown) => void,
): () => KubeletTls {
  const paths = Object.values(files).filter((path: string) => path !== '');
  let tls = read(files, flags);
  let seen = stampOf(paths);
  let lookedAt = performance.now();
  return () => {
    const now = performance.now();
    if (paths.length === 0 || now - lookedAt < LOOK_MS) return tls;
    lookedAt = now;
    const stamp = stampOf(paths);
    if (stamp === seen) return tls;
    try {
      tls = read(files, flags);
      seen = stamp;
    } catch (error) {
      onFault(error);
    }
    return tls;
  };
}

function read(files: KubeletFiles, flags: KubeletFileFlags): KubeletTls {
  const { certificateAuthority, clientCertificate, clientKey } = files;
  const pair =
    clientCertificate === ''
      ? undefined
      : readPemPair(clientCertificate, clientKey, namedBy(flags.clientCertificate, flags.clientKey));
  return {
    ...(certificateAuthority !== '' && {
      certificateAuthority: readCertificates(certificateAuthority, namedBy(flags.certificateAuthority)),
    }),
    ...(pair && { clientCertificate: pair.certificatePem, clientKey: pair.privateKeyPem }),
  };
}

function stampOf(paths: readonly string[]): string {
  return paths
    .map((path) => {
      const stat = statSync(path, { throwIfNoEntry: false });
      return stat === undefined ? 'none' : `${stat.ino} ${stat.mtimeMs} ${stat.size}`;
    })
    .join(', ');
}
