import { load } from 'js-yaml';
import { CONFIG_MAPS, CONTROLLERS, MERGE, servedOverHttp, type Response } from '../../test/support/served-over-http';
import { encodeEnvelope } from '../api/codec/protobuf-envelope';
import { encodeMessage } from '../api/codec/protobuf-encode';
import { printYaml } from '../api/codec/yaml-print';
import { loadBuiltinSchema } from '../api/schema/builtin-schema';
import type { StructType } from '../api/schema/model';
import { TextWorker } from '../worker/text-worker';
import { RequestContext } from './request/context';
import { MAX_BODY_VALUES } from './request/large-bodies';

const textWorker = new TextWorker();
const { send, open } = servedOverHttp({ textWorker });

const JSON_TYPE = 'application/json';
const YAML_TYPE = 'application/yaml';
const APPLY_TYPE = 'application/apply-patch+yaml';
const PROTOBUF_TYPE = 'application/vnd.kubernetes.protobuf';
const as = (type: string, user?: string): { readonly headers: Record<string, string> } => ({
  headers: { 'content-type': type, ...(user && { authorization: `Bearer ${user}` }) },
});
const mib = (megabytes: number): number => megabytes * 1024 * 1024;
const times = (text: string, bytes: number): string => text.repeat(Math.floor(bytes / text.length));

const data = Object.fromEntries(
  Array.from({ length: 3_000 }, (_, index) => [`key-${index}`, `value ${index}: ${'é'.repeat(50)}`]),
);
const configMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data });
const type = loadBuiltinSchema().kind('', 'v1', 'ConfigMap') as StructType;
const protobuf = (object: object): Buffer =>
  Buffer.from(encodeEnvelope({ apiVersion: 'v1', kind: 'ConfigMap', raw: encodeMessage(type, object) }));

describe('an object of some hundred kilobytes', () => {
  it.each([
    ['json', JSON_TYPE, JSON.stringify(configMap('json'))],
    ['indented', JSON_TYPE, JSON.stringify(configMap('indented'), null, 4)],
    ['yaml', YAML_TYPE, printYaml(configMap('yaml'))],
    ['json-as-yaml', YAML_TYPE, JSON.stringify(configMap('json-as-yaml'))],
    ['protobuf', PROTOBUF_TYPE, protobuf(configMap('protobuf'))],
  ])('is created, updated and read: %s', async (name, mediaType, body) => {
    const created = await send('POST', CONFIG_MAPS, { body, ...as(mediaType) });
    expect(created).toMatchObject({ status: 201, body: { metadata: { name }, data } });
    expect(created.body.metadata.managedFields).toHaveLength(1);
    expect((await send('PUT', `${CONFIG_MAPS}/${name}`, { body, ...as(mediaType) })).status).toBe(200);
    expect((await send('GET', `${CONFIG_MAPS}/${name}`)).body.data).toEqual(data);
  });

  it('is patched', async () => {
    const patch = { body: { data }, ...MERGE };
    await send('POST', CONFIG_MAPS, { body: { metadata: { name: 'patched' } } });
    const patched = await send('PATCH', `${CONFIG_MAPS}/patched`, { body: { data }, headers: MERGE });
    expect(patched).toMatchObject({ status: 200, body: { data } });
    expect((await send('PATCH', `${CONFIG_MAPS}/missing`, { body: patch.body, headers: MERGE })).status).toBe(404);
  });

  it.each([
    ['applied-json', JSON.stringify(configMap('applied-json'))],
    ['applied-yaml', printYaml(configMap('applied-yaml'))],
  ])('is applied: %s', async (name, body) => {
    const path = `${CONFIG_MAPS}/${name}?fieldManager=m&fieldValidation=Strict`;
    expect(await send('PATCH', path, { body, ...as(APPLY_TYPE) })).toMatchObject({ status: 201, body: { data } });
    expect(await send('PATCH', path, { body, ...as(APPLY_TYPE) })).toMatchObject({ status: 200, body: { data } });
  });

  it('is answered as YAML', async () => {
    await send('POST', CONFIG_MAPS, { body: configMap('printed') });
    const printed = await send('GET', `${CONFIG_MAPS}/printed`, { headers: { accept: YAML_TYPE } });
    const { body } = await send('GET', `${CONFIG_MAPS}/printed`);
    expect(printed.headers['content-type']).toBe(YAML_TYPE);
    expect(printed.text).toBe(printYaml(body));
    expect(load(printed.text)).toMatchObject({ data });
  });

  it('is an item of a list as YAML', async () => {
    const path = '/api/v1/namespaces/listed/configmaps';
    await send('POST', path, { body: { metadata: { name: 'a' } } });
    await send('POST', path, { body: configMap('b') });
    await send('POST', path, { body: { metadata: { name: 'c' }, data: { x: 'y' } } });
    const printed = await send('GET', path, { headers: { accept: YAML_TYPE } });
    expect(printed.text).toBe(printYaml((await send('GET', path)).body));
  });
});

