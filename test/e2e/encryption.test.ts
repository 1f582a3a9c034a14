import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { startApiServer, type ApiServer } from '../../src';
import { openEtcdStore } from '../../src/storage/etcd/etcd-store';
import { buildServer } from '../replicas/support/built-server';
import { EtcdServer } from '../support/etcd-server';
import { KmsPlugin } from '../support/kms-plugin';
import { RawClient } from '../support/raw-client';
import { until } from '../support/until';

const run = promisify(execFile);
const SECRETS = '/api/v1/namespaces/default/secrets';
const TOKEN = 'very-secret-value';
const STRING_DATA = { stringData: { password: TOKEN } };
const ENCODED = Buffer.from(TOKEN).toString('base64');

let folder: string;
let etcd: EtcdServer;
const servers: { readonly server: ApiServer; readonly client: RawClient }[] = [];

beforeAll(async () => {
  etcd = await EtcdServer.start();
});
afterAll(() => etcd.stop());
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sternpost-encryption-'));
});
afterEach(async () => {
  await Promise.all(
    servers.splice(0).map(async ({ server, client }) => {
      client.close();
      await server.stop();
    }),
  );
  rmSync(folder, { recursive: true, force: true });
});

const key = (name: string): object => ({ name, secret: randomBytes(32).toString('base64') });

/** Writes the configuration; the first provider is for writing. */
function configure(providers: readonly object[], resources: readonly string[] = ['secrets']): string {
  const file = join(folder, 'encryption.json');
  const kind = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'EncryptionConfiguration' };
  writeFileSync(file, JSON.stringify({ ...kind, resources: [{ resources, providers }] }));
  return file;
}

async function start(prefix: string, flags: object): Promise<RawClient> {
  const server = await startApiServer({
    controllers: [],
    flags: { 'etcd-servers': etcd.endpoint, 'etcd-prefix': prefix, ...flags },
  });
  const client = new RawClient(server);
  servers.push({ server, client });
  return client;
}

async function stop(): Promise<void> {
  for (const { server, client } of servers.splice(0)) {
    client.close();
    await server.stop();
  }
}

async function storedUnder(storeKey: string): Promise<string> {
  const store = await openEtcdStore({ endpoints: [etcd.endpoint] });
  try {
    return (await store.get(storeKey))?.value.toString('latin1') ?? '';
  } finally {
    await store.close();
  }
}

const create = (client: RawClient, name: string) =>
  client.send('POST', SECRETS, JSON.stringify({ metadata: { name }, ...STRING_DATA }));
const dataOf = async (client: RawClient, name: string) => (await client.send('GET', `${SECRETS}/${name}`)).body['data'];

