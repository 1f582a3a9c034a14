import { spawn, type ChildProcess } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request as httpsRequest, type Server } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createPlainServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { createAuthority, issueKeyPair, type Authority, type KeyPair } from '../../src/pki/authority';
import { foreignJwt } from '../../src/pki/jwt.fixture';

/**
 * Who are you, and may you: the server as a process of its own, between real peers on loopback: an OpenID provider, a
 * token webhook, an authorization webhook, a proxy in front, and clients with certificates.
 */

const HOOK = resolve(__dirname, '../support/typescript-hook.js');
const MAIN = resolve(__dirname, '../../src/cli/main.ts');
const START_MS = 30_000;
const REQUEST_TIMEOUT_SECONDS = 5;

const now = new Date();
const ca = createAuthority('test-ca', now);
const clientCa = createAuthority('client-ca', now);
const frontCa = createAuthority('front-ca', now);
const nextCa = createAuthority('next-ca', now);

function clientCertificate(authority: Authority, commonName: string, organizations: readonly string[] = []): KeyPair {
  return issueKeyPair(
    authority,
    { subject: { commonName, organizations }, altNames: [], usages: ['client auth'] },
    now,
  );
}
function serving(): KeyPair {
  return issueKeyPair(
    ca,
    {
      subject: { commonName: 'peer', organizations: [] },
      altNames: ['127.0.0.1', 'localhost'],
      usages: ['server auth'],
    },
    now,
  );
}

interface Response {
  readonly status: number;
  readonly body: string;
}

/** A peer that answers reviews, and remembers what it was asked. */
class Peer {
  readonly asked: Record<string, unknown>[] = [];
  response: (review: Record<string, unknown>) => unknown = () => undefined;
  readonly #server: Server;

  constructor() {
    const { certificatePem: cert, privateKeyPem: key } = serving();
    this.#server = createServer({ cert, key }, (request, response) => void this.#handle(request, response));
  }

  async listen(): Promise<number> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening');
    return (this.#server.address() as AddressInfo).port;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const review = text === '' ? { path: request.url } : (JSON.parse(text) as Record<string, unknown>);
    this.asked.push(review);
    const answer = await this.response(review);
    if (answer === 'hang') return;
    if (answer === 'reset') {
      (request.socket as TLSSocket).destroy();
      return;
    }
    if (typeof answer === 'string') response.writeHead(200, { 'Content-Type': 'application/jwt' }).end(answer);
    else if (typeof answer === 'number') response.writeHead(answer).end('boom');
    else response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(answer));
  }
}

const tokens = new Peer();
const authorizations = new Peer();
const provider = new Peer();
const providerKey = generateKeyPairSync('rsa', { modulusLength: 2048 });
const otherKey = generateKeyPairSync('rsa', { modulusLength: 2048 });

/** What the provider gives at `/groups`: a token with the groups that others only point at. */
let distributed = 'nothing';

let folder: string;
let child: ChildProcess;
let port: number;
let issuer: string;
let log = '';

async function freePort(): Promise<number> {
  const server = createPlainServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port: free } = server.address() as AddressInfo;
  server.close();
  return free;
}

function kubeconfigFor(peerPort: number): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'c',
    clusters: [
      { name: 'c', cluster: { server: `https://127.0.0.1:${peerPort}/hook`, 'certificate-authority': 'ca.crt' } },
    ],
    users: [{ name: 'u', user: { token: 'hooksecret' } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
  });
}

interface Ask {
  readonly method?: string;
  readonly path: string;
  readonly token?: string;
  readonly certificate?: KeyPair;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: object;
}

function ask({ method = 'GET', path, token, certificate, headers = {}, body }: Ask): Promise<Response> {
  return new Promise((done, fail) => {
    const payload = body === undefined ? undefined : JSON.stringify(body);
    const request = httpsRequest(
      {
        host: '127.0.0.1',
        port,
        path,
        method,
        agent: false,
        rejectUnauthorized: false,
        ...(certificate === undefined ? {} : { cert: certificate.certificatePem, key: certificate.privateKeyPem }),
        headers: {
          ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
          ...(payload === undefined ? {} : { 'Content-Type': 'application/json' }),
          ...(headers as Record<string, string | string[]>),
        },
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        response.on('end', () => done({ status: response.statusCode ?? 0, body: text }));
      },
    );
    request.on('error', fail);
    request.end(payload);
  });
}

