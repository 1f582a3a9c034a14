import { existsSync, readdirSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { MASTERS_GROUP } from '../api/user';
import { loadOrCreateAuthority, loadOrIssueKeyPair, type Authority, type KeyPair } from '../pki/authority';
import { readCertificates, readPemPair } from '../pki/pem-files';
import { namedBy } from '../files/named-file';
import { protectFile, protectFolder, type Warn } from '../files/private-files';
import { loadNamedCertificate, parseNamedCertificate, type NamedCertificate } from './named-certificates';

/** Everything TLS needs; PEM texts. */
export interface ServingCertificates {
  readonly serving: KeyPair;
  /** For clients that ask for one of their names. */
  readonly named: readonly NamedCertificate[];
  /** What clients verify the server by; undefined when the certificate came from a file. */
  readonly servingAuthority: string | undefined;
  /** What the server verifies client certificates by; undefined: they are not asked for. */
  readonly clientAuthority: string | undefined;
  /** What the server verifies authenticating proxies by. */
  readonly frontAuthority: string | undefined;
  /** A client certificate of system:masters; undefined when the client CA is not our own. */
  readonly admin: KeyPair | undefined;
  /** Signs certificates that the server takes from clients; undefined when the client CA is not our own. */
  readonly clientSigner: Authority | undefined;
}

export interface CertificateFiles {
  readonly tlsCertFile: string;
  readonly tlsPrivateKeyFile: string;
  /** Values of `--tls-sni-cert-key`. */
  readonly tlsSniCertKey: readonly string[];
  readonly clientCaFile: string;
  readonly requestheaderClientCaFile: string;
}

/** None of them: everything is generated. */
export const NO_CERTIFICATE_FILES: CertificateFiles = {
  tlsCertFile: '',
  tlsPrivateKeyFile: '',
  tlsSniCertKey: [],
  clientCaFile: '',
  requestheaderClientCaFile: '',
};

const LOCAL_NAMES = [
  'localhost',
  'kubernetes',
  'kubernetes.default',
  'kubernetes.default.svc',
  'kubernetes.default.svc.cluster.local',
  '127.0.0.1',
  '::1',
];

/** The name and group under which the server's own clients act. */
export const ADMIN_USER = 'kubernetes-admin';

/**
 * The certificates of the flags, and for those that are not given ones of our own, made on first start and kept in
 * `directory`. `addresses` are further names under which clients reach the server. Who brings a serving certificate and
 * no client CA wants no client certificates.
 */
export function loadCertificates(
  directory: string,
  files: CertificateFiles,
  addresses: readonly string[],
  now: Date,
): ServingCertificates {
  let made: Authority | undefined;
  const ownAuthority = (): Authority => (made ??= loadOrCreateAuthority(directory, 'ca', 'sternpost-ca', now));
  const givenServing = files.tlsCertFile !== '';
  const givenClientAuthority = files.clientCaFile !== '';
  const ownClientAuthority = !givenClientAuthority && !givenServing;
  const altNames = [...new Set([...LOCAL_NAMES, hostname().toLowerCase(), ...addresses])];
  return {
    serving: givenServing
      ? readPemPair(files.tlsCertFile, files.tlsPrivateKeyFile, namedBy('tls-cert-file', 'tls-private-key-file'))
      : loadOrIssueKeyPair(
          directory,
          'apiserver',
          ownAuthority(),
          { subject: { commonName: 'kube-apiserver', organizations: [] }, altNames, usages: ['server auth'] },
          now,
        ),
    named: namedFlags(files).map(loadNamedCertificate),
    servingAuthority: givenServing ? undefined : ownAuthority().certificatePem,
    clientAuthority: givenClientAuthority
      ? readCertificates(files.clientCaFile, namedBy('client-ca-file'))
      : ownClientAuthority
        ? ownAuthority().certificatePem
        : undefined,
    frontAuthority:
      files.requestheaderClientCaFile === ''
        ? undefined
        : readCertificates(files.requestheaderClientCaFile, namedBy('requestheader-client-ca-file')),
    admin: !ownClientAuthority
      ? undefined
      : loadOrIssueKeyPair(
          directory,
          'admin',
          ownAuthority(),
          {
            subject: { commonName: ADMIN_USER, organizations: [MASTERS_GROUP] },
            altNames: [],
            usages: ['client auth'],
          },
          now,
        ),
    clientSigner: ownClientAuthority ? ownAuthority() : undefined,
  };
}

/** Where generated certificates and keys are kept: in the folder that is named for them, or below the data directory. */
export function certificateDirectory(dataDir: string, certDir = ''): string {
  return certDir === '' ? join(dataDir, 'pki') : certDir;
}

/** What lies in a folder of generated certificates. */
const GENERATED = /\.(crt|key|tmp)$/;

/** Takes from others the right to read generated keys, which they may have from earlier versions. */
export function protectCertificates(directory: string, warn: Warn): void {
  if (!existsSync(directory)) return;
  protectFolder(directory, (name) => GENERATED.test(name), warn);
  for (const name of readdirSync(directory)) if (name.endsWith('.key')) protectFile(join(directory, name), warn);
}

function namedFlags({ tlsSniCertKey }: CertificateFiles) {
  return tlsSniCertKey.flatMap((text) => parseNamedCertificate(text) ?? []);
}

/** The paths among the flags: who changes one of them wants it read again. */
export function certificatePaths(files: CertificateFiles): readonly string[] {
  const { tlsCertFile, tlsPrivateKeyFile, clientCaFile, requestheaderClientCaFile } = files;
  const named = namedFlags(files).flatMap(({ certFile, keyFile }) => [certFile, keyFile]);
  return [tlsCertFile, tlsPrivateKeyFile, clientCaFile, requestheaderClientCaFile, ...named].filter(
    (path) => path !== '',
  );
}
