import { request, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { permissiveServer } from '../../test/support/permissive-server';
import { RegistryFixture } from '../../test/support/registry-fixture';
import { decodeMessage } from '../api/codec/protobuf-decode';
import { openEnvelope } from '../api/codec/protobuf-envelope';
import { parseYaml } from '../api/codec/yaml';
import { configMap } from '../api/kinds/core/config-map';
import { horizontalPodAutoscaler } from '../api/kinds/autoscaling/horizontal-pod-autoscaler';
import type { KubeObject } from '../api/object';
import type { KindDefinition } from '../api/kinds/kind-definition';
import { loadBuiltinSchema } from '../api/schema/builtin-schema';
import type { Catalogue, ServedResource } from '../resources/served-resource';
import { ALL_FEATURES } from './request/features';
import { createServer, type ApiServer } from './server';

/** Whole servers on one real store: one that compresses and one that does not. */

const JSON_TYPE = 'application/json';
const PROTOBUF_TYPE = 'application/vnd.kubernetes.protobuf';
const CONFIG_MAPS = '/api/v1/namespaces/n/configmaps';
const OBJECTS = 400;

interface Response {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

let fixture: RegistryFixture;
let server: ApiServer;
let plainServer: ApiServer;
let port: number;
let plainPort: number;

function catalogueOf(definitions: readonly KindDefinition[]): Catalogue {
  const schema = loadBuiltinSchema();
  const served = new Map<string, ServedResource>();
  for (const definition of definitions) {
    const registry = fixture.registry(definition);
    for (const version of definition.versions) {
      const type = schema.kind(version.group, version.version, definition.kind)!;
      const listKind = `${definition.kind}List`;
      const name = `${version.group}/${version.version}/${definition.resource}`;
      served.set(name, { definition, version, registry, type, listKind, custom: false });
    }
  }
  return {
    schema,
    resolve: (group, version, resource) => served.get(`${group}/${version}/${resource}`),
    hasBuiltInGroup: () => true,
  };
}

function send(
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: object,
  to = port,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const sent = request({ port: to, host: '127.0.0.1', method, path, headers, agent: false }, (response) => {
      collect(response).then((all) => resolve({ headers: response.headers, body: all }), reject);
    });
    sent.on('error', reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

async function collect(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const get = (path: string, accept: string, encoding?: string, to = port): Promise<Response> =>
  send('GET', path, { accept, ...(encoding !== undefined && { 'accept-encoding': encoding }) }, undefined, to);

const configMapOf = (index: number, data: string): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: `map-${index}`, namespace: 'n', labels: { half: index % 2 === 0 ? 'even' : 'odd' } },
  data: { text: `${data} ${index} `.repeat(120) },
});
const autoscalerOf = (index: number): object => ({
  apiVersion: 'autoscaling/v2',
  kind: 'HorizontalPodAutoscaler',
  metadata: { name: `scaler-${index}`, namespace: 'n', annotations: { text: `annotation ${index} `.repeat(120) } },
  spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'cart' } },
});

async function createAll(path: string, objects: readonly object[]): Promise<void> {
  for (const object of objects) await send('POST', path, { 'content-type': JSON_TYPE }, object);
}

const startedMs = Date.now();

beforeAll(async () => {
  fixture = await RegistryFixture.open();
  const options: Omit<Parameters<typeof createServer>[0], 'features'> = {
    catalogue: catalogueOf([configMap, horizontalPodAutoscaler]),
    ...permissiveServer,
    // Ages in tables are the same in each answer.
    now: () => startedMs + 60_000,
  };
  server = createServer(options);
  plainServer = createServer({ ...options, features: { ...ALL_FEATURES, compression: false } });
  ({ port } = await server.listen());
  ({ port: plainPort } = await plainServer.listen());
  const numbers = Array.from({ length: OBJECTS }, (_, index) => index);
  await createAll(
    CONFIG_MAPS,
    numbers.map((index) => configMapOf(index, 'first')),
  );
  await createAll(
    '/apis/autoscaling/v2/namespaces/n/horizontalpodautoscalers',
    numbers.slice(0, 100).map((index) => autoscalerOf(index)),
  );
});
afterAll(async () => {
  await server.close(1000);
  await plainServer.close(1000);
  await fixture.close();
});

