import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { silentLogger } from '../observability/logger';
import { createAuthority, issueKeyPair, type Authority } from '../pki/authority';
import { ApiClient } from './api-client';
import { KubeconfigCredentials } from './kubeconfig-credentials';

let folder: string;
let server: Server;
let client: ApiClient;
const authority = createAuthority('first', new Date());

const put = (name: string, text: string): void => writeFileSync(join(folder, name), text);

function putCertificate(commonName: string): void {
  const subject = { commonName, organizations: [] };
  const pair = issueKeyPair(authority, { subject, altNames: [], usages: ['client auth'] }, new Date());
  put('user.crt', pair.certificatePem);
  put('user.key', pair.privateKeyPem);
}

function servingContext(by: Authority): { readonly cert: string; readonly key: string } {
  const subject = { commonName: 'server', organizations: [] };
  const pair = issueKeyPair(by, { subject, altNames: ['127.0.0.1'], usages: ['server auth'] }, new Date());
  return { cert: pair.certificatePem, key: pair.privateKeyPem };
}

/** Whom the server sees. */
const whoAmI = (): Promise<unknown> => client.get('/');

/** Enough for the next look at the files. */
function later(): void {
  jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 10_000);
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sternpost-kubeconfig-'));
  server = createServer(
    { ...servingContext(authority), ca: authority.certificatePem, requestCert: true, rejectUnauthorized: false },
    (request, response) => {
      const { CN } = (request.socket as TLSSocket).getPeerCertificate().subject ?? {};
      response.end(JSON.stringify({ certificate: CN, token: request.headers.authorization }));
    },
  );
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  put('ca.crt', authority.certificatePem);
  put('token', 'one');
  putCertificate('alice');
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const user = { 'client-certificate': 'user.crt', 'client-key': 'user.key', tokenFile: 'token' };
  put(
    'kubeconfig',
    JSON.stringify({
      clusters: [{ name: 'c', cluster: { server: url, 'certificate-authority': 'ca.crt' } }],
      users: [{ name: 'u', user }],
    }),
  );
  const credentials = new KubeconfigCredentials(join(folder, 'kubeconfig'), silentLogger);
  client = new ApiClient({ url, ...credentials.target.tls, credentials, userAgent: 'test' });
});
afterEach(async () => {
  jest.restoreAllMocks();
  client.close();
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
  rmSync(folder, { recursive: true, force: true });
});

it('shows a certificate and a token that have been renewed', async () => {
  expect(await whoAmI()).toEqual({ certificate: 'alice', token: 'Bearer one' });
  putCertificate('bob');
  put('token', 'two');
  later();
  expect(await whoAmI()).toEqual({ certificate: 'bob', token: 'Bearer two' });
});

it('verifies the server by the authority that has come in the place of another', async () => {
  await whoAmI();
  const second = createAuthority('second', new Date());
  server.setSecureContext({ ...servingContext(second), ca: authority.certificatePem });
  server.closeAllConnections();
  await expect(whoAmI()).rejects.toThrow();
  put('ca.crt', second.certificatePem);
  later();
  expect(await whoAmI()).toMatchObject({ certificate: 'alice' });
});

it('goes on with what it has while a file is away', async () => {
  await whoAmI();
  rmSync(join(folder, 'user.crt'));
  later();
  expect(await whoAmI()).toMatchObject({ certificate: 'alice' });
});
