import { once } from 'node:events';
import { connect, type ClientHttp2Session } from 'node:http2';
import { startApiServer, type ApiServer } from '../../src';
import { adminCredentials } from '../support/admin-client';

/**
 * Names that every JavaScript object has, wherever clients choose names: they are names like any other, never those of
 * functions or of the prototype. Bodies are written as text, since `{ __proto__: 1 }` in a test is no member.
 */

const NAMES = ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf'];
/** `__proto__` is no label: labels begin and end with a letter or digit. */
const LABELS = NAMES.filter((name) => name !== '__proto__');
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const WIDGETS = '/apis/example.com/v1/namespaces/default/widgets';

interface Response {
  readonly status: number;
  readonly text: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- answers are looked into freely
  readonly body: any;
}

let server: ApiServer;
let session: ClientHttp2Session;

beforeAll(async () => {
  server = await startApiServer();
  const { certificateAuthority: ca, clientCertificate: cert, clientKey: key } = adminCredentials(server);
  session = connect(server.url, { ca, cert, key });
  await once(session, 'connect');
}, 30_000);
afterAll(async () => {
  session.close();
  await server.stop();
});

async function send(method: string, path: string, text?: string, contentType = 'application/json'): Promise<Response> {
  const stream = session.request(
    { ':method': method, ':path': path, ...(text === undefined ? {} : { 'content-type': contentType }) },
    { endStream: text === undefined },
  );
  if (text !== undefined) stream.end(text);
  let status = 0;
  stream.on('response', (headers) => (status = headers[':status'] ?? 0));
  const pieces: Buffer[] = [];
  for await (const piece of stream) pieces.push(piece as Buffer);
  const body = Buffer.concat(pieces).toString();
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    parsed = undefined;
  }
  return { status, text: body, body: parsed };
}

/** `"data":{"constructor":"v"}`, of all names. */
const dataOf = (value: string): string => `{${NAMES.map((name) => `"${name}":"${value}"`).join(',')}}`;

function expectData({ status, body }: Response, value: string): void {
  expect(status).toBeLessThan(300);
  expect(Object.entries(body.data as object).sort()).toEqual([...NAMES].sort().map((name) => [name, value]));
  expect(Object.getPrototypeOf(body.data)).toBe(Object.prototype);
}

describe('keys that every object has', () => {
  const path = `${CONFIG_MAPS}/hostile`;
  const whole = (value: string, more = ''): string =>
    `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"hostile"${more}},"data":${dataOf(value)}}`;

  it('are data of an object that is created, replaced and read', async () => {
    expectData(await send('POST', CONFIG_MAPS, whole('created')), 'created');
    expectData(await send('GET', path), 'created');
    expectData(await send('PUT', path, whole('replaced')), 'replaced');
    const { items } = (await send('GET', CONFIG_MAPS)).body as { items: { metadata: { name: string } }[] };
    const listed = items.find(({ metadata }) => metadata.name === 'hostile');
    expectData({ status: 200, text: '', body: listed }, 'replaced');
  });

  it.each([
    ['application/merge-patch+json', (value: string) => `{"data":${dataOf(value)}}`],
    ['application/strategic-merge-patch+json', (value: string) => `{"data":${dataOf(value)}}`],
    [
      'application/json-patch+json',
      (value: string) => `[${NAMES.map((name) => `{"op":"add","path":"/data/${name}","value":"${value}"}`).join(',')}]`,
    ],
  ])('are changed and removed by %s', async (type, patch) => {
    expectData(await send('PATCH', path, patch(type), type), type);
    const removal = type.includes('json-patch')
      ? `[${NAMES.map((name) => `{"op":"remove","path":"/data/${name}"}`).join(',')}]`
      : `{"data":{${NAMES.map((name) => `"${name}":null`).join(',')}}}`;
    const removed = await send('PATCH', path, removal, type);
    expect(removed.body.data ?? {}).toEqual({});
    expectData(await send('PATCH', path, `{"data":${dataOf('again')}}`, 'application/merge-patch+json'), 'again');
  });

  it('are owned by who applies them, and go when they are applied no more', async () => {
    const apply = (text: string) =>
      send('PATCH', `${CONFIG_MAPS}/applied?fieldManager=m`, text, 'application/apply-patch+yaml');
    const applied = whole('applied').replace('"hostile"', '"applied"');
    const { body } = await apply(applied);
    expectData({ status: 200, text: '', body }, 'applied');
    expect(Object.keys(body.metadata.managedFields[0].fieldsV1['f:data'] as object).sort()).toEqual(
      NAMES.map((name) => `f:${name}`).sort(),
    );
    const gone = await apply('{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"applied"},"data":{"k":"v"}}');
    expect(gone.body.data).toEqual({ k: 'v' });
  });

  it('are annotations, where their rules allow it', async () => {
    const annotations = `,"annotations":{${LABELS.map((name) => `"${name}":"a"`).join(',')}}`;
    const { status, body } = await send('PUT', path, whole('annotated', annotations));
    expect(status).toBe(200);
    expect(Object.keys(body.metadata.annotations as object).sort()).toEqual([...LABELS].sort());
    const refused = await send('PUT', path, whole('x', ',"annotations":{"__proto__":"a"}'));
    expect(refused.status).toBe(422);
  });
});

