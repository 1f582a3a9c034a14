import type { ServerResponse } from 'node:http';
import { startApiServer, type ApiServer } from '../../src';
import { RawClient, type RawResponse } from '../support/raw-client';
import { until } from '../support/until';
import { respond, WebhookBackend, type Behaviour, type ReceivedCall } from '../support/webhook-backend';

/** Conversion webhooks as operators have them: v1 is stored with `spec.host`, and v2 has `spec.endpoint.host`. */

let server: ApiServer;
let client: RawClient;
let backend: WebhookBackend;
let made = 0;

beforeAll(async () => {
  [server, backend] = await Promise.all([startApiServer(), WebhookBackend.start()]);
  client = new RawClient(server);
}, 30_000);

afterAll(async () => {
  client.close();
  await server.stop();
  await backend[Symbol.asyncDispose]();
});

interface Gate {
  readonly apiVersion: string;
  readonly metadata: object;
  readonly spec?: { readonly host?: string; readonly endpoint?: { readonly host?: string } };
}

const send = (method: string, path: string, body?: object, contentType?: string): Promise<RawResponse> =>
  client.send(method, path, body && JSON.stringify(body), contentType);

function objectsOf({ review }: ReceivedCall): readonly Gate[] {
  return review.request['objects'] as readonly Gate[];
}

function converted({ spec = {}, ...gate }: Gate, apiVersion: string): Gate {
  const host = spec.host ?? spec.endpoint?.host ?? '';
  return { ...gate, apiVersion, spec: apiVersion.endsWith('/v1') ? { host } : { endpoint: { host } } };
}

function convertedObjects(call: ReceivedCall): readonly Gate[] {
  const desired = String(call.review.request['desiredAPIVersion']);
  return objectsOf(call).map((gate) => converted(gate, desired));
}

const SUCCESS = { result: { status: 'Success' } };

/** A webhook that does as it should, but for what `lie` does to its objects. */
function converting(lie: (gates: readonly Gate[]) => readonly unknown[] = (gates) => gates): Behaviour {
  return (call: ReceivedCall, response: ServerResponse) =>
    respond(call, response, { ...SUCCESS, convertedObjects: lie(convertedObjects(call)) });
}

const hostAt = (...path: readonly string[]) => ({
  type: 'object',
  properties: {
    spec: path.reduceRight<object>((inner, key) => ({ type: 'object', properties: { [key]: inner } }), {
      type: 'string',
    }),
  },
});

interface Served {
  readonly hook: string;
  readonly v1: string;
  readonly v2: string;
  readonly group: string;
}

/** A definition of its own, served. */
async function define(): Promise<Served> {
  const group = `g${made++}.example.io`;
  const hook = `/${group}`;
  const clientConfig = backend.clientConfig(hook, converting());
  const { body, status } = await send('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: `gates.${group}` },
    spec: {
      group,
      scope: 'Cluster',
      names: { plural: 'gates', kind: 'Gate' },
      versions: [
        { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: hostAt('host') } },
        { name: 'v2', served: true, storage: false, schema: { openAPIV3Schema: hostAt('endpoint', 'host') } },
      ],
      conversion: { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: ['v1'] } },
    },
  });
  if (status !== 201) throw new Error(body.message);
  const path = (version: string): string => `/apis/${group}/${version}/gates`;
  await until(
    () => send('GET', path('v2')),
    (answered) => answered.status === 200,
  );
  return { hook, group, v1: path('v1'), v2: path('v2') };
}

const old = (group: string, name: string) => ({
  apiVersion: `${group}/v1`,
  kind: 'Gate',
  metadata: { name },
  spec: { host: name },
});

it('an object is written, stored and read in the version of each request', async () => {
  const { v1, v2, group } = await define();
  const created = await send('POST', v2, {
    apiVersion: `${group}/v2`,
    kind: 'Gate',
    metadata: { name: 'a' },
    spec: { endpoint: { host: 'h' }, unknown: 1 },
  });
  expect(created.status).toBe(201);
  expect(created.body).toMatchObject({ apiVersion: `${group}/v2`, spec: { endpoint: { host: 'h' } } });
  expect((await send('GET', `${v1}/a`)).body).toMatchObject({ apiVersion: `${group}/v1`, spec: { host: 'h' } });
  const patch = { spec: { endpoint: { host: 'other' } } };
  const patched = await send('PATCH', `${v2}/a`, patch, 'application/merge-patch+json');
  expect(patched.body).toMatchObject({ metadata: { generation: 2 }, spec: { endpoint: { host: 'other' } } });
  expect((await send('GET', `${v1}/a`)).body['spec']).toEqual({ host: 'other' });
});

it('a wrong field is found by the schema of the version in which it was sent', async () => {
  const { v2, group } = await define();
  const wrong = { apiVersion: `${group}/v2`, kind: 'Gate', metadata: { name: 'a' }, spec: { endpoint: { host: 1 } } };
  const { status, body } = await send('POST', v2, wrong);
  expect(status).toBe(422);
  expect(body.message).toContain('spec.endpoint.host: Invalid value: "integer"');
});