describe('encryption at rest', () => {
  it('keeps values encrypted in the store, and gives clients what they wrote', async () => {
    const types = { secrets: 'secretbox', configmaps: 'aescbc', '*.apps': 'aesgcm' };
    const file = join(folder, 'encryption.json');
    const resources = Object.entries(types).map(([resource, type]) => ({
      resources: [resource],
      providers: [{ [type]: { keys: [key('one')] } }, { identity: {} }],
    }));
    const kind = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'EncryptionConfiguration' };
    writeFileSync(file, JSON.stringify({ ...kind, resources }));
    const client = await start('/kept', { 'encryption-provider-config': file });
    expect((await create(client, 's')).status).toBe(201);
    const body = JSON.stringify({ metadata: { name: 'c' }, data: { password: ENCODED } });
    await client.send('POST', '/api/v1/namespaces/default/configmaps', body);
    await client.send(
      'POST',
      '/apis/apps/v1/namespaces/default/controllerrevisions',
      JSON.stringify({ metadata: { name: 'r' }, data: {}, revision: 1 }),
    );
    await client.send(
      'POST',
      '/api/v1/namespaces/default/limitranges',
      JSON.stringify({ metadata: { name: 'l' }, spec: { limits: [] } }),
    );
    expect(await dataOf(client, 's')).toEqual({ password: ENCODED });
    for (const [path, type] of [
      ['secrets/default/s', 'secretbox'],
      ['configmaps/default/c', 'aescbc'],
      ['controllerrevisions/default/r', 'aesgcm'],
    ] as const) {
      const stored = await storedUnder(`/kept/${path}`);
      expect(stored.startsWith(`k8s:enc:${type}:v1:one:`)).toBe(true);
      expect(stored).not.toContain(ENCODED);
    }
    expect(await storedUnder('/kept/limitranges/default/l')).toMatch(/^\{/);
  });

  it('leaves nothing in clear in the file of an embedded store', async () => {
    const file = configure([{ aesgcm: { keys: [key('one')] } }]);
    const data = join(folder, 'data');
    const server = await startApiServer({
      controllers: [],
      flags: { 'data-dir': data, 'encryption-provider-config': file },
    });
    const client = new RawClient(server);
    servers.push({ server, client });
    await create(client, 's');
    await stop();
    const bytes = readFileSync(join(data, 'registry.mdb')).toString('latin1');
    expect(bytes).toContain('k8s:enc:aesgcm:v1:one:');
    expect(bytes).not.toContain(ENCODED);
  });

  it('tells who cannot read what is there, and does not take it for gone', async () => {
    const first = await start('/lost', {
      'encryption-provider-config': configure([{ aesgcm: { keys: [key('one')] } }]),
    });
    await create(first, 's');
    await stop();
    const second = await start('/lost', {
      'encryption-provider-config': configure([{ aesgcm: { keys: [key('two')] } }, { identity: {} }]),
    });
    await create(second, 'readable');
    const problem =
      'unable to transform key "/lost/secrets/default/s": no matching key was found for the provided data';
    for (const [method, path] of [
      ['GET', `${SECRETS}/s`],
      ['GET', SECRETS],
      ['GET', '/api/v1/secrets?resourceVersion=0'],
      ['GET', `${SECRETS}/s?resourceVersion=0`],
    ] as const) {
      expect(await second.send(method, path)).toMatchObject({ status: 500, body: { code: 500, message: problem } });
    }
    expect((await second.send('GET', `${SECRETS}?watch=true&timeoutSeconds=1`)).body).toMatchObject({
      type: 'ERROR',
      object: { code: 500, message: problem },
    });
    const put = JSON.stringify({ metadata: { name: 's' }, ...STRING_DATA });
    expect((await second.send('PUT', `${SECRETS}/s`, put)).status).toBe(500);
    expect((await second.send('DELETE', `${SECRETS}/s`)).status).toBe(500);
    expect((await create(second, 's')).status).toBe(500);
    expect((await second.send('GET', `${SECRETS}/readable`)).status).toBe(200);
    expect((await second.send('GET', '/api/v1/namespaces/kube-system/secrets')).status).toBe(200);
    await stop();
    const without = await start('/lost', {});
    expect((await without.send('GET', `${SECRETS}/s`)).body.message).toBe(
      'unable to transform key "/lost/secrets/default/s": identity transformer tried to read encrypted data',
    );
  });

  it('writes unchanged objects again when the keys have changed, and takes new keys from the file', async () => {
    const [old, fresh] = [key('old'), key('fresh')];
    const file = configure([{ aesgcm: { keys: [old] } }]);
    const client = await start('/rotated', {
      'encryption-provider-config': file,
      'encryption-provider-config-automatic-reload': true,
    });
    await create(client, 's');
    const { body: before } = await client.send('GET', `${SECRETS}/s`);
    const unchanged = await client.send('PUT', `${SECRETS}/s`, JSON.stringify(before));
    expect(unchanged.body.metadata.resourceVersion).toBe(before.metadata.resourceVersion);
    configure([{ aesgcm: { keys: [fresh, old] } }]);
    await until(
      async () => {
        await client.send('PUT', `${SECRETS}/s`, JSON.stringify(before));
        return storedUnder('/rotated/secrets/default/s');
      },
      (stored) => stored.startsWith('k8s:enc:aesgcm:v1:fresh:'),
    );
    expect(await dataOf(client, 's')).toEqual({ password: ENCODED });
  }, 30_000);

  it('reads what it could not read once the file has the key', async () => {
    const [lost, other] = [key('lost'), key('other')];
    const first = await start('/found', { 'encryption-provider-config': configure([{ aescbc: { keys: [lost] } }]) });
    await create(first, 's');
    await stop();
    const client = await start('/found', {
      'encryption-provider-config': configure([{ aescbc: { keys: [other] } }]),
      'encryption-provider-config-automatic-reload': true,
    });
    expect((await client.send('GET', `${SECRETS}/s`)).status).toBe(500);
    configure([{ aescbc: { keys: [other, lost] } }]);
    await until(
      () => client.send('GET', `${SECRETS}/s`),
      ({ status }) => status === 200,
    );
  }, 30_000);

  it('is brought to everything that is stored by sternpost rewrite, custom resources included', async () => {
    const plain = await start('/rewritten', {});
    for (const name of ['a', 'b', 'c']) await create(plain, name);
    await stop();
    const file = configure([{ secretbox: { keys: [key('one')] } }, { identity: {} }]);
    const rewrite = async (): Promise<string> => {
      const flags = [
        '--encryption-provider-config',
        file,
        '--etcd-servers',
        etcd.endpoint,
        '--etcd-prefix',
        '/rewritten',
      ];
      const { stdout } = await run(process.execPath, [buildServer(), 'rewrite', ...flags]);
      return stdout;
    };
    expect(await rewrite()).toMatch(/ 3 were written again/);
    for (const name of ['a', 'b', 'c']) {
      expect(await storedUnder(`/rewritten/secrets/default/${name}`)).toMatch(/^k8s:enc:secretbox:v1:one:/);
    }
    expect(await rewrite()).toMatch(/ 0 were written again/);
    const client = await start('/rewritten', { 'encryption-provider-config': file });
    expect(await dataOf(client, 'b')).toEqual({ password: ENCODED });
  }, 60_000);

  it('stops the start for a configuration that is wrong, and tells all of it but no secret', async () => {
    const file = configure(
      [
        { aescbc: { keys: [{ name: 'k', secret: 'c2hvcnQ=' }] } },
        { identity: {}, aesgcm: {} },
        { kms: { endpoint: 'tcp://x' } },
      ],
      ['Secrets'],
    );
    const failure = await start('/wrong', { 'encryption-provider-config': file }).catch(
      (error: unknown) => error as Error,
    );
    const message = (failure as Error).message;
    expect(message).toContain('resource name should not contain capital letters');
    expect(message).toContain(
      'resources[0].providers[0].aescbc.keys[0].secret: Invalid value: "REDACTED": secret is not of the expected length, got 5, expected one of [16 24 32]',
    );
    expect(message).toContain('more than one provider specified in a single element');
    expect(message).toContain('unsupported scheme "tcp" for KMS provider, only unix is supported');
    expect(message).not.toContain('c2hvcnQ=');
  });
});

