import type { SecureVersion } from 'node:tls';
import type { FlagTable, OptionsOf } from './flag-table';
import { namedCertificateProblems } from '../apiserver/named-certificates';
import { opensslCiphers, supportedCipherSuites } from './tls-cipher-suites';

/** The flags about the TLS protocol. */
export const tlsFlags = {
  'tls-min-version': {
    type: 'string',
    section: 'Serving',
    default: 'VersionTLS12',
    help: 'Oldest TLS version: VersionTLS10, VersionTLS11, VersionTLS12 or VersionTLS13.',
  },
  'tls-cipher-suites': {
    type: 'strings',
    section: 'Serving',
    help: "Cipher suites by their IANA names; default: Node's. Those of TLS 1.3 are always on.",
  },
  'tls-sni-cert-key': {
    type: 'stringArray',
    section: 'Serving',
    help:
      'Certificate and key for clients that ask for certain names: cert.pem,key.pem or cert.pem,key.pem:a.example,*.b.example; ' +
      'without names those of the certificate. May be repeated. Read again when it changes.',
  },
} as const satisfies FlagTable;

type TlsFlags = OptionsOf<typeof tlsFlags>;

const VERSIONS: Readonly<Record<string, SecureVersion>> = {
  VersionTLS10: 'TLSv1',
  VersionTLS11: 'TLSv1.1',
  VersionTLS12: 'TLSv1.2',
  VersionTLS13: 'TLSv1.3',
};

/** What is wrong with the flags. */
export function tlsProblems({ tlsMinVersion, tlsCipherSuites, tlsSniCertKey }: TlsFlags): readonly string[] {
  const supported = supportedCipherSuites();
  const unsupported = tlsCipherSuites.filter((name) => !supported.includes(name));
  return [
    ...(tlsMinVersion === '' || Object.hasOwn(VERSIONS, tlsMinVersion)
      ? []
      : [`unknown tls version ${JSON.stringify(tlsMinVersion)}, possible are ${Object.keys(VERSIONS).join(', ')}`]),
    ...unsupported.map((name) => `Cipher suite ${name} not supported or doesn't exist`),
    ...(unsupported.length === 0 ? [] : [`possible cipher suites are ${supported.join(', ')}`]),
    ...tlsSniCertKey.flatMap(namedCertificateProblems),
  ];
}

/** As Node's TLS takes them. */
export function tlsProtocol({ tlsMinVersion, tlsCipherSuites }: Pick<TlsFlags, 'tlsMinVersion' | 'tlsCipherSuites'>): {
  readonly minVersion: SecureVersion;
  readonly ciphers: string;
} {
  return {
    minVersion: VERSIONS[tlsMinVersion] ?? 'TLSv1.2',
    ciphers: opensslCiphers(tlsCipherSuites),
  };
}