describe.each([
  ['JSON', JSON_TYPE],
  ['Protobuf', PROTOBUF_TYPE],
])('a large list in %s', (_format, accept) => {
  it.each([
    ['whole', CONFIG_MAPS],
    ['whole, again', CONFIG_MAPS],
    ['from memory', `${CONFIG_MAPS}?resourceVersion=0`],
    ['of all namespaces', '/api/v1/configmaps'],
    ['by a label', `${CONFIG_MAPS}?labelSelector=half%3Deven`],
    ['by another label', `${CONFIG_MAPS}?labelSelector=half%3Dodd`],
    ['a page', `${CONFIG_MAPS}?limit=150`],
    ['whole once more', CONFIG_MAPS],
    ['of converted objects', '/apis/autoscaling/v1/namespaces/n/horizontalpodautoscalers'],
  ])('is byte for byte the plain one, compressed: %s', async (_what, path) => {
    const plain = await get(path, accept);
    const zipped = await get(path, accept, 'gzip');
    expect(plain.headers['content-encoding']).toBeUndefined();
    expect(zipped.headers).toMatchObject({
      'content-encoding': 'gzip',
      vary: 'Accept-Encoding',
      'content-type': plain.headers['content-type'],
    });
    expect(zipped.body.length).toBeLessThan(plain.body.length / 4);
    expect(gunzipSync(zipped.body).equals(plain.body)).toBe(true);
  });

  it('shows a change at once', async () => {
    for (let round = 0; round < 5; round++) {
      const index = 50 + round * 60;
      const path = `${CONFIG_MAPS}/map-${index}`;
      await send('PUT', path, { 'content-type': JSON_TYPE }, configMapOf(index, `changed ${round}`));
      const body = gunzipSync((await get(CONFIG_MAPS, accept, 'gzip')).body);
      expect(body.includes(`changed ${round} ${index} `)).toBe(true);
      expect(body.equals((await get(CONFIG_MAPS, accept)).body)).toBe(true);
    }
  });

  it.each([
    ['a client that refuses gzip', 'gzip;q=0', () => port],
    ['a client that takes something else', 'br', () => port],
    ['any client of a server that does not compress', 'gzip', () => plainPort],
  ])('is plain for %s', async (_who, encoding, to) => {
    const { headers, body } = await get(CONFIG_MAPS, accept, encoding, to());
    expect(headers['content-encoding']).toBeUndefined();
    expect(body.equals((await get(CONFIG_MAPS, accept)).body)).toBe(true);
  });

  it('has no body for HEAD', async () => {
    const { body } = await send('HEAD', CONFIG_MAPS, { accept, 'accept-encoding': 'gzip' });
    expect(body).toHaveLength(0);
  });

  it('goes to many clients at once, also while others go away', async () => {
    const plain = await get(CONFIG_MAPS, accept);
    const leave = (): Promise<void> =>
      new Promise((resolve) => {
        const headers = { accept, 'accept-encoding': 'gzip' };
        const sent = request({ port, host: '127.0.0.1', path: CONFIG_MAPS, headers, agent: false });
        sent.on('error', () => undefined).on('close', resolve);
        sent.on('response', (response) => response.on('error', () => undefined).destroy());
        sent.end();
      });
    const leaving = Array.from({ length: 10 }, leave);
    const responses = await Promise.all(Array.from({ length: 10 }, () => get(CONFIG_MAPS, accept, 'gzip')));
    await Promise.all(leaving);
    for (const { body } of responses) expect(gunzipSync(body).equals(plain.body)).toBe(true);
  });
});