describe('encryption by a key management service', () => {
  let plugin: KmsPlugin;
  beforeEach(async () => {
    plugin = await KmsPlugin.start(join(folder, 'kms.sock'));
  });
  afterEach(() => plugin.stop());

  const kms = (apiVersion: string): object => ({
    kms: { apiVersion, name: 'vault', endpoint: `unix://${join(folder, 'kms.sock')}`, timeout: '500ms' },
  });

  it('has a key for each value with v1, which the service keeps', async () => {
    const file = configure([kms('v1'), { identity: {} }]);
    const client = await start('/kms1', { 'encryption-provider-config': file });
    expect((await create(client, 's')).status).toBe(201);
    expect(await storedUnder('/kms1/secrets/default/s')).toMatch(/^k8s:enc:kms:v1:vault:/);
    expect((await client.sendText('GET', '/readyz/kms-provider-0')).text).toBe('ok');
    await stop();
    const another = await start('/kms1', { 'encryption-provider-config': file });
    expect(await dataOf(another, 's')).toEqual({ password: ENCODED });
  }, 30_000);

  it('has one seed for many values with v2, until the service has another key', async () => {
    const file = configure([kms('v2'), { identity: {} }]);
    const client = await start('/kms2', { 'encryption-provider-config': file });
    for (const name of ['a', 'b', 'c']) expect((await create(client, name)).status).toBe(201);
    expect(plugin.asked.filter((call) => call === 'v2 Encrypt')).toHaveLength(1);
    expect(await storedUnder('/kms2/secrets/default/a')).toMatch(/^k8s:enc:kms:v2:vault:/);
    await stop();
    plugin.keyId = 'key-2';
    plugin.asked.splice(0);
    const another = await start('/kms2', { 'encryption-provider-config': file });
    for (const name of ['a', 'b', 'c']) expect(await dataOf(another, name)).toEqual({ password: ENCODED });
    expect(plugin.asked.filter((call) => call === 'v2 Decrypt')).toHaveLength(1);
    await create(another, 'd');
    expect(await storedUnder('/kms2/secrets/default/d')).toContain('key-2');
  }, 30_000);

  it('fails writes and readiness while the service is away, and reads go on', async () => {
    const client = await start('/kms3', { 'encryption-provider-config': configure([kms('v1')]) });
    await create(client, 's');
    plugin.hangs = true;
    const refused = await create(client, 't');
    expect(refused.status).toBe(500);
    expect(await dataOf(client, 's')).toEqual({ password: ENCODED });
    await until(
      () => client.sendText('GET', '/readyz'),
      ({ status, text }) => status === 500 && text.includes('[-]kms-provider-0 failed'),
    );
    plugin.hangs = false;
    await until(
      () => create(client, 't'),
      ({ status }) => status === 201,
    );
  }, 60_000);

  it('reads everything once the service is there, if it was away at the start', async () => {
    const file = configure([kms('v1')]);
    const client = await start('/kms4', { 'encryption-provider-config': file });
    await create(client, 's');
    await stop();
    plugin.hangs = true;
    const late = await start('/kms4', { 'encryption-provider-config': file });
    // However often the service is asked again meanwhile.
    const asked = plugin.asked.length;
    do {
      expect((await late.send('GET', `${SECRETS}/s`)).status).toBe(500);
      expect((await late.send('GET', SECRETS)).status).toBe(500);
      await sleep(20);
    } while (plugin.asked.length < asked + 1);
    plugin.hangs = false;
    await until(
      () => late.send('GET', `${SECRETS}/s`),
      ({ status }) => status === 200,
      40,
    );
  }, 120_000);
});
