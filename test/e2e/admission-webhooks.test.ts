import { once } from 'node:events';
import { createServer as createPlainServer } from 'node:http';
import { createSecureServer } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { startApiServer, type ApiServer } from '../../src';
import type { KubeObject } from '../../src/api/object';
import { RawClient, type RawResponse } from '../support/raw-client';
import { servingKeys } from '../support/serving-keys';
import { until } from '../support/until';
import { respond, caBundle, patched, WebhookBackend, type Behaviour } from '../support/webhook-backend';

/** Admission webhooks as users have them: configurations in the server, backends on loopback over TLS. */

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

const GROUP = '/apis/admissionregistration.k8s.io/v1';
const MAPS = '/api/v1/namespaces/default/configmaps';
const allMaps = { operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] };

const send = (method: string, path: string, body?: object): Promise<RawResponse> =>
  client.send(method, path, body && JSON.stringify(body));

/** A webhook for ConfigMaps with the label `case` of this value. */
function hookFor(value: string, clientConfig: object, more: object = {}): object {
  return {
    name: `${value}.example.io`,
    clientConfig,
    rules: [allMaps],
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    objectSelector: { matchLabels: { case: value } },
    ...more,
  };
}

/** Registers webhooks and waits until the server calls them. */
async function register(kind: 'mutating' | 'validating', ...webhooks: readonly object[]): Promise<string> {
  const name = `c${made++}`;
  const path = `${GROUP}/${kind}webhookconfigurations`;
  const probe = hookFor(`${name}-probe`, backend.clientConfig(`/${name}-probe`, { allowed: true }));
  const { status, body } = await send('POST', path, { metadata: { name }, webhooks: [...webhooks, probe] });
  if (status !== 201) throw new Error(body.message);
  await until(
    () => send('POST', `${MAPS}?dryRun=All`, configMap(`${name}-probe`)),
    () => backend.callsTo(`/${name}-probe`).length > 0,
  );
  return name;
}

function configMap(value: string, more: object = {}): KubeObject {
  return { metadata: { name: `m${made++}`, labels: { case: value } }, ...more };
}

const create = (value: string, more?: object, query = ''): Promise<RawResponse> =>
  send('POST', MAPS + query, configMap(value, more));