describe('a small change of a large object', () => {
  const takeSteps = jest.spyOn(RequestContext.prototype, 'takeSteps');
  afterAll(() => takeSteps.mockRestore());

  it.each([
    ['a merge patch', MERGE, { data: { 'key-0': 'a' } }],
    ['a strategic patch', { 'content-type': 'application/strategic-merge-patch+json' }, { data: { 'key-0': 'b' } }],
    ['a JSON patch', { 'content-type': 'application/json-patch+json' }, [{ op: 'remove', path: '/data/key-1' }]],
    ['an apply', { 'content-type': APPLY_TYPE }, { apiVersion: 'v1', kind: 'ConfigMap', data: { more: 'a' } }],
    ['a PUT', as(JSON_TYPE).headers, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'changed' } }],
  ])('is made in steps: %s', async (name, headers, body) => {
    const large = `${CONFIG_MAPS}/changed`;
    const small = `${CONFIG_MAPS}/unchanged`;
    await send('POST', CONFIG_MAPS, { body: configMap('changed') });
    await send('POST', CONFIG_MAPS, { body: { ...configMap('unchanged'), data: { 'key-0': 'a', 'key-1': 'a' } } });
    const method = name === 'a PUT' ? 'PUT' : 'PATCH';
    const search = name === 'an apply' ? '?fieldManager=m' : '';
    takeSteps.mockClear();
    const renamed = name === 'a PUT' ? { ...body, metadata: { name: 'unchanged' } } : body;
    expect((await send(method, small + search, { body: renamed, headers })).status).toBe(200);
    expect(takeSteps).not.toHaveBeenCalled();
    expect((await send(method, large + search, { body, headers })).status).toBe(200);
    const taken = await Promise.all(takeSteps.mock.results.map(({ value }) => value as Promise<unknown>));
    // What was put together on the server is decoded so as well.
    expect(taken.filter((result) => 'unknownFields' in Object(result))).toHaveLength(method === 'PUT' ? 0 : 1);
  });

  it.each([
    ['a merge patch', MERGE, { data: { 'key-0': { a: 1 } } }],
    ['a strategic patch', { 'content-type': 'application/strategic-merge-patch+json' }, { immutable: { a: 1 } }],
    ['a JSON patch', { 'content-type': 'application/json-patch+json' }, [{ op: 'add', path: '/data/a', value: {} }]],
    ['an apply', { 'content-type': APPLY_TYPE }, { apiVersion: 'v1', kind: 'ConfigMap', immutable: 'a' }],
  ])('that does not fit is refused as of a small one: %s', async (_, headers, body) => {
    const refusals: string[] = [];
    for (const [name, own] of [
      ['unfit-large', data],
      ['unfit-small', { 'key-1': 'a' }],
    ] as const) {
      await send('POST', CONFIG_MAPS, { body: { ...configMap(name), data: own } });
      const { status, body: response } = await send('PATCH', `${CONFIG_MAPS}/${name}?fieldManager=m`, {
        body,
        headers,
      });
      // What the object is shown with differs.
      refusals.push(
        `${status} ${(response as { reason: string }).reason} ${(response.message as string).replace(/^.*: /, '')}`,
      );
    }
    expect(refusals[0]).toBe(refusals[1]);
    expect(refusals[0]).toMatch(/^4\d\d /);
  });
});