it('the objects of a list are converted in one call, and once for two lists', async () => {
  const { v1, v2, group, hook } = await define();
  for (const name of ['a', 'b', 'c']) await send('POST', v1, old(group, name));
  const before = backend.callsTo(hook).length;
  const hosts = async (): Promise<unknown> =>
    ((await send('GET', v2)).body['items'] as readonly Gate[]).map(({ spec }) => spec?.endpoint?.host);
  expect(await hosts()).toEqual(['a', 'b', 'c']);
  expect(await hosts()).toEqual(['a', 'b', 'c']);
  const calls = backend.callsTo(hook).slice(before);
  expect(calls.map((call) => objectsOf(call).length)).toEqual([3]);
});

it('two watches of a version share the conversion of an event', async () => {
  const { v1, v2, group, hook } = await define();
  const { body } = await send('GET', v2);
  const query = `?watch=1&timeoutSeconds=2&resourceVersion=${body.metadata.resourceVersion ?? ''}`;
  const watching = [client.sendText('GET', v2 + query), client.sendText('GET', v2 + query)];
  await send('POST', v1, old(group, 'a'));
  const seen = await Promise.all(watching);
  for (const { text } of seen) {
    expect(JSON.parse(text)).toMatchObject({
      type: 'ADDED',
      object: { apiVersion: `${group}/v2`, spec: { endpoint: { host: 'a' } } },
    });
  }
  expect(backend.callsTo(hook).length).toBe(1);
}, 15_000);

it('labels and annotations may change, and the rest of the metadata comes back as it was', async () => {
  const { v1, v2, group, hook } = await define();
  await send('POST', v1, old(group, 'a'));
  const changed = { labels: { added: 'yes' }, finalizers: ['example.io/held'], generation: 7 };
  backend.behave(
    hook,
    converting((gates) => gates.map((gate) => ({ ...gate, metadata: { ...gate.metadata, ...changed } }))),
  );
  const { body } = await send('GET', `${v2}/a`);
  expect(body.metadata).toMatchObject({ labels: { added: 'yes' }, generation: 1 });
  expect(body.metadata.finalizers).toBeUndefined();
});

