import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEFAULT_CIPHERS } from 'node:tls';
import { apiserverFlags } from './apiserver-flags';
import { authenticationFromFlags, authenticationProblems, signingKeyFromFlags } from './authentication-flags';
import { authorizationFromFlags, authorizationProblems } from './authorization-flags';
import { selectControllers, unknownControllers } from '../controllers/start-controllers';
import { parseFlags } from './flag-table';
import { tlsProblems, tlsProtocol } from './tls-flags';

const flags = (...argv: readonly string[]) => parseFlags(apiserverFlags, argv).options;

describe('the flags of authentication', () => {
  it.each<[string, readonly string[]]>([
    ['a client of OpenID without issuer', ['--oidc-client-id=c']],
    ['an issuer without a client', ['--oidc-issuer-url=https://x']],
    ['an issuer over http', ['--oidc-issuer-url=http://x', '--oidc-client-id=c']],
    ['symmetric signatures', ['--oidc-signing-algs=HS256']],
    [
      'an unknown review version',
      ['--authentication-token-webhook-config-file=f', '--authentication-token-webhook-version=v2'],
    ],
    ['a signing key without issuer', ['--service-account-signing-key-file=f']],
    ['an issuer without a signing key', ['--service-account-issuer=https://x']],
    ['keys without a signing key', ['--service-account-key-file=f']],
    [
      'an issuer that looks like a URL and is none',
      ['--service-account-issuer=https:// x', '--service-account-signing-key-file=f'],
    ],
    ['tokens that may live for less than an hour only', ['--service-account-max-token-expiration=59m']],
    ['tokens that may live for centuries', ['--service-account-max-token-expiration=1300000h']],
    ['an empty name of a header', ['--requestheader-username-headers=X-Remote-User,']],
    ['an empty name of a proxy', ['--requestheader-allowed-names=a, ']],
    ['keys published over http', ['--service-account-jwks-uri=http://x']],
  ])('are refused for %s', (_, argv) => {
    expect(authenticationProblems(flags(...argv))).toHaveLength(1);
  });

  it('make a key where none is given, and the same one again', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sternpost-flags-'));
    try {
      const key = await signingKeyFromFlags(flags(), folder);
      expect((await signingKeyFromFlags(flags(), folder)).id).toBe(key.id);
      const first = authenticationFromFlags(flags(), key);
      expect(authenticationProblems(flags())).toEqual([]);
      expect(first.serviceAccounts).toMatchObject({
        issuers: ['https://kubernetes.default.svc'],
        audiences: ['https://kubernetes.default.svc'],
        keys: [{ id: key.id }],
      });
      const again = authenticationFromFlags(flags('--api-audiences=a,b'), key).serviceAccounts;
      expect(again.audiences).toEqual(['a', 'b']);
      const old = authenticationFromFlags(flags('--service-account-api-audiences=c'), key).serviceAccounts;
      expect(old).toMatchObject({ audiences: ['c'], extendLifetime: true, maxLifetimeSeconds: undefined });
      const bounded = authenticationFromFlags(
        flags('--service-account-max-token-expiration=2h', '--service-account-extend-token-expiration=false'),
        key,
      ).serviceAccounts;
      expect(bounded).toMatchObject({ extendLifetime: false, maxLifetimeSeconds: 7200 });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('the flags of authorization', () => {
  it.each<[string, readonly string[]]>([
    ['an unknown mode', ['--authorization-mode=RBAC,Magic']],
    ['no mode', ['--authorization-mode=']],
    ['a mode twice', ['--authorization-mode=RBAC,RBAC']],
    ['ABAC without policies', ['--authorization-mode=ABAC']],
    ['policies without ABAC', ['--authorization-mode=RBAC', '--authorization-policy-file=f']],
    ['Webhook without a peer', ['--authorization-mode=Webhook']],
    ['a peer without Webhook', ['--authorization-mode=RBAC', '--authorization-webhook-config-file=f']],
    [
      'an unknown review version',
      ['--authorization-mode=Webhook', '--authorization-webhook-config-file=f', '--authorization-webhook-version=v9'],
    ],
  ])('are refused for %s', (_, argv) => {
    expect(authorizationProblems(flags(...argv))).toHaveLength(1);
  });

  it('keep the order of the modes', () => {
    const { modes } = authorizationFromFlags(flags('--authorization-mode=Node,RBAC'));
    expect(modes).toEqual(['Node', 'RBAC']);
  });
});

describe('the flags of TLS', () => {
  it('take versions and suites by the names that Go has for them', () => {
    const suites =
      'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,TLS_RSA_WITH_AES_256_CBC_SHA';
    const options = flags('--tls-min-version=VersionTLS13', `--tls-cipher-suites=${suites}`);
    expect(tlsProblems(options)).toEqual([]);
    const tls13 = 'TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256';
    expect(tlsProtocol(options)).toEqual({
      minVersion: 'TLSv1.3',
      ciphers: `${tls13}:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-CHACHA20-POLY1305:AES256-SHA`,
    });
  });

  it("take Node's suites by default, in the order that Go has for those of TLS 1.3", () => {
    const { minVersion, ciphers } = tlsProtocol(flags());
    expect(minVersion).toBe('TLSv1.2');
    expect(new Set(ciphers.split(':'))).toEqual(new Set(DEFAULT_CIPHERS.split(':')));
    expect(ciphers).toMatch(/^TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:ECDHE/);
  });

  it('refuse what is unknown, and say what is possible', () => {
    const problems = tlsProblems(flags('--tls-min-version=VersionTLS9', '--tls-cipher-suites=TLS_NONE,AES128-SHA'));
    expect(problems).toEqual([
      expect.stringMatching(/^unknown tls version "VersionTLS9", possible are .*VersionTLS13/),
      "Cipher suite TLS_NONE not supported or doesn't exist",
      "Cipher suite AES128-SHA not supported or doesn't exist",
      expect.stringMatching(/^possible cipher suites are .*TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256/),
    ]);
    expect(tlsProblems(flags('--tls-sni-cert-key=a.crt'))).toHaveLength(1);
  });

  it('keep each certificate for names as it was given', () => {
    const { tlsSniCertKey } = flags('--tls-sni-cert-key', 'a,b:x,y', '--tls-sni-cert-key=c,d');
    expect(tlsSniCertKey).toEqual(['a,b:x,y', 'c,d']);
  });
});

describe('the list of controllers', () => {
  it('turns on and off by name, the first word counts', () => {
    expect(selectControllers(['*'])).toContain('clusterrole-aggregation');
    expect(selectControllers(['*', '-namespace'])).not.toContain('namespace');
    expect(selectControllers(['namespace'])).toEqual(['namespace']);
    expect(unknownControllers(['*', '-nodeipam', 'namespace'])).toEqual(['-nodeipam']);
  });
});