/** The name under which a request is known; undefined when it is refused. */
async function whoIs(part: Omit<Ask, 'path' | 'method' | 'body'>): Promise<string | undefined> {
  const body = { kind: 'SelfSubjectReview', apiVersion: 'authentication.k8s.io/v1' };
  const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
  const response = await ask({ ...part, method: 'POST', path, body });
  if (response.status === 401) return undefined;
  const parsed = JSON.parse(response.body) as { status: { userInfo: { username: string; groups: readonly string[] } } };
  return [parsed.status.userInfo.username, ...parsed.status.userInfo.groups].join(' ');
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sternpost-access-'));
  const put = (name: string, text: string): void => writeFileSync(join(folder, name), text);
  const [tokenPort, authorizationPort, providerPort] = [
    await tokens.listen(),
    await authorizations.listen(),
    await provider.listen(),
  ];
  issuer = `https://127.0.0.1:${providerPort}/realm`;
  const { certificatePem, privateKeyPem } = serving();
  put('ca.crt', ca.certificatePem);
  put('clients.crt', clientCa.certificatePem);
  put('front.crt', frontCa.certificatePem);
  put('serving.crt', certificatePem);
  put('serving.key', privateKeyPem);
  put('tokens.csv', 'admintoken,admin,,system:masters\nalicetoken,alice,,dev\n');
  put('tokens.kubeconfig', kubeconfigFor(tokenPort));
  put('authorization.kubeconfig', kubeconfigFor(authorizationPort));
  provider.response = ({ path }) => {
    if (String(path).endsWith('/openid-configuration')) return { issuer, jwks_uri: `${issuer}/keys` };
    if (String(path).endsWith('/groups')) return distributed;
    return { keys: [{ ...providerKey.publicKey.export({ format: 'jwk' }), kid: 'k', use: 'sig' }] };
  };
  authorizations.response = () => ({ status: { allowed: true } });
  port = await freePort();
  const flags = {
    'data-dir': 'data',
    'secure-port': String(port),
    'bind-address': '127.0.0.1',
    'advertise-address': '127.0.0.1',
    'tls-cert-file': 'serving.crt',
    'tls-private-key-file': 'serving.key',
    'client-ca-file': 'clients.crt',
    'token-auth-file': 'tokens.csv',
    'authorization-mode': 'Node,RBAC,Webhook',
    'authorization-webhook-config-file': 'authorization.kubeconfig',
    'authorization-webhook-cache-authorized-ttl': '0s',
    'authorization-webhook-cache-unauthorized-ttl': '0s',
    'authentication-token-webhook-config-file': 'tokens.kubeconfig',
    'authentication-token-webhook-cache-ttl': '0s',
    'requestheader-client-ca-file': 'front.crt',
    'requestheader-allowed-names': 'front-proxy',
    'requestheader-username-headers': 'X-Remote-User',
    'requestheader-group-headers': 'X-Remote-Group',
    'oidc-issuer-url': issuer,
    'oidc-client-id': 'me',
    'oidc-ca-file': 'ca.crt',
    'oidc-username-prefix': 'oidc:',
    'oidc-groups-claim': 'groups',
    'request-timeout': `${REQUEST_TIMEOUT_SECONDS}s`,
    v: '10',
  };
  const argv = Object.entries(flags).map(([name, value]) => `--${name}=${value}`);
  child = spawn(process.execPath, ['-r', HOOK, MAIN, 'apiserver', ...argv], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => (log += chunk.toString()));
  for (const end = Date.now() + START_MS; ;) {
    const ready = await ask({ path: '/readyz', token: 'admintoken' }).catch(() => undefined);
    if (ready?.status === 200) break;
    if (Date.now() > end || child.exitCode !== null) throw new Error(`the server did not start: ${log}`);
    await new Promise((done) => setTimeout(done, 50));
  }
}, START_MS + 10_000);

afterAll(async () => {
  child.kill('SIGKILL');
  await once(child, 'exit');
  for (const peer of [tokens, authorizations, provider]) peer.close();
  rmSync(folder, { recursive: true, force: true });
});

