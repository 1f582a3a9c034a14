import type { SecureVersion } from 'node:tls';
import { getCiphers } from 'node:tls';
import type { FlagTable, OptionsOf } from './flag-table';

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
} as const satisfies FlagTable;

type TlsFlags = OptionsOf<typeof tlsFlags>;

const VERSIONS: Readonly<Record<string, SecureVersion>> = {
  VersionTLS10: 'TLSv1',
  VersionTLS11: 'TLSv1.1',
  VersionTLS12: 'TLSv1.2',
  VersionTLS13: 'TLSv1.3',
};

/** OpenSSL's name of a suite: `TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256` is `ECDHE-RSA-AES128-GCM-SHA256`. */
function opensslName(name: string): string {
  if (/^TLS_(AES|CHACHA20)/.test(name)) return name;
  const [exchange = '', cipher = ''] = name.replace(/^TLS_/, '').split('_WITH_');
  const prefix = exchange === 'RSA' ? '' : `${exchange.replaceAll('_', '-')}-`;
  const suite = cipher
    .replace('CHACHA20_POLY1305_SHA256', 'CHACHA20_POLY1305')
    .replace('AES_128_CBC', 'AES128')
    .replace('AES_256_CBC', 'AES256')
    .replace('AES_128', 'AES128')
    .replace('AES_256', 'AES256')
    .replace('3DES_EDE_CBC', 'DES_CBC3')
    .replaceAll('_', '-');
  return `${prefix}${suite}`;
}

/** What is wrong with the flags. */
export function tlsProblems({ tlsMinVersion, tlsCipherSuites }: TlsFlags): readonly string[] {
  const known = new Set(getCiphers());
  return [
    ...(tlsMinVersion in VERSIONS ? [] : [`unknown tls version ${JSON.stringify(tlsMinVersion)}`]),
    ...tlsCipherSuites
      .filter((name) => !name.startsWith('TLS_') || !known.has(opensslName(name).toLowerCase()))
      .map((name) => `Cipher suite ${name} not supported or doesn't exist`),
  ];
}

/** As Node's TLS takes them. */
export function tlsProtocol({ tlsMinVersion, tlsCipherSuites }: TlsFlags): {
  readonly minVersion: SecureVersion;
  readonly ciphers?: string;
} {
  return {
    minVersion: VERSIONS[tlsMinVersion] ?? 'TLSv1.2',
    ...(tlsCipherSuites.length === 0 ? {} : { ciphers: tlsCipherSuites.map(opensslName).join(':') }),
  };
}
