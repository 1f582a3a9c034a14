import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startApiServer } from '../../src';
import { doctorCommand } from '../../src/cli/doctor/doctor-command';
import { certificateFindings } from '../../src/cli/doctor/certificate-findings';
import { createAuthority, issueKeyPair } from '../../src/pki/authority';
import { describeWithEtcd, EtcdServer } from '../support/etcd-server';

describe('sternpost doctor', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sternpost-doctor-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
    jest.restoreAllMocks();
  });

  async function examine(...flags: readonly string[]): Promise<{ readonly code: number; readonly text: string }> {
    let text = '';
    jest.spyOn(process.stdout, 'write').mockImplementation((piece) => {
      text += String(piece);
      return true;
    });
    const before = process.exitCode;
    process.exitCode = undefined;
    try {
      await doctorCommand(['--data-dir', folder, '--bind-address=127.0.0.1', '--secure-port=0', ...flags]);
      return { code: Number(process.exitCode ?? 0), text };
    } finally {
      process.exitCode = before;
      jest.restoreAllMocks();
    }
  }

  it('finds nothing wrong where a server can start, and makes nothing', async () => {
    const { code, text } = await examine('--authorization-mode=RBAC');
    expect(text).toMatch(/^ok {4}flags: they fit together$/m);
    expect(text).toMatch(/^ok {4}data file .*: there is none yet; the server will make it$/m);
    expect(text).toMatch(/^0 failed, /m);
    expect(code).toBe(0);
  });

  it('looks at what a running server has, without disturbing it', async () => {
    await using server = await startApiServer({ dataDir: folder, controllers: [] });
    const { port } = new URL(server.url);
    const { code, text } = await examine('--authorization-mode=RBAC', `--secure-port=${port}`);
    expect(text).toMatch(/^ok {4}certificate .*ca\.crt: it is good until /m);
    expect(text).toMatch(/^ok {4}data file .* MiB, of /m);
    expect(text).toMatch(new RegExp(`^warn {2}port ${port}: somebody listens there$`, 'm'));
    expect(code).toBe(0);
  });

  it('says what is wrong with flags, files and the data file, and what to do', async () => {
    const certificate = join(folder, 'tls.crt');
    const key = join(folder, 'tls.key');
    const authority = createAuthority('some', new Date());
    const spec = {
      subject: { commonName: 'some', organizations: [] },
      altNames: ['localhost'],
      usages: ['server auth'],
    } as const;
    writeFileSync(certificate, issueKeyPair(authority, spec, new Date()).certificatePem);
    writeFileSync(key, issueKeyPair(authority, spec, new Date()).privateKeyPem, { mode: 0o600 });
    writeFileSync(join(folder, 'registry.mdb'), 'x'.repeat(100_000));
    const { code, text } = await examine(
      '--authorization-mode=Some',
      `--tls-cert-file=${certificate}`,
      `--tls-private-key-file=${key}`,
      `--client-ca-file=${join(folder, 'absent.crt')}`,
    );
    expect(text).toMatch(/^fail {2}flags: .*Some/m);
    expect(text).toMatch(/^fail {2}key .*tls\.key: it is not that of .*tls\.crt\n {6}-> /m);
    expect(text).toMatch(/^fail {2}certificate .*absent\.crt: ENOENT/m);
    expect(text).toMatch(/^fail {2}data file .*: it is damaged: .*\n {6}-> Restore a copy/m);
    expect(text).toMatch(/^4 failed, /m);
    expect(code).toBe(1);
  });

  it('reads files of configuration and keys as the server would', async () => {
    const put = (name: string, content: string): string => {
      writeFileSync(join(folder, name), content);
      return join(folder, name);
    };
    const encryption = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'EncryptionConfiguration' };
    const key = { name: 'short', secret: Buffer.from('short').toString('base64') };
    const resources = [{ resources: ['secrets'], providers: [{ aescbc: { keys: [key] } }] }];
    const tokens = put('tokens.csv', 'some,alice,1\n');
    const { code, text } = await examine(
      '--authorization-mode=RBAC,ABAC',
      `--encryption-provider-config=${put('encryption.yaml', JSON.stringify({ ...encryption, resources }))}`,
      `--audit-policy-file=${put('audit.yaml', 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Loud}]\n')}`,
      '--audit-log-path=-',
      `--authorization-policy-file=${join(folder, 'absent.jsonl')}`,
      `--token-auth-file=${tokens}`,
    );
    expect(text).toMatch(/^fail {2}--encryption-provider-config .*encryption\.yaml: /m);
    expect(text).toMatch(/^fail {2}--audit-policy-file .*audit\.yaml: .*Loud/m);
    expect(text).toMatch(/^fail {2}--authorization-policy-file .*absent\.jsonl: ENOENT/m);
    expect(text).toContain(`ok    --token-auth-file ${tokens}: it can be read`);
    expect(code).toBe(1);
  });

  it('tells of each file once, by its own name', async () => {
    const missing = join(folder, 'no.crt');
    const authority = createAuthority('some', new Date());
    const [ca, key] = [join(folder, 'pki', 'ca.crt'), join(folder, 'tls.key')];
    mkdirSync(join(folder, 'pki'));
    writeFileSync(ca, authority.certificatePem);
    writeFileSync(key, authority.privateKeyPem, { mode: 0o600 });
    const flags = [`--tls-cert-file=${missing}`, `--tls-private-key-file=${key}`, `--client-ca-file=${ca}`];
    const { code, text } = await examine('--authorization-mode=RBAC', ...flags);
    expect(text.split(`certificate ${ca}`)).toHaveLength(2);
    expect(text).toContain(`fail  certificate ${missing}: ENOENT`);
    expect(text).not.toContain(`key ${key}`);
    expect(code).toBe(1);
  });

  it('tells how long certificates are still good', () => {
    const file = join(folder, 'ca.crt');
    writeFileSync(file, createAuthority('some', new Date()).certificatePem);
    const none = {
      tlsCertFile: '',
      tlsPrivateKeyFile: '',
      requestheaderClientCaFile: '',
      etcdCafile: '',
      etcdCertfile: '',
    };
    const flags = { ...none, etcdKeyfile: '', kubeletClientCertificate: '', kubeletClientKey: '' };
    const at = (days: number): string | undefined =>
      certificateFindings(
        { ...flags, dataDir: join(folder, 'none'), certDir: '', clientCaFile: file },
        Date.now() + days * 24 * 3_600_000,
      )[0]?.level;
    const good = 3_649;
    expect([at(0), at(good - 20), at(good - 3), at(good + 5), at(-2)]).toEqual(['ok', 'warn', 'fail', 'fail', 'fail']);
  });
});

