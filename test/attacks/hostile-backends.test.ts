import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { authority, tls } from '../support/serving-keys';
import { AttackedServer, type Books } from './support/attacked-server';

/**
 * Backends that answer as much as they may, or what makes the most work, and objects that make rules look for long: the server lives,
 * holds nothing for them, and serves others meanwhile.
 */

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const WEBHOOKS = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations';
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const MANY = 90_000;

type Json = Readonly<Record<string, unknown>>;

const named = (count: number): Json =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`n${index}`, 'v']));
const listed = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `g${index}`);
const review = (status: Json): string =>
  JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', status });
const user = (rest: Json): string => review({ authenticated: true, user: { username: 'greedy', ...rest } });

/** By the token that is asked about. */
const TOKENS: Readonly<Record<string, () => string>> = {
  groups: () => user({ groups: listed(100_000) }),
  extra: () => user({ extra: Object.fromEntries(listed(50_000).map((name) => [name, ['v']])) }),
  name: () => user({ username: 'n'.repeat(8_000_000) }),
  nested: () => '['.repeat(4_000_000),
  endless: () => ' '.repeat(20_000_000),
};

const patched = (operations: readonly Json[]): Json => ({
  patchType: 'JSONPatch',
  patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
});

/** By the path of the webhook. */
const REVIEWS: Readonly<Record<string, (uid: string) => string>> = {
  '/annotations': (uid) => admitted(uid, { auditAnnotations: named(MANY) }),
  '/copies': (uid) =>
    admitted(uid, patched(listed(9_000).map((name) => ({ op: 'copy', from: '/data', path: `/data/${name}` })))),
  '/nested': (uid) => `{"response":{"uid":"${uid}","allowed":true,"patch":${'['.repeat(2_000_000)}`,
  '/refusal': (uid) =>
    admitted(uid, { allowed: false, status: { message: 'no '.repeat(1_000_000), details: { causes: [] } } }),
};

function admitted(uid: string, rest: Json): string {
  const response = { uid, allowed: true, ...rest };
  return JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response });
}

let folder: string;
let backend: Server;
let server: AttackedServer;
let before: Books;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sternpost-hostile-'));
  backend = createServer({ key: tls.key, cert: tls.cert }, (request, response) => {
    void text(request).then((body) => {
      const asked = JSON.parse(body) as {
        readonly request?: { readonly uid: string };
        readonly spec?: { readonly token: string };
      };
      const token = TOKENS[asked.spec?.token ?? ''];
      const answer =
        token?.() ?? REVIEWS[new URL(request.url ?? '', 'https://backend').pathname]?.(asked.request?.uid ?? '');
      // Its descriptor is counted.
      response.shouldKeepAlive = false;
      response.setHeader('Content-Type', 'application/json').end(answer ?? review({ authenticated: false }));
    });
  });
  await new Promise<void>((resolve) => backend.listen(0, '127.0.0.1', resolve));
  const peer = join(folder, 'peer.yaml');
  const cluster = { server: url('/tokens'), 'certificate-authority-data': caBundle() };
  const kubeconfig = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster }],
    users: [{ name: 'u', user: {} }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  };
  writeFileSync(peer, JSON.stringify(kubeconfig));
  server = await AttackedServer.start([
    `--authentication-token-webhook-config-file=${peer}`,
    '--authentication-token-webhook-version=v1',
  ]);
}, 60_000);
afterAll(async () => {
  await server.stop();
  backend.closeAllConnections();
  backend.close();
  rmSync(folder, { recursive: true });
});

beforeEach(async () => {
  before = await server.books();
});
afterEach(async () => {
  await server.recover(expect.getState().currentTestName ?? '', before);
});

function url(path: string): string {
  return `https://localhost:${(backend.address() as AddressInfo).port}${path}`;
}

function caBundle(): string {
  return Buffer.from(authority.certificatePem).toString('base64');
}

/** How often somebody else has been answered before the work was done. */
async function servedMeanwhile(work: Promise<unknown>): Promise<number> {
  let isOver = false;
  const done = work.finally(() => (isOver = true));
  let served = 0;
  for (; !isOver; served++) expect((await server.honest.send('GET', '/readyz')).status).toBe(200);
  await done;
  return served;
}

it.each(Object.keys(TOKENS))('a token webhook that says too much of a user is not believed: %s', async (token) => {
  const { status } = await server.honest.send('GET', CONFIG_MAPS, { headers: { authorization: `Bearer ${token}` } });
  expect(status).toBe(401);
});

it.each([
  ['/annotations', 201],
  // Such operations make no ConfigMap.
  ['/copies', 500],
  // Ignored, as what is no answer at all.
  ['/nested', 201],
  ['/refusal', 400],
] as const)('an admission webhook answers as much as it can: %s', async (path, wanted) => {
  const rules = [{ apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE'] }];
  const webhook = {
    name: 'hostile.example.com',
    admissionReviewVersions: ['v1'],
    sideEffects: 'None',
    failurePolicy: 'Ignore',
    clientConfig: { url: url(path), caBundle: caBundle() },
    rules,
  };
  const configuration = { metadata: { name: 'hostile' }, webhooks: [webhook] };
  expect((await server.ask('POST', WEBHOOKS, { body: configuration })).status).toBe(201);
  const body = { metadata: { name: 'asked' }, data: { key: 'v'.repeat(100) } };
  const { status } = await server.ask('POST', `${CONFIG_MAPS}?dryRun=All`, { body });
  await server.ask('DELETE', `${WEBHOOKS}/hostile`);
  expect(status).toBe(wanted);
});

it('others are served while a pattern is looked for in a long text', async () => {
  const pattern = '^([ab]*a[ab]{101}){9}$';
  const rule = { rule: `self.matches('${pattern}')` };
  const texts = {
    plain: { type: 'string', pattern },
    ruled: { type: 'string', maxLength: 100_000, 'x-kubernetes-validations': [rule] },
  };
  const spec = { type: 'object', properties: texts };
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } };
  const names = { plural: 'texts', singular: 'text', kind: 'Text', listKind: 'TextList' };
  const versions = [{ name: 'v1', served: true, storage: true, schema }];
  const body = { metadata: { name: 'texts.e.io' }, spec: { group: 'e.io', scope: 'Namespaced', names, versions } };
  expect((await server.ask('POST', DEFINITIONS, { body })).status).toBe(201);
  const path = '/apis/e.io/v1/namespaces/default/texts';
  while ((await server.ask('GET', path)).status !== 200);
  const long = 'ab'.repeat(30_000);
  for (const field of ['plain', 'ruled']) {
    const object = { apiVersion: 'e.io/v1', kind: 'Text', metadata: { name: field }, spec: { [field]: long } };
    const creating = server.ask('POST', path, { body: object });
    expect(await servedMeanwhile(creating)).toBeGreaterThanOrEqual(5);
    expect((await creating).status).toBe(201);
  }
});
