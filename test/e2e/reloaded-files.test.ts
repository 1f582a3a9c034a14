import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startApiServer, type ApiServer } from '../../src';
import { ApiClient } from '../../src/client/api-client';

/** Tokens and keys that are replaced while the server runs. */

let folder: string;
let server: ApiServer;
const clients: ApiClient[] = [];

function newKey(): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

function clientWith(bearerToken: string): ApiClient {
  const client = new ApiClient({
    url: server.url,
    certificateAuthority: server.certificateAuthority,
    bearerToken,
    userAgent: 'test',
  });
  clients.push(client);
  return client;
}

async function nameOf(token: string): Promise<string> {
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  const response = await clientWith(token)
    .create<{ readonly status: { readonly userInfo: { readonly username: string } } }>(
      '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      review,
    )
    .catch((error: Error) => ({ status: { userInfo: { username: error.message } } }));
  return response.status.userInfo.username;
}

async function until(token: string, name: string): Promise<void> {
  for (let left = 100; left > 0; left--) {
    if ((await nameOf(token)) === name) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  expect(await nameOf(token)).toBe(name);
}

const tokenFile = (): string => join(folder, 'tokens.csv');
const keyFile = (): string => join(folder, 'sa.key');

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sternpost-reloaded-'));
  writeFileSync(tokenFile(), 'first,alice,1,"system:masters"\n');
  writeFileSync(keyFile(), newKey());
  server = await startApiServer({
    flags: {
      'token-auth-file': tokenFile(),
      'service-account-signing-key-file': keyFile(),
      'service-account-key-file': [keyFile(), join(folder, 'sa.key')],
      'service-account-issuer': ['https://kubernetes.default.svc'],
      'authorization-mode': ['AlwaysAllow'],
    },
  });
});
afterAll(async () => {
  for (const client of clients) client.close();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function newToken(): Promise<string> {
  const path = '/api/v1/namespaces/default/serviceaccounts/default/token';
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 600 } };
  const response = await clientWith(server.token).create<{ readonly status: { readonly token: string } }>(path, body);
  return response.status.token;
}

it('a token file that changes counts without a restart: new tokens are known, and old ones refused', async () => {
  await until('first', 'alice');
  writeFileSync(tokenFile(), 'second,bob,2\n');
  await until('second', 'bob');
  expect(await nameOf('first')).toBe('Unauthorized');
});

it('keys of service account tokens that change count without a restart', async () => {
  const before = await newToken();
  await until(before, 'system:serviceaccount:default:default');
  writeFileSync(keyFile(), newKey());
  for (let left = 100; left > 0 && headerOf(await newToken()) === headerOf(before); left--) {
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const after = await newToken();
  expect(headerOf(after)).not.toBe(headerOf(before));
  await until(after, 'system:serviceaccount:default:default');
});

function headerOf(token: string): string {
  return token.split('.')[0] ?? '';
}
