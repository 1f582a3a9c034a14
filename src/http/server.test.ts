import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import fc from 'fast-check';
import { Registry } from 'prom-client';
import { permissiveServer } from '../../test/support/permissive-server';
import { RegistryFixture } from '../../test/support/registry-fixture';
import { StatusError, unauthorized, type StatusDetails } from '../api/errors/status-error';
import { deployment } from '../api/kinds/apps/deployment';
import { configMap } from '../api/kinds/core/config-map';
import { namespace } from '../api/kinds/core/namespace';
import { pod } from '../api/kinds/core/pod';
import { replicationController } from '../api/kinds/core/replication-controller';
import { flowSchema } from '../api/kinds/flowcontrol/flow-schema';
import type { KindDefinition } from '../api/kinds/kind-definition';
import { podDisruptionBudget } from '../api/kinds/policy/pod-disruption-budget';
import { loadBuiltinSchema } from '../api/schema/builtin-schema';
import { silentLogger } from '../observability/logger';
import { RequestMetrics } from '../observability/request-metrics';
import type { Catalogue, ServedResource } from './dependencies';
import { textReply } from './reply';
import { createServer, type ApiServer } from './server';

/** The whole way over HTTP, on a real store, with an open door: `Bearer nobody` may do nothing. */

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- answers are looked into freely
  readonly body: any;
}

interface Sent {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

let fixture: RegistryFixture;
let server: ApiServer;
let port: number;
const metrics = new Registry();

function catalogueOf(definitions: readonly KindDefinition[]): Catalogue {
  const schema = loadBuiltinSchema();
  const served = new Map<string, ServedResource>();
  for (const definition of definitions) {
    const registry = fixture.registry(definition);
    for (const version of definition.versions) {
      const type = schema.kind(version.group, version.version, definition.kind);
      if (type === undefined) throw new Error(`no type for ${definition.kind}`);
      served.set(`${version.group}/${version.version}/${definition.resource}`, {
        definition,
        version,
        registry,
        type,
        listKind: `${definition.kind}List`,
        custom: false,
      });
    }
  }
  return {
    schema,
    resolve: (group, version, resource) => served.get(`${group}/${version}/${resource}`),
    hasBuiltInGroup: (group) => group === 'apps',
  };
}

beforeAll(async () => {
  fixture = await RegistryFixture.open();
  server = createServer({
    catalogue: catalogueOf([
      configMap,
      namespace,
      pod,
      replicationController,
      deployment,
      podDisruptionBudget,
      flowSchema,
    ]),
    nonResourceRoutes: [
      { path: '/healthz', handler: () => textReply(200, 'ok') },
      {
        path: '/broken',
        handler: () => {
          throw new Error('the cause');
        },
      },
      {
        path: '/unanswerable',
        handler: () => {
          const details: { cyclic?: unknown } = {};
          details.cyclic = details;
          throw new StatusError(400, 'BadRequest', 'cannot be printed', details as StatusDetails);
        },
      },
      {
        path: '/slow',
        handler: ({ signal }) =>
          new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('aborted')))),
      },
    ],
    authenticate: async ({ bearerToken }) => {
      if (bearerToken === 'wrong') throw unauthorized();
      return { name: bearerToken ?? 'admin', groups: ['system:authenticated'] };
    },
    authorize: async ({ user }) =>
      user.name === 'nobody' ? { decision: 'no-opinion', reason: '' } : { decision: 'allow', reason: '' },
    requestTimeoutMs: 60_000,
    port: 0,
    host: '127.0.0.1',
    logger: silentLogger,
    metrics: new RequestMetrics(metrics),
  });
  ({ port } = await server.listen());
});
afterAll(async () => {
  await server.close(1000);
  await fixture.close();
});

function open(method: string, path: string, { body, headers }: Sent = {}): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      { port, host: '127.0.0.1', method, path, agent: false, headers: { ...headers } },
      resolve,
    );
    request.on('error', reject);
    request.end(body === undefined || typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body));
  });
}

async function send(method: string, path: string, sent: Sent = {}): Promise<Answer> {
  const response = await open(method, path, sent);
  const pieces: Buffer[] = [];
  for await (const piece of response) pieces.push(piece as Buffer);
  const text = Buffer.concat(pieces).toString('utf8');
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    body = undefined;
  }
  return { status: response.statusCode ?? 0, headers: response.headers, text, body };
}