describe('a mutating webhook', () => {
  it('changes what is stored, and the next one sees the change', async () => {
    const one = backend.clientConfig('/one', patched({ op: 'add', path: '/data', value: { one: '1' } }));
    const two = backend.clientConfig('/two', patched({ op: 'add', path: '/data/two', value: '2' }));
    await register('mutating', hookFor('chain', one), hookFor('chain', two, { name: 'second.example.io' }));
    const { status, body } = await create('chain');
    expect(status).toBe(201);
    expect(body['data']).toEqual({ one: '1', two: '2' });
    const [called] = backend.callsTo('/two');
    expect(called?.url).toBe('/two?timeout=10s');
    expect(called?.review.request.object).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1', data: { one: '1' } });
  });

  it('that wants it is called again when a later one has changed the object', async () => {
    const early = backend.clientConfig('/early', { allowed: true });
    const late = backend.clientConfig('/late', patched({ op: 'add', path: '/data', value: {} }));
    const again = { reinvocationPolicy: 'IfNeeded' };
    await register('mutating', hookFor('again', early, again), hookFor('again', late, { name: 'late.example.io' }));
    await create('again');
    // A patch that adds an empty map changes nothing.
    expect(backend.callsTo('/early')).toHaveLength(1);
    backend.behave('/late', patched({ op: 'add', path: '/data', value: { k: 'v' } }));
    await create('again');
    expect(backend.callsTo('/early')).toHaveLength(3);
    expect(backend.callsTo('/late')).toHaveLength(2);
  });

  it('cannot change what is deleted', async () => {
    await register('mutating', hookFor('doomed', backend.clientConfig('/doomed', { allowed: true })));
    const { body: stored } = await create('doomed');
    backend.behave('/doomed', patched({ op: 'add', path: '/data', value: {} }));
    const path = `${MAPS}/${stored.metadata.name ?? ''}`;
    const { status, body } = await send('DELETE', path);
    expect(status).toBe(500);
    expect(body.message).toContain('attempted to modify the object, which is not supported for this operation');
    backend.behave('/doomed', { allowed: true });
    expect((await send('DELETE', path)).status).toBe(200);
  });

  it.each([
    ['operations that do not apply', [{ op: 'remove', path: '/data/none' }], 'Unable to remove nonexistent key: none'],
    ['another kind', [{ op: 'replace', path: '/kind', value: 'Secret' }], 'no kind "Secret" is registered'],
    ['a field of another type', [{ op: 'add', path: '/data', value: 'text' }], 'cannot unmarshal string'],
    ['no list', 'text', 'a JSON patch must be a list of operations'],
    ['too many operations', Array.from({ length: 10_001 }, () => ({})), 'the allowed maximum operations'],
    [
      'what makes the object huge',
      [
        { op: 'add', path: '/data', value: { a: 'x'.repeat(2 * 1024 * 1024) } },
        { op: 'copy', from: '/data/a', path: '/data/b' },
      ],
      'the patched object is larger than 3145728 bytes',
    ],
    [
      'what nests without end',
      [
        { op: 'add', path: '/data', value: { a: {} } },
        ...Array.from({ length: 20 }, () => ({ op: 'copy', from: '/data', path: '/data/a' })),
      ],
      'Internal error occurred',
    ],
  ])('is not believed a patch with %s', async (_what, patch, message) => {
    const value = `patch${made++}`;
    const bytes = Buffer.from(JSON.stringify(patch)).toString('base64');
    const response = { allowed: true, patchType: 'JSONPatch', patch: bytes };
    await register('mutating', hookFor(value, backend.clientConfig(`/${value}`, response)));
    const { status, body } = await create(value);
    expect(status).toBe(500);
    expect(body.message).toContain(message);
  });

  it('may change a large object in a large way', async () => {
    const data = Object.fromEntries(Array.from({ length: 8_000 }, (_, index) => [`key-${index}`, 'x'.repeat(40)]));
    await register(
      'mutating',
      hookFor('large', backend.clientConfig('/large', patched({ op: 'add', path: '/data', value: data }))),
    );
    const { status, body } = await create('large', { data: { ...data, more: 'y' } });
    expect(status).toBe(201);
    expect(body['data']).toEqual(data);
  });

  it('changes the replicas of a Scale, and sees it as one', async () => {
    const scale = {
      operations: ['UPDATE'],
      apiGroups: ['apps'],
      apiVersions: ['v1'],
      resources: ['deployments/scale'],
    };
    const hook = backend.clientConfig('/scale', patched({ op: 'replace', path: '/spec/replicas', value: 4 }));
    await register('mutating', hookFor('scale', hook, { rules: [scale], objectSelector: {} }));
    const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    const deployments = '/apis/apps/v1/namespaces/default/deployments';
    const spec = { selector: { matchLabels: { a: 'b' } }, template };
    await send('POST', deployments, { metadata: { name: 'scaled' }, spec });
    const body = { metadata: { name: 'scaled', namespace: 'default' }, spec: { replicas: 9 } };
    expect((await send('PUT', `${deployments}/scaled/scale`, body)).body['spec']).toEqual({ replicas: 4 });
    const [called] = backend.callsTo('/scale');
    expect(called?.review.request.object).toMatchObject({
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      spec: { replicas: 9 },
    });
    expect(called?.review.request.oldObject).toMatchObject({ kind: 'Scale', spec: { replicas: 1 } });
    expect((await send('GET', `${deployments}/scaled`)).body['spec']).toMatchObject({ replicas: 4 });
  });
});

it('what a mutating webhook adds to a Binding comes onto the pod', async () => {
  const rule = { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods/binding'] };
  const annotations = patched({ op: 'add', path: '/metadata/annotations', value: { placed: 'by hook' } });
  const hook = backend.clientConfig('/binding', annotations);
  await register('mutating', hookFor('binding', hook, { rules: [rule], objectSelector: {} }));
  const pods = '/api/v1/namespaces/default/pods';
  await send('POST', pods, { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } });
  const target = { kind: 'Node', name: 'n' };
  expect((await send('POST', `${pods}/p/binding`, { metadata: { name: 'p' }, target })).status).toBe(201);
  expect((await send('GET', `${pods}/p`)).body.metadata.annotations).toEqual({ placed: 'by hook' });
});

