import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import type { KubeletTls } from './kubelet-options';

/** Paths of PEM files; empty: none. */
export interface KubeletFiles {
  readonly certificateAuthority: string;
  readonly clientCertificate: string;
  readonly clientKey: string;
}

/** How soon a changed file is noticed. */
const LOOK_MS = 2_000;

/**
 * Reads the files, and again when they have changed: a client certificate is replaced before it expires. Files that cannot be
 * used for a moment, as while they are being replaced, change nothing. Throws when they cannot be used now.
 */
export function kubeletFiles(files: KubeletFiles, onFault: (error: unknown) => void): () => KubeletTls {
  const paths = Object.values(files).filter((path: string) => path !== '');
  let tls = read(files);
  let seen = stampOf(paths);
  let lookedAt = performance.now();
  return () => {
    const now = performance.now();
    if (paths.length === 0 || now - lookedAt < LOOK_MS) return tls;
    lookedAt = now;
    const stamp = stampOf(paths);
    if (stamp === seen) return tls;
    try {
      tls = read(files);
      seen = stamp;
    } catch (error) {
      onFault(error);
    }
    return tls;
  };
}

function read({ certificateAuthority, clientCertificate, clientKey }: KubeletFiles): KubeletTls {
  const text = (path: string): string | undefined => (path === '' ? undefined : readFileSync(path, 'utf8'));
  const [ca, certificate, key] = [text(certificateAuthority), text(clientCertificate), text(clientKey)];
  if (ca !== undefined) new X509Certificate(ca);
  if (certificate !== undefined && key !== undefined) {
    if (!new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key))) {
      throw new Error(`the key of the client certificate ${clientCertificate} does not fit it`);
    }
  }
  return {
    ...(ca === undefined ? {} : { certificateAuthority: ca }),
    ...(certificate === undefined ? {} : { clientCertificate: certificate }),
    ...(key === undefined ? {} : { clientKey: key }),
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