describe('what is wrong with a large body is said as of a small one', () => {
  const message = async (mediaType: string, body: string, search = ''): Promise<string> => {
    const { status, body: response } = await send('POST', CONFIG_MAPS + search, { body, ...as(mediaType) });
    expect(status).toBe(400);
    return (response as { message: string }).message;
  };
  const large = JSON.stringify(configMap('wrong'));
  const small = JSON.stringify({ ...configMap('wrong'), data: { 'key-0': 'a' } });

  it.each([
    ['the end is missing', JSON_TYPE, (text: string) => text.slice(0, -1), ''],
    ['a comma is missing', JSON_TYPE, (text: string) => text.replace('{"name"', '{"a":1 "name"'), ''],
    ['there is a second text', JSON_TYPE, (text: string) => `${text}{}`, ''],
    ['it is a list', JSON_TYPE, (text: string) => `[${text}]`, ''],
    ['a field has another type', JSON_TYPE, (text: string) => text.replace('"name":"wrong"', '"name":5'), ''],
    ['a field is there twice', JSON_TYPE, (text: string) => text.replace('{"name"', '{"name":"a","name"'), 'Strict'],
    ['a field is unknown', JSON_TYPE, (text: string) => text.replace('{"name"', '{"a":1,"name"'), 'Strict'],
    ['YAML is cut off', YAML_TYPE, (text: string) => text.slice(0, -1), ''],
    ['YAML has a key twice', YAML_TYPE, (text: string) => text.replace('{"name"', '{"name":"a","name"'), 'Strict'],
  ])('%s', async (_, mediaType, spoil, validation) => {
    const search = validation === '' ? '' : `?fieldValidation=${validation}`;
    expect(await message(mediaType, spoil(large), search)).toBe(await message(mediaType, spoil(small), search));
  });

  it('an apply and a patch that are no YAML and no JSON', async () => {
    const applied = `${CONFIG_MAPS}/wrong?fieldManager=m`;
    await send('POST', CONFIG_MAPS, { body: small });
    const refusal = async (path: string, mediaType: string, text: string): Promise<Response> =>
      send('PATCH', path, { body: text.slice(0, -1), ...as(mediaType) });
    for (const [path, mediaType] of [
      [applied, APPLY_TYPE],
      [`${CONFIG_MAPS}/wrong`, 'application/merge-patch+json'],
    ] as const) {
      const one = await refusal(path, mediaType, large);
      expect(one.status).toBe(400);
      expect(one.body.message).toBe((await refusal(path, mediaType, small)).body.message);
    }
  });
});

describe('an object of 70,000 values', () => {
  it.each([JSON_TYPE, PROTOBUF_TYPE])('is written back as it was read: %s', async (mediaType) => {
    const name = mediaType === JSON_TYPE ? 'many-in-json' : 'many-in-protobuf';
    const many = Object.fromEntries(Array.from({ length: 70_000 }, (_, index) => [`k${index}`, 'v']));
    const path = `${CONFIG_MAPS}/${name}`;
    const created = await send('POST', CONFIG_MAPS, { body: { metadata: { name }, data: many }, ...as(JSON_TYPE) });
    expect(created.status).toBe(201);
    const read = (await (await open('GET', path, { headers: { accept: mediaType } })).toArray()) as Buffer[];
    expect((await send('PUT', path, { body: Buffer.concat(read), ...as(mediaType) })).status).toBe(200);
    expect((await send('GET', path)).body.data).toEqual(many);
  });
});