describe('labels and selectors', () => {
  it.each(LABELS)('find what has the label %s, and nothing else', async (name) => {
    const lower = name.toLowerCase();
    await send('POST', CONFIG_MAPS, `{"metadata":{"name":"with-${lower}","labels":{"${name}":"x"}}}`);
    await send('POST', CONFIG_MAPS, `{"metadata":{"name":"without-${lower}","labels":{"other":"x"}}}`);
    const names = async (selector: string): Promise<readonly string[]> => {
      const { body } = await send('GET', `${CONFIG_MAPS}?labelSelector=${encodeURIComponent(selector)}`);
      return (body.items as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name);
    };
    expect(await names(name)).toEqual([`with-${lower}`]);
    expect(await names(`${name}=x`)).toEqual([`with-${lower}`]);
    expect(await names(`!${name}`)).toContain(`without-${lower}`);
    expect(await names(`!${name}`)).not.toContain(`with-${lower}`);
  });

  it.each(NAMES)('refuse the field %s, and do not mind it as a parameter', async (name) => {
    expect((await send('GET', `${CONFIG_MAPS}?fieldSelector=${name}%3Dx`)).status).toBe(400);
    expect((await send('GET', `${CONFIG_MAPS}?${name}=x`)).status).toBe(200);
  });
});

