import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ExecCredentials } from './exec-credential';
import { readKubeconfig, type ExecConfig } from './kubeconfig-file';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sternpost-kubeconfig-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

describe('a kubeconfig', () => {
  it.each([
    ['is garbled', 'a: [b: "', /the kubeconfig cannot be read .*"sternpost kubeconfig"/],
    ['holds something else', 'hello', /this is no kubeconfig.*"sternpost kubeconfig"/],
    ['is empty', '', /this is no kubeconfig/],
  ])('that %s is named, with what to do', (_, text, message) => {
    const file = write('config', text);
    expect(() => readKubeconfig(file)).toThrow(message);
    expect(() => readKubeconfig(file)).toThrow(file);
  });

  it.each([
    ['clusters', 'certificate-authority'],
    ['users', 'client-certificate'],
    ['users', 'client-key'],
    ['users', 'tokenFile'],
  ])('of whose %s a %s is missing says which', (list, key) => {
    const named = (mine: string): object => (mine === list ? { [key]: 'none.pem' } : {});
    const config = {
      clusters: [{ name: 'c', cluster: { server: 'https://a', ...named('clusters') } }],
      users: [{ name: 'u', user: named('users') }],
    };
    expect(() => readKubeconfig(write('config', JSON.stringify(config)))).toThrow(
      `${key} of a kubeconfig cannot be read (ENOENT`,
    );
  });

  it('leads to its current context, with the files it names relative to itself', () => {
    write('ca.pem', 'CA');
    write('token', 'secret\n');
    const file = write(
      'config',
      `
current-context: two
contexts:
  - {name: one, context: {cluster: a, user: a}}
  - {name: two, context: {cluster: b, user: b}}
clusters:
  - {name: a, cluster: {server: "https://a"}}
  - {name: b, cluster: {server: "https://b", certificate-authority: ca.pem, tls-server-name: name}}
users:
  - {name: a, user: {token: t}}
  - {name: b, user: {tokenFile: token, client-certificate-data: ${Buffer.from('CERT').toString('base64')}}}
`,
    );
    expect(readKubeconfig(file)).toEqual({
      url: 'https://b',
      tls: { certificateAuthority: 'CA', serverName: 'name', clientCertificate: 'CERT' },
      bearerToken: 'secret',
    });
  });

  it('without a server is refused', () => {
    expect(() => readKubeconfig(write('config', 'clusters: []'))).toThrow('no server in the current context');
  });
});

describe('a credential plugin', () => {
  const plugin = (script: string): ExecConfig => {
    chmodSync(write('plugin.sh', `#!/bin/sh\n${script}\n`), 0o755);
    return {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: './plugin.sh',
      args: [],
      env: { WHO: 'me' },
      provideClusterInfo: true,
      installHint: 'get it from a friend',
      directory: folder,
    };
  };
  const printing = (fields: string, version = 'v1') =>
    `echo '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/${version}",${fields}}'`;
  const cluster = { server: 'https://a' };

  it('is asked once, with what it needs to know, until it is told that its answer is no good', async () => {
    const script = `echo x >> ${join(folder, 'calls')}
calls=$(wc -l < ${join(folder, 'calls')} | tr -d ' ')
case "$KUBERNETES_EXEC_INFO" in *https://a*) ;; *) exit 1 ;; esac
echo "{\\"kind\\":\\"ExecCredential\\",\\"apiVersion\\":\\"client.authentication.k8s.io/v1\\",\\"status\\":{\\"token\\":\\"$WHO-$calls\\"}}"`;
    const credentials = new ExecCredentials(plugin(script), cluster);
    await expect(credentials.current()).resolves.toEqual({ token: 'me-1' });
    await expect(credentials.current()).resolves.toEqual({ token: 'me-1' });
    credentials.forget();
    await expect(credentials.current()).resolves.toEqual({ token: 'me-2' });
  });

  it('is asked again when its credentials have expired', async () => {
    const script = printing('"status":{"token":"t","expirationTimestamp":"2020-01-01T00:00:00Z"}');
    const credentials = new ExecCredentials(plugin(`echo x >> ${join(folder, 'calls')}\n${script}`), cluster);
    await credentials.current();
    await credentials.current();
    await expect(credentials.current()).resolves.toEqual({ token: 't' });
  });

  it.each([
    ['prints nothing', 'true', 'printed no ExecCredential'],
    ['fails', 'exit 3', 'failed: 3'],
    ['answers in another version', printing('"status":{"token":"t"}', 'v1beta1'), 'plugin returned version'],
    ['gives no credentials', printing('"status":{}'), "didn't return a token or cert/key pair"],
    ['gives half a pair', printing('"status":{"token":"t","clientKeyData":"k"}'), 'not both'],
    ['has no status', printing('"spec":{}'), "didn't return a status"],
  ])('that %s is refused', async (_, script, message) => {
    await expect(new ExecCredentials(plugin(script), cluster).current()).rejects.toThrow(message);
  });

  it('that is not there is explained', async () => {
    const missing = { ...plugin('true'), command: './missing.sh' };
    await expect(new ExecCredentials(missing, cluster).current()).rejects.toThrow(
      'exec: executable ./missing.sh not found\n\nget it from a friend',
    );
  });

  it.each(['command', 'apiVersion'])('without %s is refused', (field) => {
    const exec = { command: './plugin.sh', apiVersion: 'client.authentication.k8s.io/v1', [field]: '' };
    const config = {
      'current-context': 'c',
      clusters: [{ name: 'c', cluster: { server: 'https://a' } }],
      users: [{ name: 'u', user: { exec } }],
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    };
    expect(() => readKubeconfig(write('config', JSON.stringify(config)))).toThrow(`${field} must be specified`);
  });
});