it('a namespace that waits for its contents to go is deleted again without a question', async () => {
  const rule = { operations: ['DELETE'], apiGroups: [''], apiVersions: ['v1'], resources: ['namespaces'] };
  const hook = backend.clientConfig('/going', { allowed: true });
  await register('validating', hookFor('going', hook, { rules: [rule], objectSelector: {} }));
  const namespaces = '/api/v1/namespaces';
  await send('POST', namespaces, { metadata: { name: 'going' } });
  const held = { metadata: { name: 'held', finalizers: ['example.io/held'] } };
  await send('POST', `${namespaces}/going/configmaps`, held);
  await send('DELETE', `${namespaces}/going`);
  await send('DELETE', `${namespaces}/going`);
  const calls = backend.callsTo('/going').map(({ review }) => review.request);
  expect(calls).toHaveLength(1);
  expect(calls[0]).toMatchObject({ name: 'going', namespace: 'going', options: { preconditions: {} } });
});

describe('a validating webhook', () => {
  it('refuses with its own code, reason and message', async () => {
    const status = { code: 409, reason: 'Conflict', message: 'not today' };
    await register('validating', hookFor('refused', backend.clientConfig('/refused', { allowed: false, status })));
    const { status: code, body } = await create('refused');
    expect(code).toBe(409);
    expect(body).toMatchObject({
      reason: 'Conflict',
      message: 'admission webhook "refused.example.io" denied the request: not today',
    });
  });

  it('warns the client', async () => {
    const response = { allowed: true, warnings: ['be careful'] };
    await register('validating', hookFor('warned', backend.clientConfig('/warned', response)));
    expect((await create('warned')).warning).toBe('299 - "be careful"');
  });

  it('with side effects is not called on a dry run, which is refused', async () => {
    const hook = hookFor('dry', backend.clientConfig('/dry', { allowed: true }), { sideEffects: 'Some' });
    const beta = '/apis/admissionregistration.k8s.io/v1beta1/validatingwebhookconfigurations';
    expect((await send('POST', beta, { metadata: { name: 'dry' }, webhooks: [hook] })).status).toBe(201);
    await until(
      () => create('dry'),
      () => backend.callsTo('/dry').length > 0,
    );
    const before = backend.callsTo('/dry').length;
    const { status, body } = await create('dry', {}, '?dryRun=All');
    expect({ status, message: body.message }).toEqual({
      status: 400,
      message: 'admission webhook "dry.example.io" does not support dry run',
    });
    expect(backend.callsTo('/dry')).toHaveLength(before);
  });

  it('is asked about connections', async () => {
    const exec = { operations: ['CONNECT'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods/exec'] };
    const response = { allowed: false, status: { code: 403, message: 'no shells' } };
    const hook = hookFor('exec', backend.clientConfig('/exec', response), { rules: [exec], objectSelector: {} });
    await register('validating', hook);
    const { status } = await send('POST', '/api/v1/namespaces/default/pods/p/exec?command=sh');
    expect(status).toBe(403);
    const [called] = backend.callsTo('/exec');
    expect(called?.review.request).toMatchObject({
      operation: 'CONNECT',
      subResource: 'exec',
      object: { kind: 'PodExecOptions', apiVersion: 'v1', command: ['sh'] },
      options: null,
    });
  });

  it('sees another version of what is written where it is registered for that one', async () => {
    const rule = {
      operations: ['CREATE'],
      apiGroups: ['networking.k8s.io'],
      apiVersions: ['v1'],
      resources: ['ingresses'],
    };
    const equivalent = backend.clientConfig('/equivalent', { allowed: true });
    const exact = backend.clientConfig('/exact', { allowed: true });
    const hook = { rules: [rule], objectSelector: {} };
    await register(
      'validating',
      hookFor('equivalent', equivalent, hook),
      hookFor('exact', exact, { ...hook, matchPolicy: 'Exact' }),
    );
    const body = {
      metadata: { name: 'i' },
      spec: { rules: [{ http: { paths: [{ backend: { serviceName: 's', servicePort: 80 } }] } }] },
    };
    const path = '/apis/networking.k8s.io/v1beta1/namespaces/default/ingresses';
    expect((await send('POST', path, body)).status).toBe(201);
    expect(backend.callsTo('/exact')).toHaveLength(0);
    const [called] = backend.callsTo('/equivalent');
    expect(called?.review.request).toMatchObject({
      kind: { group: 'networking.k8s.io', version: 'v1', kind: 'Ingress' },
      requestKind: { group: 'networking.k8s.io', version: 'v1beta1', kind: 'Ingress' },
      object: {
        apiVersion: 'networking.k8s.io/v1',
        spec: { rules: [{ http: { paths: [{ backend: { service: { name: 's', port: { number: 80 } } } }] } }] },
      },
    });
  });

  it('with conditions is asked where all of them hold', async () => {
    const matchConditions = [
      { name: 'by-a-user', expression: "request.userInfo.username != '' && request.operation == 'CREATE'" },
      { name: 'wanted', expression: "has(object.data) && 'wanted' in object.data" },
    ];
    const hook = backend.clientConfig('/conditional', { allowed: true });
    await register('validating', hookFor('conditional', hook, { matchConditions }));
    expect((await create('conditional')).status).toBe(201);
    expect(backend.callsTo('/conditional')).toHaveLength(0);
    expect((await create('conditional', { data: { wanted: 'yes' } })).status).toBe(201);
    expect(backend.callsTo('/conditional')).toHaveLength(1);
  });

  it('has conditions that see objects in the version that it is registered for', async () => {
    const scalers = { operations: ['*'], apiGroups: ['autoscaling'], apiVersions: ['v1'], resources: ['*'] };
    const expression = 'object.spec.targetCPUUtilizationPercentage == 90 && request.requestKind.version == "v2"';
    const hook = backend.clientConfig('/scalers', { allowed: true });
    const matchConditions = [{ name: 'versioned', expression }];
    await register('validating', hookFor('scalers', hook, { rules: [scalers], matchConditions }));
    const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };
    const target = { type: 'Utilization', averageUtilization: 90 };
    const { status, body } = await send('POST', '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers', {
      metadata: { name: 'web', labels: { case: 'scalers' } },
      spec: { scaleTargetRef, maxReplicas: 3, metrics: [{ type: 'Resource', resource: { name: 'cpu', target } }] },
    });
    expect({ status, message: body.message }).toEqual({ status: 201, message: undefined });
    expect(backend.callsTo('/scalers')).toHaveLength(1);
  });

  it('whose conditions have no value fails as its failurePolicy says', async () => {
    const matchConditions = [{ name: 'failing', expression: "object.data.missing == 'x'" }];
    const hook = backend.clientConfig('/failing', { allowed: true });
    await register('validating', hookFor('failing', hook, { matchConditions }));
    const { status, body } = await create('failing');
    expect(status).toBe(403);
    expect(body.message).toContain("expression 'failing' resulted in error: no such key: ");
    expect(backend.callsTo('/failing')).toHaveLength(0);
  });

  it('is never asked about webhooks', async () => {
    const everything = { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] };
    const nobody = hookFor(
      'all',
      { url: 'https://127.0.0.1:1/', caBundle: caBundle() },
      { rules: [everything], objectSelector: {} },
    );
    const path = `${GROUP}/validatingwebhookconfigurations`;
    await send('POST', path, { metadata: { name: 'locks-out' }, webhooks: [nobody] });
    const refused = await until(
      () => send('POST', `${MAPS}?dryRun=All`, configMap('any')),
      ({ status }) => status === 500,
    );
    expect(refused.body.message).toContain('failed calling webhook "all.example.io"');
    expect((await send('DELETE', `${path}/locks-out`)).status).toBe(200);
    await until(
      () => create('any'),
      ({ status }) => status === 201,
    );
  });
});