describe('a webhook that answers what it should not', () => {
  const withMetadata = (more: object) => (gates: readonly Gate[]) =>
    gates.map((gate) => ({ ...gate, metadata: { ...gate.metadata, ...more } }));
  const lies: readonly (readonly [string, Behaviour, string])[] = [
    [
      'another name',
      converting(withMetadata({ name: 'evil' })),
      'returned invalid object: must have the same name: a != evil',
    ],
    ['another uid', converting(withMetadata({ uid: 'evil' })), 'returned invalid object: must have the same UID: '],
    [
      'a label that is none',
      converting(withMetadata({ labels: { 'a b': 'c' } })),
      'returned invalid metadata: metadata.labels: ',
    ],
    ['no objects', converting(() => []), 'returned 0 objects, expected 1'],
    ['no map', converting(() => [1]), 'failed: the converted object is no map'],
    [
      'the version that it was sent',
      converting((gates) => gates.map((gate) => ({ ...gate, apiVersion: 'x/v1' }))),
      'invalid groupVersion',
    ],
    [
      'no metadata',
      converting((gates) => gates.map(({ metadata: _none, ...gate }) => gate)),
      'must have the same name: a != ',
    ],
    ['a failure', { result: { status: 'Failure', message: 'not today' } }, 'failed: not today'],
    ['another review', { ...SUCCESS, uid: 'wrong', convertedObjects: [] }, 'got "wrong"'],
    ['no JSON', (_call, response) => void response.end('hello'), 'json parse error'],
    ['status 500', (_call, response) => void response.writeHead(500).end('oops'), 'an error on the server ("oops")'],
    ['10 MB', (_call, response) => void response.end(Buffer.alloc(10 * 1024 * 1024, ' ')), 'the answer is longer than'],
    ['nothing', (_call, response) => void response.destroy(), 'failed: Post "https://localhost:'],
    [
      'half of what it has announced',
      (_call, response) => {
        response.writeHead(200, { 'content-length': '1000' });
        response.write('{"kind":', () => response.destroy());
      },
      'failed: Post "https://localhost:',
    ],
    ['half a JSON', (_call, response) => void response.end('{"kind":"ConversionReview",'), 'json parse error'],
    [
      'lists in lists without end',
      (_call, response) => void response.end('['.repeat(1_000_000)),
      'failed: exceeded max depth',
    ],
    [
      'a million values',
      converting((gates) => gates.map((gate) => ({ ...gate, spec: { host: Array(1_000_000).fill({}) } }))),
      'failed: ',
    ],
    ['two objects', converting((gates) => [...gates, ...gates]), 'returned 2 objects, expected 1'],
    [
      'another kind',
      converting((gates) => gates.map((gate) => ({ ...gate, kind: 'Door' }))),
      'invalid kind (expected Gate, received Door)',
    ],
    [
      'another namespace',
      converting(withMetadata({ namespace: 'evil' })),
      'returned invalid object: must have the same namespace:  != evil',
    ],
    [
      'an annotation that is no text',
      converting(withMetadata({ annotations: { a: 1 } })),
      'returned invalid metadata: metadata.annotations[a] must be a string, but is int64 in converted object',
    ],
    [
      'the success of another version of reviews',
      (call, response) => {
        const { uid } = call.review.request;
        const answer = { uid, ...SUCCESS, convertedObjects: convertedObjects(call) };
        const { kind } = call.review;
        response.end(JSON.stringify({ kind, apiVersion: 'apiextensions.k8s.io/v1beta1', response: answer }));
      },
      'unknown conversion',
    ],
  ];

  it.each(lies)('%s: the object cannot be read, and other versions can', async (_what, behaviour, message) => {
    const { v1, v2, group, hook } = await define();
    await send('POST', v1, old(group, 'a'));
    backend.behave(hook, behaviour);
    for (const path of [`${v2}/a`, v2]) {
      const { status, body } = await send('GET', path);
      expect(status).toBe(500);
      expect(body.message).toContain(`conversion webhook for ${group}/v1, Kind=Gate `);
      expect(body.message).toContain(message);
    }
    expect((await send('GET', `${v1}/a`)).status).toBe(200);
  });

  it('what it lies about is written by nobody, and a watch that would tell it ends with the error', async () => {
    const { v1, v2, group, hook } = await define();
    await send('POST', v1, old(group, 'a'));
    const { body } = await send('GET', v2);
    backend.behave(hook, converting(withMetadata({ uid: 'evil' })));
    const query = `?watch=1&timeoutSeconds=20&resourceVersion=${body.metadata.resourceVersion ?? ''}`;
    const watching = client.sendText('GET', v2 + query);
    await send('POST', v1, old(group, 'b'));
    expect(JSON.parse((await watching).text)).toMatchObject({
      type: 'ERROR',
      object: { message: expect.stringContaining('must have the same UID') as string },
    });
    const patch = { metadata: { labels: { changed: 'yes' } } };
    expect((await send('PATCH', `${v2}/a`, patch, 'application/merge-patch+json')).status).toBe(500);
    expect((await send('POST', v2, { ...old(group, 'c'), apiVersion: `${group}/v2` })).status).toBe(500);
    const names = (await send('GET', v1)).body['items'] as readonly { readonly metadata: object }[];
    expect(names.map(({ metadata }) => metadata)).toEqual([
      expect.not.objectContaining({ labels: expect.anything() as object }),
      expect.objectContaining({ name: 'b' }),
    ]);
    backend.behave(hook, converting());
    expect((await send('GET', `${v2}/a`)).body['spec']).toEqual({ endpoint: { host: 'a' } });
  });

  it('a slow one holds up nobody but those who ask for its objects', async () => {
    const { v1, v2, group, hook } = await define();
    await send('POST', v1, old(group, 'a'));
    let release: (() => void) | undefined;
    backend.behave(hook, (call, response) => {
      release = () => respond(call, response, { ...SUCCESS, convertedObjects: convertedObjects(call) });
    });
    const reading = send('GET', `${v2}/a`);
    await until(
      () => send('GET', `${v1}/a`),
      ({ status }) => status === 200 && release !== undefined,
    );
    release?.();
    expect((await reading).status).toBe(200);
  });
});

it('an apply in one version conflicts with the owner in another', async () => {
  const { v1, v2, group } = await define();
  const apply = (path: string, manager: string, body: object): Promise<RawResponse> =>
    send('PATCH', `${path}/a?fieldManager=${manager}`, body, 'application/apply-patch+yaml');
  expect((await apply(v1, 'one', old(group, 'a'))).status).toBe(201);
  const other = { ...old(group, 'a'), apiVersion: `${group}/v2`, spec: { endpoint: { host: 'b' } } };
  const { status, body } = await apply(v2, 'two', other);
  expect(status).toBe(409);
  expect(body.message).toContain('.spec.host');
});

it('the scale of an object that does not exist is not found, and one without replicas gets them', async () => {
  const group = 'scaled.example.io';
  const spec = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  await send('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: `gates.${group}` },
    spec: {
      group,
      scope: 'Cluster',
      names: { plural: 'gates', kind: 'Gate' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties: { spec, status: spec } } },
          subresources: { scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } },
        },
      ],
    },
  });
  const path = `/apis/${group}/v1/gates`;
  await until(
    () => send('GET', path),
    ({ status }) => status === 200,
  );
  const scale = (name: string) => ({
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    metadata: { name },
    spec: { replicas: 4 },
  });
  expect((await send('PUT', `${path}/gone/scale`, scale('gone'))).status).toBe(404);
  await send('POST', path, { apiVersion: `${group}/v1`, kind: 'Gate', metadata: { name: 'a' }, spec: {} });
  expect((await send('PUT', `${path}/a/scale`, scale('a'))).body['spec']).toEqual({ replicas: 4 });
});
