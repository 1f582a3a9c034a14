import { spawn, type ChildProcess } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startApiServer, type ApiServer } from '../../src';
import { openEtcdStore } from '../../src/storage/etcd/etcd-store';
import { EtcdServer } from '../support/etcd-server';
import { freePorts } from '../support/free-ports';
import { RawClient } from '../support/raw-client';
import { until } from '../support/until';

/** A kube-apiserver 1.20. */
const BINARY = process.env['STERNPOST_KUBE_APISERVER'];
/** A key management service (v1beta1) for both: the connection that kube-apiserver 1.20 makes is refused by Node's HTTP/2, so it is none of ours. */
const KMS_SOCKET = process.env['STERNPOST_KMS_SOCKET'];
const TOKEN = 'administrator-of-this-test';
const NAMESPACE = '/api/v1/namespaces/default';
const VALUE = 'a value that nobody else may see';

/** Each kind of provider has a resource, and an object of it is told apart by one annotation. */
const PROVIDERS = {
  aescbc: 'configmaps',
  aesgcm: 'limitranges',
  secretbox: 'serviceaccounts',
  kms: 'podtemplates',
  identity: 'secrets',
} as const;

type Provider = keyof typeof PROVIDERS;
const providers = (Object.keys(PROVIDERS) as Provider[]).filter((one) => one !== 'kms' || KMS_SOCKET !== undefined);

type Send = (method: string, path: string, body?: string, contentType?: string) => Promise<Response>;

interface Response {
  readonly status: number;
  readonly body: { readonly metadata: { readonly annotations?: unknown; readonly labels?: unknown } };
}

const folder = mkdtempSync(join(tmpdir(), 'sternpost-interchange-'));
let etcd: EtcdServer;
let server: ApiServer | undefined;
let client: RawClient | undefined;
let theirs: ChildProcess;
let agent: Agent;
let sendToThem: Send;

function configuration(): string {
  const file = join(folder, 'encryption.json');
  const keys = [{ name: 'one', secret: randomBytes(32).toString('base64') }];
  const ofProvider = (provider: Provider): object => {
    if (provider === 'identity') return { identity: {} };
    if (provider !== 'kms') return { [provider]: { keys } };
    return { kms: { name: 'vault', endpoint: `unix://${KMS_SOCKET}`, cachesize: 10, timeout: '3s' } };
  };
  const resources = providers.map((provider) => ({
    resources: [PROVIDERS[provider]],
    providers: [ofProvider(provider)],
  }));
  const kind = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'EncryptionConfiguration' };
  writeFileSync(file, JSON.stringify({ ...kind, resources }));
  return file;
}

async function startTheirs(binary: string, encryption: string): Promise<void> {
  const [port = 0] = await freePorts(1);
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const key = join(folder, 'service-accounts.key');
  writeFileSync(key, privateKey.export({ type: 'pkcs1', format: 'pem' }));
  writeFileSync(join(folder, 'tokens.csv'), `${TOKEN},admin,admin,system:masters\n`);
  const flags = [
    `--etcd-servers=${etcd.endpoint}`,
    `--encryption-provider-config=${encryption}`,
    `--secure-port=${port}`,
    '--bind-address=127.0.0.1',
    `--cert-dir=${folder}`,
    `--token-auth-file=${join(folder, 'tokens.csv')}`,
    '--authorization-mode=RBAC',
    '--disable-admission-plugins=ServiceAccount',
    '--service-cluster-ip-range=10.0.0.0/24',
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${key}`,
    `--service-account-signing-key-file=${key}`,
  ];
  theirs = spawn(binary, flags, { stdio: 'ignore' });
  agent = new Agent({ keepAlive: true, rejectUnauthorized: false });
  sendToThem = (method, path, body, contentType = 'application/json') =>
    new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': contentType };
      const options = { host: '127.0.0.1', port, path, method, agent, headers };
      const sent = httpsRequest(options, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (piece: string) => (text += piece));
        response.on('end', () => {
          const isJson = response.headers['content-type']?.startsWith('application/json') ?? false;
          const body = (isJson ? JSON.parse(text) : { metadata: {} }) as Response['body'];
          resolve({ status: response.statusCode ?? 0, body });
        });
      });
      sent.on('error', reject).end(body);
    });
  await until(
    () => sendToThem('GET', '/readyz'),
    ({ status }) => status === 200,
    90,
  );
}

async function storedUnder(key: string): Promise<string> {
  const store = await openEtcdStore({ endpoints: [etcd.endpoint] });
  try {
    return (await store.get(key))?.value.toString('latin1') ?? '';
  } finally {
    await store.close();
  }
}

function objectOf(provider: Provider, name: string): string {
  const spec = provider === 'kms' ? { template: { spec: { containers: [{ name: 'c', image: 'i' }] } } } : undefined;
  const limits = provider === 'aesgcm' ? { spec: { limits: [{ type: 'Pod', max: { cpu: '1' } }] } } : {};
  return JSON.stringify({ metadata: { name, annotations: { value: VALUE } }, ...limits, ...spec });
}

(BINARY === undefined ? describe.skip : describe)('values that kube-apiserver and this server encrypt', () => {
  beforeAll(async () => {
    etcd = await EtcdServer.start();
    const encryption = configuration();
    await startTheirs(BINARY ?? '', encryption);
    server = await startApiServer({
      controllers: [],
      flags: { 'etcd-servers': etcd.endpoint, 'encryption-provider-config': encryption },
    });
    client = new RawClient(server);
  }, 120_000);

  afterAll(async () => {
    client?.close();
    await server?.stop();
    agent.destroy();
    const ended = once(theirs, 'exit');
    theirs.kill('SIGKILL');
    await ended;
    await etcd.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it.each(providers)('are read and changed by each other: %s', async (provider) => {
    const sendToUs: Send = (...sent) => client!.send(...sent);
    for (const [writer, reader, name] of [
      [sendToThem, sendToUs, 'theirs'],
      [sendToUs, sendToThem, 'ours'],
    ] as const) {
      const path = `${NAMESPACE}/${PROVIDERS[provider]}`;
      expect((await writer('POST', path, objectOf(provider, name))).status).toBe(201);
      const stored = await storedUnder(`/registry/${PROVIDERS[provider]}/default/${name}`);
      if (provider === 'identity') expect(stored).toContain(VALUE);
      else {
        expect(stored.startsWith(`k8s:enc:${provider}:v1:`)).toBe(true);
        expect(stored).not.toContain(VALUE);
      }
      const read = await reader('GET', `${path}/${name}`);
      expect(read).toMatchObject({ status: 200, body: { metadata: { annotations: { value: VALUE } } } });
      const label = JSON.stringify({ metadata: { labels: { changed: 'there' } } });
      expect((await reader('PATCH', `${path}/${name}`, label, 'application/merge-patch+json')).status).toBe(200);
      const { body } = await writer('GET', `${path}/${name}`);
      expect(body.metadata).toMatchObject({ labels: { changed: 'there' }, annotations: { value: VALUE } });
    }
  });
});
