import fc from 'fast-check';
import type { JsonObject, JsonValue } from '../../src/api/object';
import { clientOfOwnServer } from '../support/raw-client';

/**
 * Patches that are wrong in one way or another, on objects of real kinds: each is answered with 400, 409, 415 or 422, and
 * the object stays as it was. Some of the random ones are right by accident, and then they change it or not at all.
 * `STERNPOST_FUZZ_REQUESTS` raises the number of requests.
 */

const RUNS = Math.ceil(Number(process.env.STERNPOST_FUZZ_REQUESTS ?? 1_000) / 2);
const REFUSALS = [400, 409, 415, 422];

const labels = { app: 'a' };
const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }];
const template = {
  metadata: { labels },
  spec: { containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 80 }] }] },
};

const OBJECTS: Readonly<Record<string, JsonObject>> = {
  '/api/v1/namespaces/default/configmaps': { data: { k: 'v' } },
  '/api/v1/namespaces/default/services': { spec: { selector: labels, ports: [{ port: 80 }] } },
  '/api/v1/namespaces/default/pods': { spec: { containers: [{ name: 'c', image: 'i' }] } },
  '/apis/apps/v1/namespaces/default/deployments': { spec: { selector: { matchLabels: labels }, template } },
  '/apis/networking.k8s.io/v1/namespaces/default/networkpolicies': { spec: { podSelector: {}, ingress: [{}] } },
  '/apis/rbac.authorization.k8s.io/v1/clusterroles': { rules },
  '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations': {
    webhooks: [
      {
        name: 'a.b.c',
        clientConfig: { url: 'https://localhost/' },
        rules: [{ apiGroups: ['example.com'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['things'] }],
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      },
    ],
  },
};
const PATHS = Object.keys(OBJECTS).map((path) => `${path}/victim`);

const [JSON_PATCH, MERGE, STRATEGIC, APPLY] = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
] as const;

const json = (value: unknown): string => JSON.stringify(value);

const client = clientOfOwnServer();

const versionAt = async (path: string) => (await client.send('GET', path)).body.metadata.resourceVersion;

beforeAll(async () => {
  for (const [path, content] of Object.entries(OBJECTS)) {
    const body = json({ metadata: { name: 'victim' }, ...content });
    // Pods wait for the service account of their namespace.
    while ((await client.send('POST', path, body)).status !== 201) await new Promise((wait) => setTimeout(wait, 50));
  }
}, 30_000);

describe.each(PATHS)('a patch of %s', (path) => {
  it.each<[what: string, type: string, body: string, status: number]>([
    ['in a format that is none', 'application/json', '{}', 415],
    ['in a format with another case', 'Application/Merge-Patch+JSON', '{}', 415],
    ['that is no JSON', MERGE, '{', 400],
    ['that is no JSON', JSON_PATCH, '[', 400],
    ['that is no JSON', STRATEGIC, '{"a":', 400],
    ['that is no YAML', APPLY, '{a: [', 400],
    ['that is nothing', MERGE, '', 400],
    ['that is nothing', JSON_PATCH, '', 400],
    ['that is nothing', STRATEGIC, '', 400],
    ['that is nothing', APPLY, '', 400],
    ['that is no list', JSON_PATCH, '{"op":"remove"}', 400],
    ['with operations that are no maps', JSON_PATCH, '[1]', 400],
    ['that is no map', STRATEGIC, '[]', 400],
    ['with an unknown operation', JSON_PATCH, json([{ op: 'grow', path: '/metadata/labels' }]), 422],
    ['of what is not there', JSON_PATCH, json([{ op: 'remove', path: '/metadata/nothing/at/all' }]), 422],
    ['whose test fails', JSON_PATCH, json([{ op: 'test', path: '/metadata/name', value: 'x' }]), 422],
    ['of all that is', JSON_PATCH, json([{ op: 'replace', path: '', value: null }]), 422],
    ['to another kind', MERGE, json({ kind: 'Nothing' }), 422],
    ['with labels that are no map', MERGE, json({ metadata: { labels: 'x' } }), 422],
    ['with labels that are no map', STRATEGIC, json({ metadata: { labels: 'x' } }), 422],
    ['with labels that are none', MERGE, json({ metadata: { labels: { a: 'not a label!' } } }), 422],
    ['to another name', MERGE, json({ metadata: { name: 'other' } }), 400],
    ['of another version', MERGE, json({ metadata: { resourceVersion: '1' } }), 409],
    ['of another object', MERGE, json({ metadata: { uid: 'x' } }), 422],
    ['with an unknown directive', STRATEGIC, json({ metadata: { $patch: 'grow' } }), 400],
    ['with keys to retain that are no list', STRATEGIC, json({ metadata: { $retainKeys: 'x' } }), 400],
    ['with an order that is no list', STRATEGIC, json({ metadata: { '$setElementOrder/finalizers': 'x' } }), 400],
    ['with an owner without uid', STRATEGIC, json({ metadata: { ownerReferences: [{ name: 'x' }] } }), 422],
    ['of an unknown kind', APPLY, json({ apiVersion: 'v1', kind: 'Nothing' }), 400],
    ['that says nothing of its kind', APPLY, json({ metadata: {} }), 400],
  ])('%s (%s %s) is answered with its status and changes nothing', async (_, type, body, status) => {
    const before = await versionAt(path);
    const response = await client.send('PATCH', `${path}?fieldManager=m`, body, type);
    expect([response.status, response.body]).toMatchObject([status, { kind: 'Status', code: status }]);
    expect(await versionAt(path)).toBe(before);
  });

  it('is not applied without a name for who does', async () => {
    expect((await client.send('PATCH', path, '{}', APPLY)).status).toBe(422);
    expect((await client.send('PATCH', `${path}?force=true`, '{}', MERGE)).status).toBe(422);
  });
});