describe('requests', () => {
  it.each(NAMES)('have %s for a method, path, group, resource, version or kind without any harm', async (name) => {
    for (const path of ['/', `/${name}`, `/api/${name}`, `/apis/${name}/${name}`, `/openapi/v3/apis/${name}/${name}`]) {
      expect((await send(name, path)).status).toBeLessThan(500);
      expect((await send('GET', path)).status).toBeLessThan(500);
    }
    expect((await send('GET', `/apis/${name}/v1/${name}`)).status).toBe(404);
    expect((await send('GET', `/api/v1/namespaces/default/${name}/x/${name}`)).status).toBe(404);
    expect((await send(name, `${CONFIG_MAPS}/x`)).status).toBeLessThan(500);
    const body = `{"apiVersion":"${name}","kind":"${name}","metadata":{"name":"x"}}`;
    expect((await send('POST', CONFIG_MAPS, body)).status).toBe(400);
    const { text } = await send('GET', '/metrics');
    expect(text).not.toMatch(/function |native code/);
    expect(text).toContain('verb="other"');
  });

  it.each(LABELS)('are about pods with %s among resources, phases and names', async (name) => {
    const pods = '/api/v1/namespaces/default/pods';
    const pod = (container: string): string =>
      `{"metadata":{"name":"p-${name.toLowerCase()}"},"spec":{"containers":[{"name":"c","image":"i"${container}}]}}`;
    expect((await send('POST', pods, pod(`,"resources":{"requests":{"${name}":"1"}}`))).status).toBe(422);
    const env = `,"env":[{"name":"E","valueFrom":{"resourceFieldRef":{"resource":"limits.${name}","divisor":"1"}}}]`;
    expect((await send('POST', pods, pod(env))).status).toBe(422);
    const created = await send('POST', pods, pod(''));
    expect(created.status).toBe(201);
    const status = `{"status":{"phase":"${name}"}}`;
    const patched = await send(
      'PATCH',
      `${pods}/p-${name.toLowerCase()}/status`,
      status,
      'application/merge-patch+json',
    );
    expect(patched.status).toBe(200);
    const stream = session.request({ ':path': pods, accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' });
    const pieces: Buffer[] = [];
    for await (const piece of stream) pieces.push(piece as Buffer);
    const table = JSON.parse(Buffer.concat(pieces).toString()) as { rows: { conditions?: readonly unknown[] }[] };
    expect(table.rows.flatMap(({ conditions = [] }) => conditions)).toEqual([]);
  });

  it('work in a namespace called constructor', async () => {
    const namespace = await send('POST', '/api/v1/namespaces', '{"metadata":{"name":"constructor"}}');
    expect(namespace.status).toBe(201);
    const path = '/api/v1/namespaces/constructor/configmaps';
    expect((await send('POST', path, '{"metadata":{"name":"constructor"}}')).status).toBe(201);
    expect((await send('GET', `${path}/constructor`)).status).toBe(200);
  });
});

describe('a custom resource with such properties', () => {
  const property = (name: string): string => `"${name}":{"type":"string"}`;
  const schema = `{"type":"object","properties":{"spec":{"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":{${NAMES.map(property).join(',')}}}}}`;
  const definition = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.example.com"},"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"widgets","kind":"Widget"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":${schema}}}]}}`;
  const widget = (name: string, spec: string): string =>
    `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"${name}"},"spec":${spec}}`;

  it('has them, and misses them, as any others', async () => {
    expect((await send('POST', DEFINITIONS, definition)).status).toBe(201);
    let created = await send('POST', WIDGETS, widget('all', dataOf('v')));
    while (created.status === 404) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      created = await send('POST', WIDGETS, widget('all', dataOf('v')));
    }
    expectData({ ...created, body: { data: created.body.spec } }, 'v');
    const read = await send('GET', `${WIDGETS}/all`);
    expectData({ ...read, body: { data: read.body.spec } }, 'v');
    const none = await send('POST', WIDGETS, widget('none', '{}'));
    expect(none.status).toBe(201);
    expect(Object.keys(none.body.spec as object)).toEqual([]);
    expect((await send('POST', WIDGETS, widget('wrong', `{"constructor":1}`))).status).toBe(422);
    const nested = `{"other":{"__proto__":{"a":1},"constructor":{"b":2}}}`;
    const kept = await send('POST', WIDGETS, widget('nested', nested));
    expect(JSON.stringify(kept.body.spec)).toBe(nested);
    const type = 'application/merge-patch+json';
    const patched = await send('PATCH', `${WIDGETS}/nested`, `{"spec":{"other":{"__proto__":{"c":3}}}}`, type);
    expect(JSON.stringify(patched.body.spec)).toBe('{"other":{"__proto__":{"a":1,"c":3},"constructor":{"b":2}}}');
  });

  it('is described as it was defined', async () => {
    for (const path of ['/openapi/v2', '/openapi/v3/apis/example.com/v1']) {
      const { status, body } = await send('GET', path);
      expect(status).toBe(200);
      const definitions = (body.definitions ?? body.components.schemas) as Record<string, { properties: object }>;
      const { spec } = definitions['com.example.v1.Widget']!.properties as { spec: { properties?: object } };
      // What is open-ended has no shape in v2.
      if (path !== '/openapi/v2') expect(Object.keys(spec.properties ?? {}).sort()).toEqual([...NAMES].sort());
    }
  });
});

it('left the prototype of all objects as it was', () => {
  expect(Object.keys(Object.prototype)).toEqual([]);
  const plain: Record<string, unknown> = {};
  for (const name of ['a', 'b', 'c', 'polluted']) expect(plain[name]).toBeUndefined();
});