beforeEach(() => {
  tokens.response = () => ({ status: { authenticated: false } });
});

describe('client certificates', () => {
  it('are their subjects, and nothing of another CA is', async () => {
    await expect(whoIs({ certificate: clientCertificate(clientCa, 'jane', ['a', 'b']) })).resolves.toBe(
      'jane a b system:authenticated',
    );
    await expect(whoIs({ certificate: clientCertificate(nextCa, 'jane') })).resolves.toBeUndefined();
    await expect(whoIs({ certificate: clientCertificate(ca, 'jane') })).resolves.toBeUndefined();
  });

  it('may not be those of a server', async () => {
    const certificate = issueKeyPair(
      clientCa,
      { subject: { commonName: 'jane', organizations: [] }, altNames: [], usages: ['server auth'] },
      now,
    );
    await expect(whoIs({ certificate })).resolves.toBeUndefined();
  });

  it('count by the CA file as it is now, without a restart', async () => {
    const certificate = clientCertificate(nextCa, 'later');
    writeFileSync(join(folder, 'clients.crt'), clientCa.certificatePem + nextCa.certificatePem);
    for (let tries = 0; (await whoIs({ certificate })) === undefined && tries < 100; tries++) {
      await new Promise((done) => setTimeout(done, 100));
    }
    await expect(whoIs({ certificate })).resolves.toBe('later system:authenticated');
  }, 20_000);
});

describe('a proxy in front', () => {
  const headers = { 'X-Remote-User': 'jane', 'X-Remote-Group': ['a,b', 'c'] };

  it('speaks for users with its own certificate only', async () => {
    const certificate = clientCertificate(frontCa, 'front-proxy');
    await expect(whoIs({ certificate, headers })).resolves.toBe('jane a,b c system:authenticated');
    await expect(whoIs({ certificate: clientCertificate(frontCa, 'other'), headers })).resolves.toBeUndefined();
    await expect(whoIs({ certificate: clientCertificate(clientCa, 'front-proxy'), headers })).resolves.toBe(
      'front-proxy system:authenticated',
    );
    await expect(whoIs({ token: 'alicetoken', headers })).resolves.toBe('alice dev system:authenticated');
  });

  it('is published for extension servers', async () => {
    const path = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication';
    const { body } = await ask({ path, token: 'admintoken' });
    expect(JSON.parse(body)).toMatchObject({ data: { 'requestheader-allowed-names': '["front-proxy"]' } });
  });
});

describe('an OpenID provider', () => {
  const claims = () => ({ iss: issuer, aud: 'me', sub: 'u', exp: Math.floor(Date.now() / 1000) + 60 });

  it('vouches for its users, and for nobody by a key it does not publish', async () => {
    await expect(whoIs({ token: foreignJwt(claims(), providerKey.privateKey, 'k') })).resolves.toBe(
      'oidc:u system:authenticated',
    );
    await expect(whoIs({ token: foreignJwt(claims(), otherKey.privateKey, 'k') })).resolves.toBeUndefined();
    await expect(
      whoIs({ token: foreignJwt({ ...claims(), aud: 'x' }, providerKey.privateKey, 'k') }),
    ).resolves.toBeUndefined();
  });
});

describe('groups that an ID token only points at', () => {
  const seconds = () => Math.floor(Date.now() / 1000);
  const pointing = (sub: string) =>
    foreignJwt(
      {
        iss: issuer,
        aud: 'me',
        sub,
        exp: seconds() + 60,
        _claim_names: { groups: 'src' },
        _claim_sources: { src: { endpoint: `${issuer}/groups`, access_token: 'sourcesecret' } },
      },
      providerKey.privateKey,
      'k',
    );
  const response = (key = providerKey.privateKey) =>
    foreignJwt({ iss: issuer, aud: 'me', exp: seconds() + 60, groups: ['far'] }, key, 'k');

  it('are fetched, and nobody is let in whose groups cannot be proved', async () => {
    distributed = response();
    await expect(whoIs({ token: pointing('a') })).resolves.toBe('oidc:a far system:authenticated');
    distributed = response(otherKey.privateKey);
    await expect(whoIs({ token: pointing('b') })).resolves.toBeUndefined();
    distributed = '{"groups":["system:masters"]}';
    await expect(whoIs({ token: pointing('c') })).resolves.toBeUndefined();
  });
});