const CONFIG_MAPS = '/api/v1/namespaces/a/configmaps';
const DEPLOYMENTS = '/apis/apps/v1/namespaces/a/deployments';
const CONTROLLERS = '/api/v1/namespaces/a/replicationcontrollers';
const MERGE = { 'content-type': 'application/merge-patch+json' };
const TABLE = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };

describe('an object', () => {
  it('is created, read, listed, changed and deleted', async () => {
    const created = await send('POST', CONFIG_MAPS, { body: { metadata: { name: 'c1' }, data: { k: 'v' } } });
    expect(created).toMatchObject({
      status: 201,
      headers: { 'content-type': 'application/json', 'cache-control': 'no-cache, private' },
      body: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'c1', namespace: 'a' }, data: { k: 'v' } },
    });
    expect(created.text.endsWith('}\n')).toBe(true);

    const read = await send('GET', `${CONFIG_MAPS}/c1`);
    expect(read.body).toEqual(created.body);
    expect(Number(read.headers['content-length'])).toBe(Buffer.byteLength(read.text));

    const list = await send('GET', CONFIG_MAPS);
    expect(list.body).toMatchObject({ kind: 'ConfigMapList', apiVersion: 'v1', items: [{ metadata: { name: 'c1' } }] });
    expect(list.body.items[0].kind).toBeUndefined();

    const put = await send('PUT', `${CONFIG_MAPS}/c1`, { body: { metadata: { name: 'c1' }, data: { k: 'w' } } });
    expect(put).toMatchObject({ status: 200, body: { data: { k: 'w' } } });

    const patched = await send('PATCH', `${CONFIG_MAPS}/c1`, { body: { data: { l: 'x' } }, headers: MERGE });
    expect(patched).toMatchObject({ status: 200, body: { data: { k: 'w', l: 'x' } } });

    const gone = await send('DELETE', `${CONFIG_MAPS}/c1`);
    const { uid } = created.body.metadata;
    expect(gone.body).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      details: { name: 'c1', kind: 'configmaps', uid },
    });
    expect((await send('GET', `${CONFIG_MAPS}/c1`)).body).toMatchObject({ code: 404, reason: 'NotFound' });
  });

  it('is applied and keeps who owns what', async () => {
    const path = `${CONFIG_MAPS}/applied?fieldManager=m`;
    const headers = { 'content-type': 'application/apply-patch+yaml' };
    const body = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: applied}\ndata: {k: v}\n';
    expect(await send('PATCH', path, { body, headers })).toMatchObject({ status: 201 });
    const again = await send('PATCH', path, { body, headers });
    expect(again).toMatchObject({
      status: 200,
      body: { data: { k: 'v' }, metadata: { managedFields: [{ manager: 'm', operation: 'Apply' }] } },
    });
    const other = await send('PATCH', `${CONFIG_MAPS}/applied?fieldManager=n`, {
      body: body.replace('k: v', 'k: w'),
      headers,
    });
    expect(other).toMatchObject({ status: 409, body: { reason: 'Conflict' } });
  });

  it('comes as YAML, Protobuf, a Table or its metadata only', async () => {
    await send('POST', CONFIG_MAPS, { body: { metadata: { name: 'forms' }, data: { k: 'v' } } });
    const path = `${CONFIG_MAPS}/forms`;
    expect((await send('GET', path, { headers: { accept: 'application/yaml' } })).text).toContain('data:\n  k: v\n');
    const protobuf = await send('GET', path, { headers: { accept: 'application/vnd.kubernetes.protobuf' } });
    expect(protobuf.text.startsWith('k8s\0')).toBe(true);
    const table = await send('GET', path, { headers: TABLE });
    expect(table.body).toMatchObject({
      kind: 'Table',
      apiVersion: 'meta.k8s.io/v1',
      rows: [{ object: { kind: 'PartialObjectMetadata' } }],
    });
    const partial = await send('GET', path, {
      headers: { accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io' },
    });
    expect(Object.keys(partial.body as object)).toEqual(['kind', 'apiVersion', 'metadata']);
    expect((await send('GET', path, { headers: { 'user-agent': 'curl/8' } })).text).toMatch(
      /^\{\n {2}"kind": "ConfigMap"/,
    );
    expect((await send('GET', CONFIG_MAPS, { headers: { ...TABLE } })).body.rows.length).toBeGreaterThan(0);
    const list = await send('GET', CONFIG_MAPS, { headers: { accept: 'application/vnd.kubernetes.protobuf' } });
    expect(list.text).toContain('ConfigMapList');
  });

  it('lists flow schemas in a Table as requests try them', async () => {
    const path = '/apis/flowcontrol.apiserver.k8s.io/v1beta1/flowschemas';
    const create = (name: string, matchingPrecedence: number) =>
      send('POST', path, {
        body: { metadata: { name }, spec: { matchingPrecedence, priorityLevelConfiguration: { name: 'p' } } },
      });
    expect((await create('a', 900)).status).toBe(201);
    await create('c', 5);
    await create('b', 5);
    const named = (name: string) => ({ metadata: { name } });
    expect((await send('GET', path, { headers: TABLE })).body).toMatchObject({
      rows: ['b', 'c', 'a'].map((name) => ({ object: named(name) })),
    });
    expect((await send('GET', path)).body).toMatchObject({ items: ['a', 'b', 'c'].map(named) });
  });

  it('is scaled by one number', async () => {
    const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    const body = { metadata: { name: 'd' }, spec: { selector: { matchLabels: { a: 'b' } }, template } };
    expect((await send('POST', DEPLOYMENTS, { body })).status).toBe(201);
    const scale = await send('GET', `${DEPLOYMENTS}/d/scale`);
    expect(scale.body).toMatchObject({
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      spec: { replicas: 1 },
      status: { replicas: 0, selector: 'a=b' },
    });
    const put = await send('PUT', `${DEPLOYMENTS}/d/scale`, {
      body: { metadata: { name: 'd', namespace: 'a' }, spec: { replicas: 5 } },
    });
    expect(put.body).toMatchObject({ kind: 'Scale', spec: { replicas: 5 } });
    expect((await send('GET', `${DEPLOYMENTS}/d`)).body.spec.replicas).toBe(5);
    const negative = await send('PATCH', `${DEPLOYMENTS}/d/scale`, {
      body: { spec: { replicas: -1 } },
      headers: MERGE,
    });
    expect(negative.body.message).toBe(
      'Scale.autoscaling "d" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0',
    );
  });

  it('is bound to a node once', async () => {
    const pods = '/api/v1/namespaces/a/pods';
    await send('POST', pods, { body: { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } } });
    const binding = { metadata: { name: 'p' }, target: { kind: 'Node', name: 'n1' } };
    const bound = await send('POST', `${pods}/p/binding`, { body: binding });
    expect(bound).toMatchObject({ status: 201, body: { status: 'Success', code: 201 } });
    expect((await send('GET', `${pods}/p`)).body).toMatchObject({
      spec: { nodeName: 'n1' },
      status: { conditions: [{ type: 'PodScheduled', status: 'True' }] },
    });
    expect((await send('POST', `${pods}/p/binding`, { body: binding })).body.message).toBe(
      'Operation cannot be fulfilled on pods/binding "p": pod p is already assigned to node "n1"',
    );
  });

  it('is evicted as its disruption budget allows', async () => {
    const pods = '/api/v1/namespaces/e/pods';
    const budgets = '/apis/policy/v1beta1/namespaces/e/poddisruptionbudgets';
    const eviction = { apiVersion: 'policy/v1beta1', kind: 'Eviction', metadata: { name: 'p' } };
    const metadata = { name: 'p', labels: { app: 'p' } };
    await send('POST', pods, { body: { metadata, spec: { containers: [{ name: 'c', image: 'i' }] } } });
    await send('PATCH', `${pods}/p/status`, {
      body: { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } },
      headers: MERGE,
    });
    const selector = { matchLabels: { app: 'p' } };
    await send('POST', budgets, { body: { metadata: { name: 'b' }, spec: { minAvailable: 1, selector } } });
    const evict = (): Promise<Answer> => send('POST', `${pods}/p/eviction`, { body: eviction });
    const allow = (disruptionsAllowed: number): Promise<Answer> =>
      send('PATCH', `${budgets}/b/status`, {
        body: {
          status: { observedGeneration: 1, disruptionsAllowed, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 },
        },
        headers: MERGE,
      });

    expect((await evict()).body.details.causes[0].message).toBe(
      'The disruption budget b is still being processed by the server.',
    );
    await allow(0);
    expect(await evict()).toMatchObject({
      status: 429,
      body: {
        reason: 'TooManyRequests',
        details: { causes: [{ message: 'The disruption budget b needs 1 healthy pods and has 1 currently' }] },
      },
    });
    await allow(1);
    expect(await evict()).toMatchObject({ status: 201, body: { status: 'Success', code: 201 } });
    const spent = (await send('GET', `${budgets}/b`)).body;
    expect(spent.status).toMatchObject({ disruptedPods: { p: expect.any(String) } });
    expect(spent.status.disruptionsAllowed ?? 0).toBe(0);
    expect(spent.metadata.managedFields).toContainEqual(
      expect.objectContaining({
        manager: 'kube-apiserver',
        fieldsV1: { 'f:status': { 'f:disruptedPods': { '.': {}, 'f:p': {} }, 'f:disruptionsAllowed': {} } },
      }),
    );
  });

  it('that is not ready is evicted while enough others are healthy, or where the budget does not mind', async () => {
    const pods = '/api/v1/namespaces/unready/pods';
    const budgets = '/apis/policy/v1/namespaces/unready/poddisruptionbudgets';
    const budget = { metadata: { name: 'b' }, spec: { minAvailable: 1, selector: {} } };
    await send('POST', budgets, { body: budget });
    const setHealthy = (currentHealthy: number): Promise<Answer> =>
      send('PATCH', `${budgets}/b/status`, {
        body: { status: { observedGeneration: 9, currentHealthy, desiredHealthy: 1, expectedPods: 2 } },
        headers: MERGE,
      });
    const evictNew = async (name: string, preconditions = {}): Promise<number> => {
      await send('POST', pods, { body: { metadata: { name }, spec: { containers: [{ name: 'c', image: 'i' }] } } });
      await send('PATCH', `${pods}/${name}/status`, { body: { status: { phase: 'Running' } }, headers: MERGE });
      const eviction = {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { name },
        deleteOptions: { preconditions },
      };
      return (await send('POST', `${pods}/${name}/eviction`, { body: eviction })).status;
    };
    await setHealthy(0);
    expect(await evictNew('few')).toBe(429);
    await setHealthy(1);
    expect(await evictNew('another', { uid: 'of another' })).toBe(409);
    expect(await evictNew('enough')).toBe(201);
    await setHealthy(0);
    const careless = { spec: { unhealthyPodEvictionPolicy: 'AlwaysAllow' } };
    await send('PATCH', `${budgets}/b`, { body: careless, headers: MERGE });
    expect(await evictNew('any')).toBe(201);
  });

  it('is checked strictly where asked', async () => {
    const body = '{"metadata":{"name":"s"},"dta":{},"data":{"a":"1","a":"2"}}';
    const strict = await send('POST', `${CONFIG_MAPS}?fieldValidation=Strict`, { body });
    expect(strict.body.message).toBe(
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: duplicate field "data.a", unknown field "dta"',
    );
    const warned = await send('POST', `${CONFIG_MAPS}?fieldValidation=Warn&dryRun=All`, { body });
    expect(warned.status).toBe(201);
    expect(warned.headers['warning']).toContain('299 - "unknown field \\"dta\\""');
  });

  it('is not applied with a key given twice where that is checked strictly', async () => {
    const headers = { 'content-type': 'application/apply-patch+yaml' };
    const body = 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: twice }\ndata:\n  a: "1"\n  a: "2"\n';
    const path = `${CONFIG_MAPS}/twice?fieldManager=m&fieldValidation=`;
    const refused = await send('PATCH', `${path}Strict`, { body, headers });
    expect(refused).toMatchObject({
      status: 400,
      body: {
        message:
          'error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  line 6: key "a" already set in map',
      },
    });
    expect((await send('PATCH', `${path}Warn`, { body, headers })).status).toBe(201);
  });

  it.each([
    [
      'merge-patch',
      '{"spec":{"replicas":1,"replicas":1,"repicas":2}}',
      /^ "" is invalid: patch: Invalid value: "\{\\"kind.*: strict decoding error: duplicate field "spec.replicas", unknown field "spec.repicas"$/,
    ],
    [
      'strategic-merge-patch',
      '{"spec":{"replicas":1,"replicas":1,"repicas":2}}',
      ' "" is invalid: patch: Invalid value: "map[spec:map[repicas:2 replicas:1]]": strict decoding error: duplicate field "spec.replicas", unknown field "spec.repicas"',
    ],
    [
      'json-patch',
      '[{"op":"add","path":"/spec/repicas","value":2,"value":2,"note":"x"}]',
      /: strict decoding error: json patch unknown field "\[0\].note", json patch duplicate field "\[0\].value", unknown field "spec.repicas"$/,
    ],
  ])('is refused with 422 for what nobody knows in a strict %s', async (format, body, message) => {
    const deployments = '/apis/apps/v1/namespaces/default/deployments';
    const name = `strict-${format}`;
    const labels = { app: name };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    const spec = { selector: { matchLabels: labels }, template };
    const { body: created } = await send('POST', deployments, { body: { metadata: { name }, spec } });
    const headers = { 'content-type': `application/${format}+json` };
    const path = `${deployments}/${name}`;
    const refused = await send('PATCH', `${path}?fieldValidation=Strict`, { body, headers });
    expect(refused).toMatchObject({
      status: 422,
      body: { reason: 'Invalid', details: { causes: [{ field: 'patch' }] } },
    });
    expect(refused.body.message).toMatch(message);
    expect((await send('GET', path)).body.metadata.resourceVersion).toBe(created.metadata.resourceVersion);
    const warned = await send('PATCH', `${path}?fieldValidation=Warn`, { body, headers });
    expect(warned.status).toBe(200);
    expect(warned.headers['warning']).toContain('299 - "unknown field \\"spec.repicas\\""');
  });
});