it('leaves a JSON list of less than 128 KiB as it is', async () => {
  const { headers } = await get(`${CONFIG_MAPS}?limit=20`, JSON_TYPE, 'gzip');
  expect(headers['content-encoding']).toBeUndefined();
  expect(headers['content-length']).toBeDefined();
});

describe('a list too long to be made as a whole', () => {
  const META = 'g=meta.k8s.io;v=v1';
  let list: { metadata: object; items: KubeObject[] };
  beforeAll(async () => {
    list = jsonOf(await get(CONFIG_MAPS, JSON_TYPE)) as typeof list;
    expect(list.items).toHaveLength(OBJECTS);
  });
  const jsonOf = ({ body }: Response): unknown => JSON.parse(body.toString());
  const protobufOf = ({ body }: Response, group: string, version: string, kind: string): unknown =>
    decodeMessage(loadBuiltinSchema().kind(group, version, kind)!, openEnvelope(body).raw);

  it.each<[string, string, string, (response: Response) => unknown, () => unknown]>([
    ['indented JSON', `${CONFIG_MAPS}?pretty=true`, JSON_TYPE, jsonOf, () => list],
    ['YAML', CONFIG_MAPS, 'application/yaml', ({ body }) => parseYaml(body.toString()), () => list],
    [
      'Protobuf',
      CONFIG_MAPS,
      PROTOBUF_TYPE,
      (answer) => protobufOf(answer, '', 'v1', 'ConfigMapList'),
      () => ({ metadata: list.metadata, items: list.items }),
    ],
    [
      'metadata as JSON',
      CONFIG_MAPS,
      `${JSON_TYPE};as=PartialObjectMetadataList;${META}`,
      jsonOf,
      () => ({
        kind: 'PartialObjectMetadataList',
        apiVersion: 'meta.k8s.io/v1',
        metadata: list.metadata,
        items: list.items.map(({ metadata }) => ({
          kind: 'PartialObjectMetadata',
          apiVersion: 'meta.k8s.io/v1',
          metadata,
        })),
      }),
    ],
    [
      'metadata as Protobuf',
      CONFIG_MAPS,
      `${PROTOBUF_TYPE};as=PartialObjectMetadataList;${META}`,
      (answer) => protobufOf(answer, 'meta.k8s.io', 'v1', 'PartialObjectMetadataList'),
      () => ({ metadata: list.metadata, items: list.items.map(({ metadata }) => ({ metadata })) }),
    ],
    [
      'a table',
      CONFIG_MAPS,
      `${JSON_TYPE};as=Table;${META}`,
      (answer) =>
        (jsonOf(answer) as { rows: { cells: unknown[]; object: object }[] }).rows.map(({ cells }) => cells[0]),
      () => list.items.map(({ metadata }) => metadata.name),
    ],
  ])('says the same as %s', async (_what, path, accept, read, expected) => {
    const plain = await get(path, accept);
    expect(read(plain)).toEqual(expected());
    expect(plain.headers['content-length']).toBeUndefined();
    const zipped = await get(path, accept, 'gzip');
    expect(gunzipSync(zipped.body).equals(plain.body)).toBe(true);
  });

  it.each(['', 'includeObject=None&', 'includeObject=Object&', 'includeObject=Metadata&'])(
    'has the same rows as a table that is indented: %s',
    async (query) => {
      const accept = `${JSON_TYPE};as=Table;${META}`;
      const table = jsonOf(await get(`${CONFIG_MAPS}?${query}`, accept));
      expect(table).toEqual(jsonOf(await get(`${CONFIG_MAPS}?${query}pretty=true`, accept)));
      expect(table).toMatchObject({ kind: 'Table', rows: expect.arrayContaining([expect.anything()]) });
    },
  );

  it('says how long it is where it is stored as it is shown', async () => {
    const { headers, body } = await get(CONFIG_MAPS, JSON_TYPE);
    expect(headers['content-length']).toBe(String(body.length));
  });
});