describe('a backend', () => {
  const behaviours: readonly (readonly [string, Behaviour, string])[] = [
    ['breaks the connection', (_call, response) => response.destroy(), 'EOF'],
    ['answers with half an answer', half, 'EOF'],
    ['answers too much', tooMuch, 'the answer is longer than 5242880 bytes'],
    ['answers something else', (_call, response) => response.end('hello'), "couldn't get version/kind"],
    ['answers nothing', (_call, response) => response.end(), '0-length response with status code: 200'],
    ['redirects', redirect, 'the server responded with the status code 307'],
    ['is broken', broken, 'an error on the server ("oops") has prevented the request from succeeding'],
    ['answers another question', { uid: 'other', allowed: true }, 'got "other"'],
    ['answers in another version', otherVersion, 'unknown conversion'],
    ['answers with a kind of its own', otherKind, 'no kind "Pod" is registered'],
    ['leaves out what it answers', (_call, response) => response.end('{}'), 'webhook response was absent'],
    [
      'patches, though it only validates',
      patched({ op: 'add', path: '/data', value: {} }),
      'may not return response.patch',
    ],
    ['says yes with a text', { allowed: 'true' }, 'response.allowed is no boolean'],
  ];

  it.each(behaviours)('that %s is not believed', async (_what, behaviour, message) => {
    const value = `lie${made++}`;
    await register(
      'validating',
      hookFor(value, backend.clientConfig(`/${value}`, behaviour)),
      hookFor(`${value}-open`, backend.clientConfig(`/${value}`, behaviour), { failurePolicy: 'Ignore' }),
    );
    const { status, body } = await create(value);
    expect(status).toBe(500);
    expect(body.message).toContain(`Internal error occurred: failed calling webhook "${value}.example.io": `);
    expect(body.message).toContain(message);
    expect(backend.callsTo(`/${value}`)).toHaveLength(1);
    expect((await create(`${value}-open`)).status).toBe(201);
  });

  it('that is down, or cannot prove who it is, is not believed', async () => {
    const { url } = backend.clientConfig('/proper', { allowed: true });
    await register(
      'validating',
      hookFor('down', { url: 'https://127.0.0.1:1/', caBundle: caBundle() }),
      hookFor('untrusted', { url }),
      hookFor('misnamed', { url: url.replace('localhost', '127.0.0.1'), caBundle: caBundle() }),
      hookFor('missing', { service: { namespace: 'default', name: 'missing' }, caBundle: caBundle() }),
    );
    const messageFor = async (value: string): Promise<string | undefined> => (await create(value)).body.message;
    expect(await messageFor('down')).toContain('connection refused');
    expect(await messageFor('untrusted')).toContain('certificate signed by unknown authority');
    expect(await messageFor('misnamed')).toContain('x509: ');
    expect(await messageFor('missing')).toContain('service "missing" not found');
    expect(backend.callsTo('/proper')).toHaveLength(0);
  });

  it('that speaks HTTP without TLS, or HTTP/2 only, is not believed', async () => {
    const plain = createPlainServer().listen(0, '127.0.0.1');
    const { certificatePem: cert, privateKeyPem: key } = servingKeys();
    const modern = createSecureServer({ cert, key }).listen(0, '127.0.0.1');
    // Whoever offers no protocol that it knows is told so, and gone.
    modern.on('unknownProtocol', (socket: Socket) => socket.destroy());
    for (const one of [plain, modern]) if (!one.listening) await once(one, 'listening');
    const portOf = (one: { address(): unknown }): number => (one.address() as AddressInfo).port;
    try {
      await register(
        'validating',
        hookFor('plain', { url: `https://localhost:${portOf(plain)}/`, caBundle: caBundle() }),
        hookFor('modern', { url: `https://localhost:${portOf(modern)}/`, caBundle: caBundle() }),
      );
      expect((await create('plain')).body.message).toContain('http: server gave HTTP response to HTTPS client');
      expect((await create('modern')).body.message).toContain('failed calling webhook "modern.example.io": Post ');
    } finally {
      await Promise.all([plain, modern].map((one) => new Promise((resolve) => one.close(resolve))));
    }
  });

  it('that takes too long is not waited for, and holds up nobody else', async () => {
    const waiting: (() => void)[] = [];
    const slow: Behaviour = (call, response) => void waiting.push(() => respond(call, response, { allowed: true }));
    await register('validating', hookFor('slow', backend.clientConfig('/slow', slow), { timeoutSeconds: 1 }));
    const held = create('slow');
    await until(
      async () => waiting.length,
      (count) => count === 1,
    );
    expect((await create('other')).status).toBe(201);
    const { status, body } = await held;
    expect(status).toBe(500);
    expect(body.message).toContain('/slow?timeout=1s": context deadline exceeded');
  });

  it('behind a service proves that it is the service', async () => {
    await using behind = await WebhookBackend.start(servingKeys(undefined, 'hook.default.svc'));
    const { port } = behind;
    const spec = { type: 'ExternalName', externalName: 'localhost', ports: [{ port }] };
    await send('POST', '/api/v1/namespaces/default/services', { metadata: { name: 'hook' }, spec });
    const service = { namespace: 'default', name: 'hook', port, path: '/a' };
    behind.clientConfig('/a', { allowed: false, status: { message: 'reached' } });
    await register(
      'validating',
      hookFor('behind', { service, caBundle: caBundle() }),
      hookFor('elsewhere', { service: { ...service, name: 'other' }, caBundle: caBundle() }),
    );
    expect((await create('behind')).body.message).toContain('denied the request: reached');
    expect(behind.calls[0]?.headers.host).toBe(`hook.default.svc:${port}`);
    await send('POST', '/api/v1/namespaces/default/services', { metadata: { name: 'other' }, spec });
    expect((await create('elsewhere')).body.message).toContain('x509: ');
  });

  it('may be this server itself, which it calls as nobody in particular', async () => {
    const service = { namespace: 'default', name: 'kubernetes', path: '/apis/reviews.example.io/v1/reviews' };
    await register('validating', hookFor('ourselves', { service }));
    expect((await create('ourselves')).body.message).toContain(
      'User "system:anonymous" cannot create resource "reviews"',
    );
  });

  it('is called over connections that are kept', async () => {
    await register('validating', hookFor('kept', backend.clientConfig('/kept', { allowed: true })));
    for (let count = 0; count < 4; count++) await create('kept');
    expect(new Set(backend.callsTo('/kept').map(({ port }) => port)).size).toBe(1);
  });
});