/** Members that mean something somewhere, directives among them. */
const name = fc.constantFrom(
  ...[
    'metadata',
    'labels',
    'name',
    'uid',
    'spec',
    'template',
    'containers',
    'ports',
    'data',
    'rules',
    'webhooks',
    'status',
  ],
  ...['finalizers', 'ownerReferences', 'managedFields', 'selector', 'replicas', 'apiVersion', 'kind', '__proto__', ''],
  ...[
    '$patch',
    '$retainKeys',
    '$setElementOrder/containers',
    '$deleteFromPrimitiveList/finalizers',
    '$setElementOrder',
  ],
);
const { values } = fc.letrec<{ values: JsonValue }>((tie) => ({
  values: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    fc.constantFrom<JsonValue>(
      null,
      true,
      0,
      -1,
      1.5,
      2 ** 40,
      '',
      'x',
      'delete',
      'replace',
      'merge',
      'default',
      'victim',
    ),
    fc.array(tie('values'), { maxLength: 3 }),
    fc.dictionary(name, tie('values'), { maxKeys: 4, noNullPrototype: true }),
  ),
}));
const pointer = fc.array(fc.oneof(name, fc.constantFrom('0', '1', '-', '~', '~2')), { maxLength: 4 });
const operation = fc.record(
  {
    op: fc.constantFrom<JsonValue>('add', 'remove', 'replace', 'move', 'copy', 'test', 'x', null),
    path: fc.oneof(
      pointer.map((keys): JsonValue => keys.map((key) => `/${key.replaceAll('/', '~1')}`).join('')),
      fc.constantFrom<JsonValue>('x', null, 1),
    ),
    from: pointer.map((keys) => keys.map((key) => `/${key.replaceAll('/', '~1')}`).join('')),
    value: values,
  },
  { requiredKeys: [] },
);
const patch = fc.oneof(
  fc.tuple(fc.constant(JSON_PATCH), fc.array(operation, { maxLength: 3 }).map(json)),
  fc.tuple(fc.constantFrom(MERGE, STRATEGIC, APPLY), fc.dictionary(name, values, { maxKeys: 4 }).map(json)),
  fc.tuple(fc.constantFrom(JSON_PATCH, MERGE, STRATEGIC, APPLY), fc.oneof(values.map(json), fc.string())),
);

/** Undefined for what is no object in JSON, and for one that says nothing. */
function asObject(body: string): JsonObject | undefined {
  if (!/^\{.*:.*\}$/s.test(body)) return undefined;
  try {
    return JSON.parse(body) as JsonObject;
  } catch {
    return undefined;
  }
}

describe('random patches', () => {
  it('are refused with 400, 409, 415 or 422 and change nothing, or are patches', async () => {
    const query = fc.constantFrom('', '?fieldManager=m', '?fieldManager=m&force=true', '?fieldValidation=Strict');
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...PATHS), query, patch, async (path, search, [type, body]) => {
        const before = await versionAt(path);
        const { apiVersion, kind } = (await client.send('GET', path)).body;
        // Else no apply would come further than to its kind.
        const applied = type === APPLY ? asObject(body) : undefined;
        const sent = applied === undefined ? body : json({ ...applied, apiVersion, kind });
        const { status } = await client.send('PATCH', path + search, sent, type);
        if (status === 200) return;
        expect(REFUSALS).toContain(status);
        expect(await versionAt(path)).toBe(before);
      }),
      { numRuns: RUNS },
    );
  }, 600_000);
});
