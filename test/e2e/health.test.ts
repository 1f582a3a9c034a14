import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServer, type RunningApiServer } from '../../src/apiserver/api-server';
import { ownAuthentication } from '../../src/flags/authentication-flags';
import { loadCertificates, NO_CERTIFICATE_FILES, type ServingCertificates } from '../../src/apiserver/certificates';
import { DEFAULT_DATA_DIRECTORY_OPTIONS, openDataDirectory } from '../../src/flags/open-store';
import { DEFAULT_SERVICE_RANGES } from '../../src/flags/service-range-flags';
import { START_PHASES, type StartPhase } from '../../src/apiserver/start-phases';
import { TlsMaterial } from '../../src/apiserver/tls-material';
import { ApiClient } from '../../src/client/api-client';
import { silentLogger } from '../../src/observability/logger';
import { loadOrCreateSigningKey } from '../../src/pki/signing-keys';
import { FaultyStore } from '../support/faulty-store';

/** A whole server on a store that refuses some keys: what of its start is unfinished is named by its health checks. */

/** What comes after everything that the start writes. */
const LATER: readonly StartPhase[] = [
  'poststarthook/start-cluster-authentication-info-controller',
  'poststarthook/start-kube-aggregator-informers',
  'autoregister-completion',
  'poststarthook/apiservice-openapi-controller',
];
const API_SERVICES: readonly StartPhase[] = [
  'poststarthook/apiservice-registration-controller',
  'poststarthook/apiservice-status-available-controller',
  'poststarthook/kube-apiserver-autoregistration',
];

let folder: string;
let store: FaultyStore;
let server: RunningApiServer;
let certificates: ServingCertificates;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sternpost-health-'));
  store = new FaultyStore((await openDataDirectory(folder, DEFAULT_DATA_DIRECTORY_OPTIONS, silentLogger)).store);
});

afterEach(async () => {
  await server.stop();
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

async function start(shutdownDelayMs = 0): Promise<void> {
  const load = () => loadCertificates(join(folder, 'pki'), NO_CERTIFICATE_FILES, [], new Date());
  certificates = load();
  server = await startServer({
    store,
    keyRoot: '/registry/',
    certificates,
    tls: new TlsMaterial(certificates, { load, files: [], protocol: {}, logger: silentLogger }),
    http2: undefined,
    bindAddress: '127.0.0.1',
    securePort: 0,
    advertiseAddress: '127.0.0.1',
    serviceRanges: DEFAULT_SERVICE_RANGES,
    authentication: ownAuthentication(await loadOrCreateSigningKey(join(folder, 'pki', 'sa.key'))),
    authorization: { modes: ['RBAC'], policyFile: '' },
    requestTimeoutMs: 60_000,
    minRequestTimeoutSeconds: 1800,
    shutdownDelayMs,
    livezGraceMs: 0,
    logger: silentLogger,
    logRequests: false,
    checkLog: () => undefined,
  });
}

/** Asked by system:masters, whom nobody has to give a role. */
function probe(path: string): Promise<string> {
  const { admin } = certificates;
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port: server.port, path, rejectUnauthorized: false, agent: false } as const;
    const credentials = { cert: admin?.certificatePem, key: admin?.privateKeyPem };
    request({ ...options, ...credentials }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () => resolve(text));
    })
      .on('error', reject)
      .end();
  });
}

async function failing(): Promise<readonly string[]> {
  const lines = (await probe('/healthz?verbose')).split('\n');
  return lines.flatMap((line) => /^\[-\](\S+)/.exec(line)?.[1] ?? []);
}

async function untilFailing(wanted: readonly string[]): Promise<void> {
  const end = Date.now() + 10_000;
  while (String(await failing()) !== String(wanted) && Date.now() < end)
    await new Promise((done) => setTimeout(done, 20));
  expect(await failing()).toEqual(wanted);
}

const ADMISSION: StartPhase = 'poststarthook/start-kube-apiserver-admission-initializer';
const SYSTEM: StartPhase = 'poststarthook/bootstrap-controller';
const ROLES: StartPhase = 'poststarthook/rbac/bootstrap-roles';
const PRIORITIES: StartPhase = 'poststarthook/scheduling/bootstrap-system-priority-classes';
const FLOWS: StartPhase = 'poststarthook/priority-and-fairness-config-producer';

it.each<[string, string, readonly StartPhase[]]>([
  ['the namespaces', '/registry/namespaces/', [ADMISSION, SYSTEM, ROLES, PRIORITIES, FLOWS]],
  ['the kubernetes Service', '/registry/services/specs/', [SYSTEM]],
  ['a role', '/registry/clusterroles/system:node', [ROLES]],
  ['a priority class', '/registry/priorityclasses/', [PRIORITIES]],
  ['a flow schema', '/registry/flowschemas/', [FLOWS]],
  ['an APIService', '/registry/apiregistration.k8s.io/apiservices/v1.apps', API_SERVICES],
  ['the authentication of extension servers', '/registry/configmaps/kube-system/', []],
])(
  'a start that cannot write %s says which of its phases are unfinished, until it can',
  async (_, prefix, unfinished) => {
    store.refuses = (key) => key.startsWith(prefix);
    await start();
    await untilFailing(START_PHASES.filter((phase) => [...unfinished, ...LATER].includes(phase)));
    store.refuses = () => false;
    await server.ready;
    await untilFailing([]);
    await expect(probe('/readyz')).resolves.toBe('ok');
  },
  30_000,
);

it('a server that is about to end is alive for as long as it serves', async () => {
  store.refuses = () => false;
  await start(1_000);
  await server.ready;
  await untilFailing([]);
  let hasStopped = false;
  const stopped = server.stop().finally(() => (hasStopped = true));
  const responses = new Set<string>();
  while (!hasStopped) responses.add(await probe('/livez').catch(() => 'ok'));
  await stopped;
  expect([...responses]).toEqual(['ok']);
}, 30_000);

it('a start waits for the APIServices of the custom resources that are there', async () => {
  store.refuses = (key) => key.endsWith('/apiservices/v1.example.com');
  await start();
  await server.ready;
  const client = new ApiClient({
    url: `https://127.0.0.1:${server.port}`,
    certificateAuthority: certificates.servingAuthority!,
    clientCertificate: certificates.admin!.certificatePem,
    clientKey: certificates.admin!.privateKeyPem,
    userAgent: 'test',
  });
  await client.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Cluster',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  });
  client.close();
  await untilFailing([]);
  await server.stop();
  await start();
  await server.ready;
  await untilFailing(['autoregister-completion', 'poststarthook/apiservice-openapi-controller']);
  store.refuses = () => false;
  await untilFailing([]);
}, 60_000);
