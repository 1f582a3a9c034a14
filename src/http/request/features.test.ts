import { Agent, request as httpRequest } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { Registry } from 'prom-client';
import { permissiveServer } from '../../../test/support/permissive-server';
import { RegistryFixture } from '../../../test/support/registry-fixture';
import { configMap } from '../../api/kinds/core/config-map';
import type { KindDefinition } from '../../api/kinds/kind-definition';
import { loadBuiltinSchema } from '../../api/schema/builtin-schema';
import { RequestMetrics } from '../../observability/request-metrics';
import { ALL_FEATURES, type ServerFeatures } from './features';
import { createServer } from '../server';

const schema = loadBuiltinSchema();
/** Announced as deprecated, so that each answer carries a warning. */
const deprecated: KindDefinition = {
  ...configMap,
  versions: configMap.versions.map((version) => ({ ...version, deprecationWarning: 'old' })),
};

describe('what feature gates take away', () => {
  let fixture: RegistryFixture;
  const agent = new Agent();
  beforeAll(async () => {
    fixture = await RegistryFixture.open();
    const registry = fixture.registry(configMap);
    const data = { k: 'x'.repeat(100_000) };
    for (const name of ['a', 'b', 'c']) {
      const object = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name }, data };
      await registry.create({ namespace: 'n' }, object, {}, { signal: new AbortController().signal, dryRun: false });
    }
  });
  afterAll(async () => {
    agent.destroy();
    await fixture.close();
  });

  async function list(features: Partial<ServerFeatures>, query: string) {
    const served = {
      definition: deprecated,
      version: deprecated.versions[0]!,
      registry: fixture.registry(configMap),
      type: schema.kind('', 'v1', 'ConfigMap')!,
      listKind: 'ConfigMapList',
      custom: false,
    };
    const server = createServer({
      catalogue: { schema, resolve: () => served, hasBuiltInGroup: () => true },
      ...permissiveServer,
      metrics: new RequestMetrics(new Registry()),
      features: { ...ALL_FEATURES, ...features },
    });
    const { port } = await server.listen();
    const path = `/api/v1/namespaces/n/configmaps${query}`;
    const { headers, bytes } = await new Promise<{ headers: NodeJS.Dict<unknown>; bytes: Buffer }>(
      (resolve, reject) => {
        const request = httpRequest({ port, path, agent, headers: { 'accept-encoding': 'gzip' } }, (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('end', () => resolve({ headers: response.headers, bytes: Buffer.concat(chunks) }));
        });
        request.on('error', reject);
        request.end();
      },
    );
    await server.close(0);
    const text = headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes;
    const { items, metadata } = JSON.parse(text.toString()) as {
      readonly items: readonly unknown[];
      readonly metadata: { readonly continue?: string; readonly remainingItemCount?: number };
    };
    return {
      compressed: headers['content-encoding'] === 'gzip',
      warned: headers['warning'] !== undefined,
      count: items.length,
      continues: metadata.continue !== undefined,
      remaining: metadata.remainingItemCount,
    };
  }

  it.each<[string, Partial<ServerFeatures>, string, object]>([
    ['nothing', {}, '', { compressed: true, warned: true, count: 3 }],
    ['nothing of a page', {}, '?limit=1', { count: 1, continues: true, remaining: 2 }],
    ['compression', { compression: false }, '', { compressed: false, count: 3 }],
    ['pages', { listChunking: false }, '?limit=1', { count: 3, continues: false }],
    ['the count of what remains', { remainingItemCount: false }, '?limit=1', { continues: true, remaining: undefined }],
    ['warnings', { warnings: false }, '', { warned: false }],
  ])('is %s', async (_, features, query, expected) => {
    expect(await list(features, query)).toMatchObject(expected);
  });
});