it('counts calls, refusals and failures that were let pass', async () => {
  const refusing = backend.clientConfig('/counted', { allowed: false, status: { code: 700 } });
  const failing = { url: 'https://127.0.0.1:1/', caBundle: caBundle() };
  await register(
    'validating',
    hookFor('counted', refusing),
    hookFor('opened', failing, { failurePolicy: 'Ignore' }),
    hookFor('closed', failing),
  );
  for (const value of ['counted', 'opened', 'closed']) await create(value);
  const { text } = await client.sendText('GET', '/metrics', undefined, null, 'text/plain');
  const lines = text
    .split('\n')
    .filter((line) => /name="(counted|opened|closed)\./.test(line) && !line.includes('duration'));
  const value = (name: string, labels: object): string =>
    `${name}{${Object.entries(labels)
      .map(([label, text]) => `${label}="${text}"`)
      .join(',')}} 1`;
  const [create1, validating] = [{ operation: 'CREATE' }, { type: 'validating' }];
  const rejection = 'apiserver_admission_webhook_rejection_count';
  expect(lines).toEqual(
    expect.arrayContaining([
      value(rejection, {
        error_type: 'no_error',
        name: 'counted.example.io',
        ...create1,
        rejection_code: '600',
        ...validating,
      }),
      value(rejection, {
        error_type: 'calling_webhook_error',
        name: 'closed.example.io',
        ...create1,
        rejection_code: '0',
        ...validating,
      }),
      value('apiserver_admission_webhook_fail_open_count', { name: 'opened.example.io', ...validating }),
    ]),
  );
  expect(lines.filter((line) => line.startsWith('apiserver_admission_webhook_request_total'))).toHaveLength(3);
});

type Responder = Extract<Behaviour, (...of: never[]) => unknown>;

function half(...[, response]: Parameters<Responder>): void {
  response.setHeader('Content-Length', 1000);
  response.write('{"apiVersion":');
  response.socket?.destroySoon();
}

function tooMuch(...[, response]: Parameters<Responder>): void {
  const chunk = ' '.repeat(1024 * 1024);
  response.on('error', () => undefined);
  for (let count = 0; count < 10; count++) response.write(chunk);
  response.end();
}

function redirect(...[, response]: Parameters<Responder>): void {
  response.writeHead(307, { Location: '/proper' }).end();
}

function broken(...[, response]: Parameters<Responder>): void {
  response.writeHead(500, { 'Content-Type': 'text/plain' }).end('oops');
}

function otherVersion(...[{ review }, response]: Parameters<Responder>): void {
  const { kind, request } = review;
  const apiVersion = 'admission.k8s.io/v1beta1';
  response.end(JSON.stringify({ apiVersion, kind, response: { uid: request.uid, allowed: true } }));
}

function otherKind(...[{ review }, response]: Parameters<Responder>): void {
  const { apiVersion, request } = review;
  response.end(JSON.stringify({ apiVersion, kind: 'Pod', response: { uid: request.uid, allowed: true } }));
}
