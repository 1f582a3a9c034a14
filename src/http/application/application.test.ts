import { servedOverHttp } from '../../../test/support/served-over-http';
import { textResponse, type ApiResponse } from '../response/api-response';
import type { NonResourceRoute } from '../routes/route';

const OPENAPI_PROTOBUF = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
const object: ApiResponse = { type: 'object', code: 200, object: { kind: 'APIVersions', versions: ['v1'] } };
const responses: Readonly<Record<string, ApiResponse>> = {
  'not modified': { type: 'empty', code: 304, headers: { ETag: '"a"' } },
  moved: { type: 'empty', code: 301, headers: { Location: '/elsewhere' } },
  bytes: textResponse(200, 'ok'),
};
let comingAndGoing: readonly string[] = [];
const routes: readonly NonResourceRoute[] = [
  { path: '/free', methods: 'any', handler: () => textResponse(200, 'ok') },
  { path: '/strict', handler: () => textResponse(200, 'ok') },
  { path: '/later', handler: async () => textResponse(200, 'later') },
  { path: '/object', handler: () => object },
  {
    path: '/replies/',
    prefix: true,
    unlisted: true,
    handler: ({ info }) => responses[info.path.slice('/replies/'.length)],
  },
  { path: '/checks/', prefix: true, unlisted: true, lists: ['/checks/one'], handler: () => undefined },
  { path: '/version', handler: () => textResponse(200, 'a version') },
  { path: '/apis', listsNow: () => comingAndGoing, handler: () => textResponse(200, 'groups') },
  { path: '/apis/', prefix: true, unlisted: true, handler: ({ info }) => textResponse(200, `below ${info.path}`) },
];

const server = servedOverHttp({ nonResourceRoutes: routes });

describe('a path outside the resources', () => {
  it.each(['GET', 'HEAD', 'PUT', 'TRACE', 'OPTIONS'])('may not look at the method, %s', async (method) => {
    expect((await server.send(method, '/free')).status).toBe(200);
    expect((await server.send(method, '/strict')).status).toBe(method === 'GET' ? 200 : 405);
    expect((await server.send(method, '/')).status).toBe(200);
    expect((await server.send(method, '/nowhere')).status).toBe(404);
  });

  it('answers at once or later', async () => {
    expect((await server.send('GET', '/free')).text).toBe('ok');
    expect((await server.send('GET', '/later')).text).toBe('later');
  });

  it('is what was authorized, however it is written', async () => {
    expect((await server.send('GET', '/%73trict')).text).toBe('ok');
    expect((await server.send('GET', '/%2573trict')).status).toBe(404);
    expect((await server.send('GET', '/STRICT')).status).toBe(404);
    expect((await server.send('GET', '/strict/')).status).toBe(404);
    expect((await server.send('GET', '//strict')).status).toBe(404);
    expect((await server.send('GET', '/replies%2Fbytes')).text).toBe('ok');
    expect((await server.send('GET', '/free?a=/strict#/strict')).text).toBe('ok');
  });

  it('may end with slashes where it belongs to discovery', async () => {
    expect((await server.send('GET', '/version/')).text).toBe('a version');
    expect((await server.send('GET', '/version///')).text).toBe('a version');
    expect((await server.send('GET', '/apis/')).text).toBe('groups');
    expect((await server.send('GET', '/apis/some.group/')).text).toBe('below /apis/some.group/');
  });

  it('is nowhere where its route knows of nothing', async () => {
    const { status, body } = await server.send('GET', '/checks/one');
    expect(status).toBe(404);
    expect(body).toEqual({ paths: ['/apis', '/checks/one', '/free', '/later', '/object', '/strict', '/version'] });
  });

  it('is told of at the root and at /index.html for as long as it is there', async () => {
    const told = async (path: string): Promise<readonly string[]> => {
      const { status, body } = await server.send('GET', path);
      expect(status).toBe(200);
      return (body as { readonly paths: readonly string[] }).paths;
    };
    const before = await told('/');
    comingAndGoing = ['/apis/b', '/apis/'];
    expect(await told('/')).toEqual([...before, '/apis/', '/apis/b'].sort());
    expect(await told('/index.html')).toEqual(await told('/'));
    comingAndGoing = [];
    expect(await told('/')).toEqual(before);
  });

  it('has the same answer over one connection as over many', async () => {
    const { body } = await server.send('GET', '/', {});
    expect(body).toEqual((await server.send('GET', '/unknown')).body);
  });
});

describe('the form of an answer outside the resources', () => {
  it.each(Object.keys(responses))('is no question where there is none to choose: %s', async (name) => {
    const { status } = await server.send('GET', `/replies/${encodeURIComponent(name)}`, {
      headers: { accept: OPENAPI_PROTOBUF },
    });
    expect(status).toBe((responses[name] as { readonly code: number }).code);
  });

  it('is chosen for objects', async () => {
    expect((await server.send('GET', '/object')).body).toEqual({ kind: 'APIVersions', versions: ['v1'] });
    expect((await server.send('GET', '/object', { headers: { accept: OPENAPI_PROTOBUF } })).status).toBe(406);
  });
});
