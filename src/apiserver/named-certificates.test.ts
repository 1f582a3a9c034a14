import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, createServer, type TLSSocket } from 'node:tls';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { silentLogger } from '../observability/logger';
import { createAuthority, issueKeyPair, type KeyPair } from '../pki/authority';
import { certificatePaths, loadCertificates, NO_CERTIFICATE_FILES } from './certificates';
import { certificatesByName, namedCertificateProblems, parseNamedCertificate } from './named-certificates';
import { TlsMaterial } from './tls-material';

const now = new Date();
const authority = createAuthority('test-ca', now);
const pairFor = (commonName: string, ...altNames: readonly string[]): KeyPair =>
  issueKeyPair(authority, { subject: { commonName, organizations: [] }, altNames, usages: ['server auth'] }, now);

describe('--tls-sni-cert-key', () => {
  it.each([
    ['a.crt,a.key', { certFile: 'a.crt', keyFile: 'a.key', patterns: [] }],
    ['a.crt,a.key:*.Foo.com,foo.com', { certFile: 'a.crt', keyFile: 'a.key', patterns: ['*.foo.com', 'foo.com'] }],
    ['a.crt,a.key:::1', { certFile: 'a.crt', keyFile: 'a.key', patterns: ['::1'] }],
  ])('reads %s', (text, parsed) => {
    expect(parseNamedCertificate(text)).toEqual(parsed);
    expect(namedCertificateProblems(text)).toEqual([]);
  });

  it.each(['a.crt', 'a.crt,', 'a,b,c', ':foo.com', 'a.crt,a.key:foo.*', 'a.crt,a.key:foo bar'])(
    'refuses %j',
    (text) => {
      expect(namedCertificateProblems(text)).toHaveLength(1);
    },
  );
});

describe('the certificate for a name', () => {
  const { certificatePem } = pairFor('x', 'own.example', '*.own.example', '192.0.2.1');
  const choose = certificatesByName([
    { patterns: ['*.foo.com', 'foo.com'], certificatePem, value: 'foo' },
    { patterns: [], certificatePem, value: 'own' },
    { patterns: ['special.foo.com', '*.own.example'], certificatePem, value: 'special' },
    { patterns: ['foo.com'], certificatePem, value: 'late' },
  ]);

  it.each([
    ['foo.com', 'foo'],
    ['a.foo.com', 'foo'],
    ['FOO.com.', 'foo'],
    ['special.foo.com', 'special'],
    ['own.example', 'own'],
    ['a.own.example', 'special'],
    ['192.0.2.1', 'own'],
    ['a.b.foo.com', undefined],
    ['bar.com', undefined],
    ['', undefined],
  ])('%s is %s', (name, value) => {
    expect(choose(name)).toBe(value);
  });

  it('is by the common name where there is no other', () => {
    const named = certificatesByName([
      { patterns: [], certificatePem: pairFor('cn.example').certificatePem, value: 1 },
    ]);
    expect([named('cn.example'), named('other.example')]).toEqual([1, undefined]);
  });
});

describe('a listener with several certificates', () => {
  let folder: string;
  const put = (name: string, { certificatePem, privateKeyPem }: KeyPair): void => {
    writeFileSync(join(folder, `${name}.crt`), certificatePem);
    writeFileSync(join(folder, `${name}.key`), privateKeyPem);
  };
  const path = (name: string): string => join(folder, name);
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sternpost-sni-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  async function shown(port: number, servername: string): Promise<string> {
    const socket: TLSSocket = connect({ port, host: '127.0.0.1', servername, ca: authority.certificatePem });
    socket.on('error', () => undefined);
    // The name of a refused certificate does not matter here.
    await Promise.race([once(socket, 'secureConnect'), once(socket, 'error').then(() => undefined)]);
    const name = socket.getPeerCertificate().subject?.CN ?? 'none';
    socket.destroy();
    return String(name);
  }

  it('shows the one that is asked for, and a renewed one without a restart', async () => {
    put('main', pairFor('main', 'main.example'));
    put('other', pairFor('other', 'other.example'));
    const files = {
      ...NO_CERTIFICATE_FILES,
      tlsCertFile: path('main.crt'),
      tlsPrivateKeyFile: path('main.key'),
      tlsSniCertKey: [`${path('other.crt')},${path('other.key')}`],
    };
    const load = () => loadCertificates(folder, files, [], now);
    const material = new TlsMaterial(load(), {
      load,
      files: certificatePaths(files),
      protocol: {},
      logger: silentLogger,
    });
    const server = createServer(material.tls);
    server.on('tlsClientError', () => undefined);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    try {
      expect(await shown(port, 'main.example')).toBe('main');
      expect(await shown(port, 'other.example')).toBe('other');
      put('other', pairFor('renewed', 'other.example'));
      utimesSync(path('other.crt'), now, new Date(now.getTime() + 5000));
      for (let tries = 0; (await shown(port, 'other.example')) === 'other' && tries < 100; tries++) {
        await new Promise((done) => setTimeout(done, 100));
      }
      expect(await shown(port, 'other.example')).toBe('renewed');
      expect(await shown(port, 'main.example')).toBe('main');
    } finally {
      material.close();
      server.close();
    }
  }, 20_000);

  it('does not start with a key that is not that of the certificate', () => {
    put('main', pairFor('main', 'main.example'));
    put('other', { ...pairFor('other', 'other.example'), privateKeyPem: pairFor('x').privateKeyPem });
    const files = {
      ...NO_CERTIFICATE_FILES,
      tlsCertFile: path('main.crt'),
      tlsPrivateKeyFile: path('main.key'),
      tlsSniCertKey: [`${path('other.crt')},${path('other.key')}`],
    };
    const load = () => loadCertificates(folder, files, [], now);
    expect(() => new TlsMaterial(load(), { load, files: [], protocol: {}, logger: silentLogger })).toThrow();
  });
});
