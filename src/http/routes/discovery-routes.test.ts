import { decodeMessage } from '../../api/codec/protobuf-decode';
import { decodeEnvelope } from '../../api/codec/protobuf-envelope';
import { CATALOGUE } from '../../api/kinds/catalogue';
import { GROUPS } from '../../api/kinds/groups';
import { loadBuiltinSchema } from '../../api/schema/builtin-schema';
import type { RequestContext } from '../request/context';
import type { ApiResponse } from '../response/api-response';
import { parseRequestInfo } from '../request/request-info';
import { discoveryRoutes, type DiscoverySource } from './discovery-routes';
import type { NonResourceRoute } from './route';

const schema = loadBuiltinSchema();
const groups = GROUPS.filter(({ name }) => name !== '').map(({ name, versions }) => ({
  name,
  versions: versions.map(({ version }) => version),
}));

function definedRoutes(overrides: Partial<DiscoverySource> = {}): readonly NonResourceRoute[] {
  return discoveryRoutes({
    generation: () => 1,
    definitions: () => CATALOGUE,
    groups: () => groups,
    hasBuiltInGroup: (name) => groups.some((group) => group.name === name),
    serverAddress: '192.0.2.1:6443',
    metaType: (kind) => schema.kind('', 'v1', kind),
    aggregatedType: (version) => schema.kind('apidiscovery.k8s.io', version, 'APIGroupDiscoveryList'),
    ...overrides,
  });
}

function routes(overrides: Partial<DiscoverySource> = {}) {
  const all = definedRoutes(overrides);
  return async (path: string, headers: Readonly<Record<string, string>> = {}): Promise<ApiResponse> => {
    const route = all.find((one) => one.path === path) ?? all.find((one) => one.prefix && path.startsWith(one.path));
    const context = { info: parseRequestInfo('GET', path), request: { method: 'GET', headers } };
    const response = await route!.handler(context as unknown as RequestContext);
    if (response === undefined) throw new Error(`nothing is there: ${path}`);
    return response;
  };
}

function accepting(version: string, type = 'application/json'): Readonly<Record<string, string>> {
  return { accept: `${type};g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList` };
}

describe('the routes of discovery', () => {
  it('list the paths of groups and versions as they are now, and keep the list while nothing changes', () => {
    let generation = 1;
    let named = [{ name: 'b.io', versions: ['v1', 'v2'] }];
    const source = { generation: () => generation, groups: () => named };
    const { listsNow } = definedRoutes(source).find(({ path }) => path === '/apis')!;
    const first = listsNow!();
    expect(first).toEqual(['/apis/', '/apis/b.io', '/apis/b.io/v1', '/apis/b.io/v2']);
    expect(listsNow!()).toBe(first);
    named = [{ name: 'a.io', versions: ['v1'] }];
    generation++;
    expect(listsNow!()).toEqual(['/apis/', '/apis/a.io', '/apis/a.io/v1']);
  });

  it('answer in the aggregated form who prefers it', async () => {
    const get = routes();
    const kubectl = { accept: `${accepting('v2')['accept']},${accepting('v2beta1')['accept']},application/json` };
    const response = await get('/apis', kubectl);
    expect(response).toMatchObject({
      type: 'bytes',
      code: 200,
      contentType: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
      headers: { Vary: 'Accept', ETag: expect.stringMatching(/^"[0-9A-F]{128}"$/) },
    });
    await expect(get('/apis', accepting('v2beta1'))).resolves.toMatchObject({
      contentType: expect.stringContaining('v=v2beta1'),
    });
    await expect(get('/apis')).resolves.toMatchObject({ type: 'object', object: { kind: 'APIGroupList' } });
    const plainFirst = { accept: `application/json,${accepting('v2')['accept']}` };
    await expect(get('/apis', plainFirst)).resolves.toMatchObject({ object: { kind: 'APIGroupList' } });
    await expect(get('/apis', accepting('v3'))).resolves.toMatchObject({ object: { kind: 'APIGroupList' } });
  });

  it('say that nothing has changed to who has the aggregated form', async () => {
    const get = routes();
    const first = await get('/api', accepting('v2'));
    const etag = first.type === 'bytes' ? (first.headers?.['ETag'] ?? '') : '';
    await expect(get('/api', { ...accepting('v2'), 'if-none-match': etag })).resolves.toMatchObject({
      type: 'empty',
      code: 304,
    });
    await expect(get('/api', { ...accepting('v2beta1'), 'if-none-match': etag })).resolves.toMatchObject({ code: 200 });
  });

  it('have the aggregated form in Protobuf, which says what JSON says', async () => {
    const get = routes();
    const protobuf = await get('/apis', accepting('v2', 'application/vnd.kubernetes.protobuf'));
    const json = await get('/apis', accepting('v2'));
    if (protobuf.type !== 'bytes' || json.type !== 'bytes') throw new Error('not bytes');
    const { kind, apiVersion, raw } = decodeEnvelope(protobuf.body as Buffer);
    expect([apiVersion, kind]).toEqual(['apidiscovery.k8s.io/v2', 'APIGroupDiscoveryList']);
    const decoded = decodeMessage(schema.kind('apidiscovery.k8s.io', 'v2', kind)!, raw);
    const { items } = JSON.parse(String(json.body)) as { items: readonly unknown[] };
    expect(decoded).toMatchObject({ items });
  });

  it('leave the hashes of storage versions out when told to', async () => {
    const get = routes({ features: { storageVersionHashes: false } });
    expect(JSON.stringify(await get('/api/v1'))).not.toContain('storageVersionHash');
    expect(JSON.stringify(await routes()('/api/v1'))).toContain('storageVersionHash');
  });
});
