import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readBackendCredentials } from './backend-credentials';

const folder = mkdtempSync(join(tmpdir(), 'credentials-'));
afterAll(() => rmSync(folder, { recursive: true }));

function credentialsOf(config: object): ReturnType<typeof readBackendCredentials> {
  const file = join(folder, 'kubeconfig');
  writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'Config', ...config }));
  return readBackendCredentials(file);
}

const user = (name: string, token = name): object => ({ name, user: { token } });

describe('the credentials for a backend', () => {
  const users = ['hook.ns.svc', '*.ns.svc:8443', '*.example.com', 'exact.example.com:444', '*'].map((name) =>
    user(name),
  );

  it.each([
    ['hook.ns.svc:443', 'hook.ns.svc'],
    ['hook.ns.svc:8443', '*.ns.svc:8443'],
    ['a.b.example.com:443', '*.example.com'],
    ['exact.example.com:444', 'exact.example.com:444'],
    ['other.example.com:444', '*'],
    ['elsewhere.org:443', '*'],
  ])('%s are those of %s', (host, name) => {
    expect(credentialsOf({ users })(host).authorization).toBe(`Bearer ${name}`);
  });

  it('are those of the current context where no user has its name', () => {
    const contexts = [{ name: 'c', context: { user: 'me' } }];
    const find = credentialsOf({ users: [user('me')], contexts, 'current-context': 'c' });
    expect(find('elsewhere.org:443').authorization).toBe('Bearer me');
  });

  it('are none where nobody is meant', () => {
    expect(credentialsOf({ users: [user('me')] })('elsewhere.org:443')).toEqual({ tls: {}, authorization: undefined });
  });

  it('are read from the files of client certificates', () => {
    writeFileSync(join(folder, 'cert.pem'), 'CERT');
    const tls = { 'client-certificate': 'cert.pem', 'client-key-data': Buffer.from('KEY').toString('base64') };
    const find = credentialsOf({ users: [{ name: '*', user: tls }] });
    expect(find('a:443').tls).toEqual({ clientCertificate: 'CERT', clientKey: 'KEY' });
  });

  it('may not come from commands', () => {
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'x' };
    expect(() => credentialsOf({ users: [{ name: '*', user: { exec } }] })).toThrow('are not supported');
  });
});