describeWithEtcd('sternpost doctor with etcd', () => {
  it('asks each server, and compares the clock', async () => {
    await using etcd = await EtcdServer.start();
    let text = '';
    jest.spyOn(process.stdout, 'write').mockImplementation((piece) => {
      text += String(piece);
      return true;
    });
    const before = process.exitCode;
    const away = createServer((_request, response) => {
      response.setHeader('Date', new Date(Date.now() - 600_000).toUTCString());
      response.end();
    });
    await new Promise<void>((resolve) => away.listen(0, '127.0.0.1', resolve));
    const wrong = `http://127.0.0.1:${(away.address() as AddressInfo).port}`;
    try {
      await doctorCommand([`--etcd-servers=${etcd.endpoint},${wrong}`, '--secure-port=0', '--authorization-mode=RBAC']);
      expect(process.exitCode).toBe(1);
    } finally {
      process.exitCode = before;
      jest.restoreAllMocks();
      away.close();
    }
    expect(text).toContain(`etcd ${etcd.endpoint}: it answers, after `);
    expect(text).toMatch(/: \d+ MiB are in use/);
    expect(text).toContain(`clock: as that of ${etcd.endpoint}`);
    expect(text).toMatch(new RegExp(`^fail {2}etcd ${wrong}: .*\n {6}-> See whether it runs`, 'm'));
    expect(text).toMatch(new RegExp(`^fail {2}clock: it differs by (599|600|601) s from that of ${wrong}`, 'm'));
  }, 30_000);
});
