import { CATALOGUE } from '../../api/kinds/catalogue';
import { loadBuiltinSchema } from '../../api/schema/builtin-schema';
import type { RequestContext } from '../request/context';
import type { ApiResponse } from '../response/api-response';
import { parseRequestInfo } from '../request/request-info';
import { openApiRoutes } from './openapi-routes';

const routes = openApiRoutes({
  schema: loadBuiltinSchema(),
  info: { title: 'Kubernetes', version: 'v1' },
  generation: () => 1,
  definitions: () => CATALOGUE.filter(({ kind }) => kind === 'Lease'),
  custom: () => new Map(),
  groupVersions: () => [{ group: 'coordination.k8s.io', version: 'v1' }],
});

async function get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<ApiResponse> {
  const info = parseRequestInfo('GET', path);
  const route = routes.find((one) => one.path === info.path) ?? routes.find(({ prefix }) => prefix === true);
  const response = await route!.handler({ info, request: { method: 'GET', headers } } as unknown as RequestContext);
  if (response === undefined) throw new Error(`nothing is there: ${path}`);
  return response;
}

describe('the documents of OpenAPI v3', () => {
  const path = '/openapi/v3/apis/coordination.k8s.io/v1';

  async function urlOfIndex(): Promise<string> {
    const index = await get('/openapi/v3');
    if (index.type !== 'bytes') throw new Error('not bytes');
    const { paths } = JSON.parse(String(index.body)) as { paths: Record<string, { serverRelativeURL: string }> };
    return paths['apis/coordination.k8s.io/v1']?.serverRelativeURL ?? '';
  }

  it('may be kept for good under the URL of the index', async () => {
    const url = await urlOfIndex();
    await expect(get(url)).resolves.toMatchObject({
      code: 200,
      contentType: 'application/json',
      headers: { 'Cache-Control': 'public, immutable', Expires: expect.stringMatching(/GMT$/) },
    });
    const plain = await get(path);
    expect(plain).toMatchObject({ code: 200 });
    expect(plain).not.toHaveProperty('headers.Cache-Control');
  });

  it('have moved when the hash is an old one', async () => {
    const Location = await urlOfIndex();
    await expect(get(`${path}?hash=OLD`)).resolves.toEqual({ type: 'empty', code: 301, headers: { Location } });
  });

  it('are not sent again to who has them', async () => {
    const hash = (await urlOfIndex()).split('=')[1] ?? '';
    const response = await get(path, { 'if-none-match': `"other", "${hash}"` });
    expect(response).toMatchObject({ type: 'empty', code: 304, headers: { ETag: `"${hash}"` } });
  });

  it('are there in JSON only', async () => {
    const accept = 'application/com.github.proto-openapi.spec.v3@v1.0+protobuf';
    await expect(get(path, { accept })).resolves.toMatchObject({ code: 406 });
    await expect(get(path, { accept: `${accept}, */*` })).resolves.toMatchObject({ code: 200 });
  });

  it('are not found for what is not served', async () => {
    await expect(get('/openapi/v3/apis/apps/v1')).resolves.toMatchObject({ code: 404 });
  });
});