describe('a token webhook', () => {
  it('is asked after all others, and once while its answer is good', async () => {
    tokens.response = () => ({ status: { authenticated: true, user: { username: 'hook', groups: ['g'] } } });
    tokens.asked.length = 0;
    await expect(whoIs({ token: 'opaque' })).resolves.toBe('hook g system:authenticated');
    await expect(whoIs({ token: 'opaque' })).resolves.toBe('hook g system:authenticated');
    await whoIs({ token: 'alicetoken' });
    expect(tokens.asked).toHaveLength(1);
  });

  it.each<[string, unknown]>([
    ['is broken', 'reset'],
    ['forbids', 403],
    [
      'answers in another version',
      { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', status: { authenticated: true } },
    ],
    ['lies about its kind', { kind: 'Status', status: { authenticated: true } }],
    ['says yes in text', { status: { authenticated: 'true', user: { username: 'jane' } } }],
    [
      'gives groups of another type',
      { status: { authenticated: true, user: { username: 'j', groups: 'system:masters' } } },
    ],
    ['vouches for other audiences', { status: { authenticated: true, user: { username: 'j' }, audiences: ['x'] } }],
  ])('that %s lets nobody in, and no other user out', async (name, response) => {
    tokens.response = () => response;
    await expect(whoIs({ token: `opaque ${name}`.replaceAll(' ', '-') })).resolves.toBeUndefined();
    await expect(whoIs({ token: 'alicetoken' })).resolves.toBe('alice dev system:authenticated');
  });
});

describe('peers that are slow', () => {
  const path = '/api/v1/namespaces/default/configmaps';
  const late = (response: unknown) => new Promise((done) => setTimeout(() => done(response), 300));

  afterEach(() => {
    authorizations.response = () => ({ status: { allowed: true } });
  });

  it('are waited for', async () => {
    tokens.response = () => late({ status: { authenticated: true, user: { username: 'late' } } });
    await expect(whoIs({ token: 'slow-token' })).resolves.toBe('late system:authenticated');
    authorizations.response = () => late({ status: { allowed: false } });
    await expect(ask({ path, token: 'alicetoken' })).resolves.toMatchObject({ status: 403 });
  });

  it('and never answer let nobody in, and hold up nobody else', async () => {
    tokens.response = () => 'hang';
    authorizations.response = () => 'hang';
    const start = performance.now();
    const unknown = ask({ path, token: 'hanging-token' });
    const undecided = ask({ path, token: 'alicetoken' });
    await expect(ask({ path, token: 'admintoken' })).resolves.toMatchObject({ status: 200 });
    expect(performance.now() - start).toBeLessThan(REQUEST_TIMEOUT_SECONDS * 1000);
    await expect(unknown).resolves.toMatchObject({ status: 504 });
    await expect(undecided).resolves.toMatchObject({ status: 504 });
  }, 20_000);
});

describe('an authorization webhook after RBAC', () => {
  const path = '/api/v1/namespaces/default/configmaps';

  afterEach(() => {
    authorizations.response = () => ({ status: { allowed: true } });
  });

  it('decides what RBAC leaves open', async () => {
    await expect(ask({ path, token: 'alicetoken' })).resolves.toMatchObject({ status: 200 });
    authorizations.response = () => ({ status: { allowed: false, reason: 'closed' } });
    const refused = await ask({ path, token: 'alicetoken' });
    expect(refused.status).toBe(403);
    expect(refused.body).toContain('in the namespace \\"default\\": closed');
  });

  it.each<[string, unknown]>([
    ['cannot be asked', 'reset'],
    ['says yes and no', { status: { allowed: true, denied: true } }],
    ['says yes in text', { status: { allowed: 'true' } }],
    ['says no in text', { status: { allowed: 'false' } }],
    [
      'answers in another version',
      { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', status: { allowed: true } },
    ],
    ['answers something else', { kind: 'TokenReview', status: { allowed: true } }],
  ])('that %s is a failure in plain text, and not a permission', async (_, response) => {
    authorizations.response = () => response;
    const failed = await ask({ path, token: 'alicetoken' });
    expect(failed.status).toBe(500);
    expect(failed.body).toContain(`Internal Server Error: "${path}"`);
    await expect(ask({ path, token: 'admintoken' })).resolves.toMatchObject({ status: 200 });
  });
});

describe('a service account', () => {
  it('has tokens that end with it', async () => {
    const accounts = '/api/v1/namespaces/default/serviceaccounts';
    await ask({ method: 'POST', path: accounts, token: 'admintoken', body: { metadata: { name: 'robot' } } });
    const path = `${accounts}/robot/token`;
    // Of another lifetime each: a good token is believed for ten seconds.
    const tokenOf = async (expirationSeconds: number): Promise<string> => {
      const sent = { spec: { expirationSeconds } };
      const { body } = await ask({ method: 'POST', path, token: 'admintoken', body: sent });
      return (JSON.parse(body) as { status: { token: string } }).status.token;
    };
    const used = await tokenOf(3600);
    const unused = await tokenOf(3601);
    const groups = 'system:serviceaccounts system:serviceaccounts:default system:authenticated';
    await expect(whoIs({ token: used })).resolves.toBe(`system:serviceaccount:default:robot ${groups}`);
    await expect(whoIs({ token: `${used}x` })).resolves.toBeUndefined();
    await ask({ method: 'DELETE', path: `${accounts}/robot`, token: 'admintoken' });
    await expect(whoIs({ token: unused })).resolves.toBeUndefined();
  });

  it('has documents for others who verify its tokens', async () => {
    const { body } = await ask({ path: '/.well-known/openid-configuration', token: 'admintoken' });
    expect(JSON.parse(body)).toMatchObject({ issuer: 'https://kubernetes.default.svc', jwks_uri: expect.any(String) });
    const keys = await ask({ path: '/openid/v1/jwks', token: 'admintoken' });
    expect(JSON.parse(keys.body)).toMatchObject({ keys: [{ kty: 'RSA', alg: 'RS256', use: 'sig' }] });
    const headers = { Accept: 'application/json' };
    await expect(ask({ path: '/openid/v1/jwks', token: 'admintoken', headers })).resolves.toMatchObject({
      status: 406,
    });
  });
});

describe('the token of a pod', () => {
  const admin = { token: 'admintoken' };
  const pods = '/api/v1/namespaces/default/pods';
  const accounts = '/api/v1/namespaces/default/serviceaccounts';
  const createPod = async (): Promise<string> => {
    const spec = { serviceAccountName: 'runner', containers: [{ name: 'c', image: 'i' }] };
    const response = await ask({ ...admin, method: 'POST', path: pods, body: { metadata: { name: 'p' }, spec } });
    return (JSON.parse(response.body) as { metadata: { uid: string } }).metadata.uid;
  };
  interface Issued {
    readonly token: string;
    readonly claims: { readonly exp: number; readonly iat: number; readonly 'kubernetes.io': { warnafter?: number } };
  }
  const issue = async (uid: string, spec: object): Promise<Issued> => {
    const boundObjectRef = { kind: 'Pod', apiVersion: 'v1', name: 'p', uid };
    const body = { spec: { ...spec, boundObjectRef } };
    const answer = await ask({ ...admin, method: 'POST', path: `${accounts}/runner/token`, body });
    const { token } = (JSON.parse(answer.body) as { status: { token: string } }).status;
    const claims = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString();
    return { token, claims: JSON.parse(claims) as Issued['claims'] };
  };

  it('lives for a year where admission asked for it, and ends with the pod', async () => {
    await ask({ ...admin, method: 'POST', path: accounts, body: { metadata: { name: 'runner' } } });
    const uid = await createPod();
    const { token, claims } = await issue(uid, { expirationSeconds: 3607 });
    expect(claims.exp - claims.iat).toBe(365 * 24 * 3600);
    expect(claims['kubernetes.io'].warnafter).toBe(claims.iat + 3607);
    for (const spec of [{ expirationSeconds: 3606 }, { expirationSeconds: 3607, audiences: ['vault'] }]) {
      const other = await issue(uid, spec);
      expect(other.claims.exp - other.claims.iat).toBe(spec.expirationSeconds);
      expect(other.claims['kubernetes.io'].warnafter).toBeUndefined();
      if (spec.audiences !== undefined) await expect(whoIs({ token: other.token })).resolves.toBeUndefined();
    }
    await expect(whoIs({ token })).resolves.toContain('system:serviceaccount:default:runner');
    const metrics = await ask({ ...admin, path: '/metrics' });
    expect(metrics.body).toMatch(/^serviceaccount_valid_tokens_total 1$/m);
    const unused = await issue(uid, { expirationSeconds: 3608 });
    await ask({ ...admin, method: 'DELETE', path: `${pods}/p?gracePeriodSeconds=0` });
    await expect(whoIs({ token: unused.token })).resolves.toBeUndefined();
    expect(await createPod()).not.toBe(uid);
    await expect(whoIs({ token: unused.token })).resolves.toBeUndefined();
  });
});

describe('a local review', () => {
  it('answers no questions about other namespaces', async () => {
    const path = '/apis/authorization.k8s.io/v1/namespaces/default/localsubjectaccessreviews';
    const review = (namespace: string) => ({
      metadata: { namespace },
      spec: { user: 'alice', resourceAttributes: { verb: 'get', resource: 'pods', namespace } },
    });
    const asked = (namespace: string) => ask({ method: 'POST', path, token: 'admintoken', body: review(namespace) });
    await expect(asked('default')).resolves.toMatchObject({ status: 201 });
    const refused = await asked('kube-system');
    expect(refused.status).toBe(400);
    expect(refused.body).toContain('spec.resourceAttributes.namespace must match namespace: default');
  });
});

describe('secrets', () => {
  it('are in no log, metric or error, however they came', async () => {
    const admin = { token: 'admintoken' };
    const secrets = '/api/v1/namespaces/default/secrets';
    const responses: Response[] = [];
    const send = async (part: Ask): Promise<void> => void responses.push(await ask(part));
    const data = { password: Buffer.from('datasecret').toString('base64') };
    await ask({
      ...admin,
      method: 'POST',
      path: secrets,
      body: { metadata: { name: 's' }, stringData: { a: 'stringsecret' }, data },
    });
    await send({ ...admin, method: 'POST', path: secrets, body: { metadata: { name: 'BAD' }, data } });
    await send({
      ...admin,
      method: 'POST',
      path: secrets,
      body: { metadata: { name: 's' }, stringData: { a: 'stringsecret' } },
    });
    await send({
      ...admin,
      method: 'POST',
      path: secrets,
      body: { metadata: { name: 't' }, type: 'kubernetes.io/tls', data },
    });
    await send({ path: secrets, token: 'badsecret' });
    await send({ path: `${secrets}?token=querytoken`, token: 'alicetoken' });
    await send({ path: '/api', headers: { Authorization: 'Basic YmFzaWNzZWNyZXQ=' } });
    const review = { spec: { token: 'reviewedsecret' } };
    await ask({ ...admin, method: 'POST', path: '/apis/authentication.k8s.io/v1/tokenreviews', body: review });
    authorizations.response = () => 'reset';
    await send({ path: secrets, token: 'alicetoken' });
    authorizations.response = () => ({ status: { allowed: true } });
    const { body: metrics } = await ask({ ...admin, path: '/metrics' });
    const auditFile = join(folder, 'audit.log');
    const audit = existsSync(auditFile) ? readFileSync(auditFile, 'utf8') : '';
    const errors = responses.filter(({ status }) => status >= 400);
    const texts = { log, metrics, audit, errors: errors.map(({ body }) => body).join('\n') };
    const words = [
      ...['admintoken', 'alicetoken', 'opaque', 'hooksecret', 'sourcesecret', 'badsecret', 'reviewedsecret'],
      ...['datasecret', 'stringsecret', data.password, 'YmFzaWNzZWNyZXQ', 'PRIVATE KEY', 'eyJhbGciOi'],
    ];
    for (const [where, text] of Object.entries(texts)) {
      for (const word of words) expect({ where, has: text.includes(word) ? word : '' }).toEqual({ where, has: '' });
    }
    expect(responses.map(({ status }) => status)).toEqual([422, 409, 422, 401, 200, 200, 500]);
  });
});