describe('a hostile body of 3 MB', () => {
  const size = mib(3) - 1024;
  const many = `Request entity too large: the body has more than ${MAX_BODY_VALUES} values`;
  const inJson = (member: string): string => `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"h"},${member}}`;
  const manyKeys = Array.from({ length: 250_000 }, (_, index) => `"${index}":0`).join();

  it.each([
    ['lists', inJson(`"zzz":[${times('[],', size - 100)}[]]`), 413],
    ['maps', inJson(`"zzz":[${times('{},', size - 100)}{}]`), 413],
    ['numbers', inJson(`"zzz":[${times('0,', size - 100)}0]`), 413],
    ['keys', inJson(`"data":{${manyKeys}}`), 413],
    ['one key again and again', inJson(`"data":{${times('"a":"",', size - 100)}"b":""}`), 413],
    ['open lists', inJson(`"zzz":${times('[', size - 100)}`), 400],
    ['open maps', times('{"":', size), 400],
    ['a long number', inJson(`"zzz":${times('1', size - 100)}`), 201],
    ['white space', inJson(`"zzz":${times(' ', size - 100)}1`), 201],
    ['escapes that are cut off', inJson(`"zzz":"${times('\\\\', size - 101)}\\`), 400],
  ])('is read or refused: JSON of %s', async (_, body, status) => {
    const response = await send('POST', `${CONFIG_MAPS}?dryRun=All`, { body, ...as(JSON_TYPE) });
    expect(response.status).toBe(status);
    if (status === 413) expect(response.body).toMatchObject({ reason: 'RequestEntityTooLarge', message: many });
    if (status === 400 && body.includes('[[[')) expect(response.body.message).toContain('exceeded max depth');
  });

  it.each([
    ['flow maps', `zzz: [${times('{},', size)}{}]\n`, 'too many values'],
    ['flow lists', `zzz: [${times('[],', size)}[]]\n`, 'too many values'],
    ['pairs', `zzz: [${times('a: b, ', size)}a: b]\n`, 'too many values'],
    ['explicit keys', times('? ', size), 'too many values'],
    ['lines of items', `zzz:\n${times('- a\n', size)}`, 'too many values'],
    ['keys', times('a: 1\n', size), 'too many values'],
    ['anchors', `zzz: [${times('&a a,', size)}a]\n`, 'too many values'],
    ['aliases', `a: &a b\nzzz: [${times('*a,', size)}*a]\n`, 'too many values'],
    ['long aliases', `a: &a ${'b'.repeat(mib(1))}\nzzz: [${times('*a,', 1_000)}*a]\n`, 'excessive aliasing'],
    ['nesting', `zzz: ${times('[', 300_000)}`, 'exceeded max depth'],
  ])('is refused: YAML of %s', async (_, body, problem) => {
    const answer = await send('POST', CONFIG_MAPS, { body, ...as(YAML_TYPE) });
    expect(answer).toMatchObject({ status: 400, body: { message: expect.stringContaining(problem) } });
  });

  it.each([
    ['documents', `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: h}\n${times('--- a\n', size - 100)}`],
    ['comments', `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: h}\n${times('#\n', size - 100)}`],
    ['an unknown text', `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: h}\nzzz: ${times('a b ', size - 100)}`],
    ['an unknown block', `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: h}\nzzz: |\n${times(' a\n', size - 100)}`],
  ])('is read: YAML of %s', async (_, body) => {
    expect((await send('POST', `${CONFIG_MAPS}?dryRun=All`, { body, ...as(YAML_TYPE) })).status).toBe(201);
  });

  it('is refused: Protobuf of empty messages', async () => {
    const raw = Buffer.alloc(size - 100, Buffer.from([0x12, 0x00]));
    const body = Buffer.from(encodeEnvelope({ apiVersion: 'v1', kind: 'ConfigMap', raw }));
    const answer = await send('POST', CONFIG_MAPS, { body, ...as(PROTOBUF_TYPE) });
    expect(answer).toMatchObject({ status: 413, body: { message: many } });
  });

  it('is refused before it is read where no honest client sends so much', async () => {
    await send('POST', CONFIG_MAPS, { body: { metadata: { name: 'small' } } });
    const tooLarge = { status: 413, body: { message: 'Request entity too large: limit is 131072' } };
    const body = 'x'.repeat(132_000);
    const headers = { 'content-length': '132000' };
    expect(await send('DELETE', `${CONFIG_MAPS}/small`, { body, headers })).toMatchObject(tooLarge);
    const scale = `${CONTROLLERS}/none/scale`;
    expect(await send('PUT', scale, { body, headers })).toMatchObject(tooLarge);
    expect(await send('PATCH', scale, { body, headers: { ...headers, ...MERGE } })).toMatchObject(tooLarge);
  });

  it('ends no thread', () => expect(textWorker.terminations).toBe(0));
});

describe('while one user sends YAML without end', () => {
  it("others' requests are answered, and their YAML is read in turn", async () => {
    const order: string[] = [];
    const note = async (name: string, response: Promise<Response>, status: number): Promise<void> => {
      expect((await response).status).toBe(status);
      order.push(name);
    };
    const body = `zzz: [${times('{},', 500_000)}{}]\n`;
    const greedy = Array.from({ length: 6 }, () =>
      note('greedy', send('POST', `${CONFIG_MAPS}?dryRun=All`, { body, ...as(YAML_TYPE, 'greedy') }), 413),
    );
    while (textWorker.waiting === 0 && order.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const yaml = printYaml(configMap('other'));
    await Promise.all([
      note('health', send('GET', '/healthz'), 200),
      note('small', send('POST', CONFIG_MAPS, { body: { metadata: { name: 'beside' } } }), 201),
      note('other', send('POST', CONFIG_MAPS, { body: yaml, ...as(YAML_TYPE, 'other') }), 201),
      ...greedy,
    ]);
    expect(order.indexOf('other')).toBeLessThan(order.length - 1);
    expect(order.slice(0, 3)).toEqual(expect.arrayContaining(['health', 'small']));
  });
});