describe('a refusal', () => {
  const cases: readonly [method: string, path: string, sent: Sent, status: number, message: string | undefined][] = [
    ['GET', '/api/v1/nosuch', {}, 404, 'the server could not find the requested resource'],
    ['GET', '/api/v1/configmaps/c', {}, 404, 'the server could not find the requested resource'],
    ['GET', `${CONFIG_MAPS}/c/nosuch`, {}, 404, 'the server could not find the requested resource'],
    ['GET', `${CONFIG_MAPS}/a%2Fb`, {}, 404, 'the server could not find the requested resource'],
    ['GET', '/api/v1/namespaces/a/namespaces', {}, 404, 'the server could not find the requested resource'],
    ['GET', '/apis/nosuch/v1/things', {}, 404, undefined],
    ['GET', '/apis/apps/v7/things', {}, 404, 'the server could not find the requested resource'],
    ['GET', `${CONFIG_MAPS}/..`, {}, 400, `Name parameter invalid: "..": may not be '..'`],
    ['GET', `${CONFIG_MAPS}/c%`, {}, 400, undefined],
    ['POST', '/api/v1/configmaps', {}, 405, 'the server does not allow this method on the requested resource'],
    ['POST', `${CONFIG_MAPS}/c`, {}, 405, 'the server does not allow this method on the requested resource'],
    ['PUT', CONFIG_MAPS, {}, 405, 'the server does not allow this method on the requested resource'],
    ['PROPFIND', CONFIG_MAPS, {}, 405, 'the server does not allow this method on the requested resource'],
    [
      'DELETE',
      '/api/v1/watch/namespaces/a/configmaps/c',
      {},
      405,
      'the server does not allow this method on the requested resource',
    ],
    ['GET', CONFIG_MAPS, { headers: { accept: 'text/html' } }, 406, '406: Not Acceptable'],
    [
      'PATCH',
      `${CONFIG_MAPS}/c`,
      { headers: { 'content-type': 'application/json' }, body: {} },
      415,
      '415: Unsupported Media Type',
    ],
    [
      'POST',
      CONFIG_MAPS,
      { body: '' },
      400,
      "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: unexpected end of JSON input (<empty>)",
    ],
    [
      'POST',
      CONFIG_MAPS,
      { body: { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x' } } },
      400,
      'Secret in version "v1" cannot be handled as a ConfigMap: converting (v1.Secret) to (core.ConfigMap): unknown conversion',
    ],
    [
      'POST',
      DEPLOYMENTS,
      { body: { apiVersion: 'extensions/v1beta1', kind: 'Deployment', metadata: { name: 'x' } } },
      400,
      'the API version in the data (extensions/v1beta1) does not match the expected API version (apps/v1)',
    ],
    [
      'POST',
      DEPLOYMENTS,
      { body: { apiVersion: 'apps/v1beta2', kind: 'DaemonSet', metadata: { name: 'x' } } },
      400,
      'DaemonSet in version "v1beta2" cannot be handled as a Deployment: converting (v1beta2.DaemonSet) to (apps.Deployment): unknown conversion',
    ],
    [
      'POST',
      DEPLOYMENTS,
      { body: { apiVersion: 'apps/v7', kind: 'Deployment', metadata: { name: 'x' } } },
      400,
      'Deployment in version "v7" cannot be handled as a Deployment: no kind "Deployment" is registered for version "apps/v7"',
    ],
    [
      'PUT',
      `${DEPLOYMENTS}/x/scale`,
      { body: { apiVersion: 'extensions/v1beta1', kind: 'Scale', metadata: { name: 'x' } } },
      400,
      'the API version in the data (extensions/v1beta1) does not match the expected API version (autoscaling/v1)',
    ],
    ['GET', `${DEPLOYMENTS}/none/scale`, {}, 404, 'deployments/scale.apps "none" not found'],
    ['GET', `${CONTROLLERS}/none/scale`, {}, 404, 'replicationcontrollers/scale.autoscaling "none" not found'],
    [
      'PUT',
      `${DEPLOYMENTS}/none/scale`,
      { body: { metadata: { name: 'none', namespace: 'a' }, spec: { replicas: 1 } } },
      404,
      'deployments.apps "none" not found',
    ],
    [
      'PATCH',
      `${DEPLOYMENTS}/none/scale`,
      { body: { spec: { replicas: 1 } }, headers: MERGE },
      404,
      'deployments.apps "none" not found',
    ],
    [
      'POST',
      CONFIG_MAPS,
      { body: { metadata: { name: 'x', namespace: 'other' } } },
      400,
      'the namespace of the provided object does not match the namespace sent on the request',
    ],
    ['POST', CONFIG_MAPS, { body: 'x'.repeat(3 * 1024 * 1024 + 1) }, 413, 'Request entity too large: limit is 3145728'],
    [
      'PUT',
      `${CONFIG_MAPS}/c`,
      { body: { metadata: { name: 'd' } } },
      400,
      'the name of the object (d) does not match the name on the URL (c)',
    ],
    [
      'PUT',
      `${CONFIG_MAPS}/c`,
      { body: {} },
      400,
      'the name of the object (c based on URL) was undeterminable: name must be provided',
    ],
    [
      'DELETE',
      `${CONFIG_MAPS}/c?propagationPolicy=Bogus`,
      {},
      422,
      'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Bogus": supported values: "Foreground", "Background", "Orphan", "nil"',
    ],
    ['GET', CONFIG_MAPS, { headers: { authorization: 'Bearer wrong' } }, 401, 'Unauthorized'],
    [
      'GET',
      `${CONFIG_MAPS}/c`,
      { headers: { authorization: 'Bearer nobody' } },
      403,
      'configmaps "c" is forbidden: User "nobody" cannot get resource "configmaps" in API group "" in the namespace "a"',
    ],
    [
      'GET',
      '/healthz',
      { headers: { authorization: 'Bearer nobody' } },
      403,
      'forbidden: User "nobody" cannot get path "/healthz"',
    ],
    [
      'GET',
      CONFIG_MAPS,
      { headers: { authorization: 'Bearer nobody', 'impersonate-user': 'admin' } },
      403,
      'users "admin" is forbidden: User "nobody" cannot impersonate resource "users" in API group "" at the cluster scope',
    ],
    [
      'GET',
      CONFIG_MAPS,
      { headers: { 'impersonate-user': 'nobody' } },
      403,
      'configmaps is forbidden: User "nobody" cannot list resource "configmaps" in API group "" in the namespace "a"',
    ],
    ['GET', '/broken', {}, 500, 'Internal error occurred: the server could not complete the request; its log says why'],
    ['GET', '/slow?timeout=50ms', {}, 504, 'Timeout: request did not complete within requested timeout 50ms'],
  ];
  it.each(cases)('of %s %s %#', async (method, path, sent, status, message) => {
    const answer = await send(method, path, sent);
    expect(answer.status).toBe(status);
    expect(answer.body?.message).toBe(message);
  });

  it('lists the paths that there are', async () => {
    expect((await send('GET', '/nosuch')).body).toEqual({ paths: ['/broken', '/healthz', '/slow', '/unanswerable'] });
  });

  it('is written in the format that the client takes', async () => {
    const yaml = await send('GET', `${CONFIG_MAPS}/none`, { headers: { accept: 'application/yaml' } });
    expect(yaml.text).toContain('message: configmaps "none" not found\n');
    const table = await send('GET', `${CONFIG_MAPS}/none`, { headers: TABLE });
    expect(table.body).toMatchObject({ kind: 'Status', code: 404 });
  });
});

describe('whatever is sent', () => {
  const mediaTypes = [
    'application/json',
    'application/yaml',
    'application/vnd.kubernetes.protobuf',
    'application/merge-patch+json',
    'application/json-patch+json',
    'application/strategic-merge-patch+json',
    'application/apply-patch+yaml',
  ];
  const body = fc.oneof(
    fc.string(),
    fc.json(),
    fc.uint8Array().map((bytes) => Buffer.concat([Buffer.from('k8s\0'), bytes])),
    fc
      .dictionary(fc.constantFrom('metadata', 'data', 'kind', 'apiVersion', 'op', 'path'), fc.jsonValue())
      .map((value) => JSON.stringify(value)),
  );

  it('is never the cause of a 5xx', async () => {
    await send('POST', CONFIG_MAPS, { body: { metadata: { name: 'victim' } } });
    const method = fc.constantFrom('POST', 'PUT', 'PATCH', 'DELETE');
    const query = fc.constantFrom(
      '',
      '?dryRun=All',
      '?fieldManager=m',
      '?fieldValidation=Strict',
      '?fieldManager=m&force=1',
    );
    await fc.assert(
      fc.asyncProperty(method, fc.constantFrom(...mediaTypes), query, body, async (verb, mediaType, search, bytes) => {
        const path = verb === 'POST' ? CONFIG_MAPS : `${CONFIG_MAPS}/victim`;
        const answer = await send(verb, path + search, { body: bytes, headers: { 'content-type': mediaType } });
        expect({ ...answer, status: Math.floor(answer.status / 100) }).not.toMatchObject({ status: 5 });
      }),
      { numRuns: 300 },
    );
  });

  it('breaks no connection but its own', async () => {
    for (const garbage of ['GARBAGE\r\n\r\n', 'GET / HTTP/1.1\r\nHost: a\r\nX: \0\r\n\r\n', '\x16\x03\x01\x02\x00']) {
      const answer = await new Promise<string>((resolve) => {
        let text = '';
        const socket = connect(port, '127.0.0.1', () => socket.end(garbage));
        socket.on('data', (piece) => (text += String(piece)));
        socket.on('close', () => resolve(text));
        socket.on('error', () => undefined);
      });
      expect(answer).toMatch(/^(HTTP\/1\.1 400 |$)/);
    }
    expect((await send('GET', '/healthz')).text).toBe('ok');
  });
});

/** Reads lines of a stream until there are enough. */
interface Event {
  readonly type: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- objects are looked into freely
  readonly object: any;
}

const parseEvent = (line: string): Event => JSON.parse(line) as Event;

async function events(response: IncomingMessage, count: number): Promise<readonly Event[]> {
  let text = '';
  for await (const piece of response) {
    text += String(piece);
    const lines = text.split('\n');
    if (lines.length > count) {
      response.destroy();
      return lines.slice(0, count).map(parseEvent);
    }
  }
  return text.split('\n').filter(Boolean).map(parseEvent);
}

describe('a watch', () => {
  const path = '/api/v1/namespaces/w/configmaps';

  it('begins with what is there and goes on with what happens', async () => {
    await send('POST', path, { body: { metadata: { name: 'w1' } } });
    const stream = await open('GET', `${path}?watch=1`);
    expect(stream.headers['transfer-encoding']).toBe('chunked');
    const seen = events(stream, 3);
    await send('PATCH', `${path}/w1`, { body: { data: { k: 'v' } }, headers: MERGE });
    await send('DELETE', `${path}/w1`);
    expect((await seen).map(({ type, object }) => `${type} ${object.kind} ${object.metadata.name}`)).toEqual([
      'ADDED ConfigMap w1',
      'MODIFIED ConfigMap w1',
      'DELETED ConfigMap w1',
    ]);
  });

  it('names the columns of a Table once', async () => {
    const stream = await open('GET', `${path}?watch=1&includeObject=None`, { headers: TABLE });
    const seen = events(stream, 2);
    await send('POST', path, { body: { metadata: { name: 'w2' } } });
    await send('DELETE', `${path}/w2`);
    const [first, second] = await seen;
    expect(first?.object).toMatchObject({ kind: 'Table', rows: [{ object: null }] });
    expect(Array.isArray(first?.object.columnDefinitions)).toBe(true);
    expect(second?.object.columnDefinitions).toBeNull();
  });

  it('ends after its time', async () => {
    expect(await send('GET', `${path}?watch=1&timeoutSeconds=1`)).toMatchObject({ status: 200, text: '' });
  });

  it('takes no YAML', async () => {
    const answer = await send('GET', `${path}?watch=1`, { headers: { accept: 'application/yaml' } });
    expect(answer.status).toBe(406);
    expect(answer.headers['content-type']).toBe('application/yaml');
  });

  it('streams the initial state up to a bookmark for those who ask', async () => {
    await send('POST', path, { body: { metadata: { name: 'w3' } } });
    const query = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
    const seen = await events(await open('GET', `${path}?${query}`), 2);
    expect(seen.map(({ type }) => type)).toEqual(['ADDED', 'BOOKMARK']);
    expect(seen[1]?.object.metadata.annotations).toEqual({ 'k8s.io/initial-events-end': 'true' });
  });
});

describe('a large list', () => {
  const path = '/api/v1/namespaces/large/configmaps';

  it('comes whole, compressed for those who take it', async () => {
    const data = { k: 'x'.repeat(20_000) };
    for (let index = 0; index < 10; index++)
      await send('POST', path, { body: { metadata: { name: `l${index}` }, data } });
    const plain = await send('GET', path);
    expect(plain.body.items).toHaveLength(10);
    expect(Number(plain.headers['content-length'])).toBe(Buffer.byteLength(plain.text));
    const zipped = await open('GET', path, { headers: { 'accept-encoding': 'gzip' } });
    expect(zipped.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
    zipped.resume();
  });
});

it('counts what it served, by verb and resource', async () => {
  await send('GET', '/api/v1/made-up');
  const text = await metrics.metrics();
  expect(text).toMatch(
    /apiserver_request_total\{verb="LIST",group="",version="v1",resource="configmaps",.*code="200"\}/,
  );
  expect(text).not.toContain('made-up');
});

it('closes a connection that cannot be answered, and goes on', async () => {
  await expect(send('GET', '/unanswerable')).rejects.toThrow('socket hang up');
  expect((await send('GET', '/healthz')).text).toBe('ok');
});

it('closes while watches are open, and ends them', async () => {
  const own = createServer({
    catalogue: catalogueOf([configMap]),
    ...permissiveServer,
  });
  const address = await own.listen();
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    httpRequest({ port: address.port, host: '127.0.0.1', path: `${CONFIG_MAPS}?watch=1&resourceVersion=0` }, resolve)
      .on('error', reject)
      .end();
  });
  const ended = new Promise<boolean>((resolve) => response.resume().on('close', () => resolve(response.complete)));
  await own.close(2000);
  expect(await ended).toBe(true);
});
