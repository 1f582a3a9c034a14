import { componentStatus } from '../../api/kinds/core/component-status';
import { StatusError } from '../../api/errors/status-error';
import type { ListResult } from '../../registry/types';
import type { CacheEntry } from '../../storage/cache/cache';
import { Query } from '../request/query';
import type { ApiResponse } from '../response/api-response';
import type { Endpoint, EndpointDependencies, ResourceRequest } from './endpoint';
import { componentStatusEndpoints } from './component-statuses';

const endpoints = componentStatusEndpoints([
  { name: 'well', probe: async () => ({ healthy: true, message: 'ok' }) },
  { name: 'ill', probe: async () => ({ healthy: false, message: 'no answer' }) },
]);

function request(name: string, query = ''): ResourceRequest {
  const info = { name, namespace: '', verb: 'list', query: Query.parse(query), watchPrefix: false, named: name !== '' };
  const context = { info, signal: new AbortController().signal };
  const served = { definition: componentStatus, version: componentStatus.versions[0], custom: false };
  return { context, served } as unknown as ResourceRequest;
}

async function ask(verb: string, of: ResourceRequest): Promise<ApiResponse> {
  const endpoint: Endpoint | undefined = endpoints.get(`${verb} /componentstatuses`);
  if (endpoint === undefined) throw new Error(`no endpoint for ${verb}`);
  return endpoint(of, {} as EndpointDependencies);
}

function listed(response: ApiResponse): readonly CacheEntry[] {
  return [...(response as { readonly result: ListResult }).result.entries];
}

describe('component statuses', () => {
  it('tell what each component answered', async () => {
    const entries = listed(await ask('list', request('')));
    expect(entries.map(({ object }) => object['conditions'])).toEqual([
      [{ type: 'Healthy', status: 'True', message: 'ok' }],
      [{ type: 'Healthy', status: 'False', message: 'no answer' }],
    ]);
  });

  it('can be selected by name', async () => {
    const entries = listed(await ask('list', request('', 'fieldSelector=metadata.name%3Dill')));
    expect(entries.map(({ name }) => name)).toEqual(['ill']);
  });

  it('of an unknown component are a failure of the server', async () => {
    const response = ask('get', request('none'));
    await expect(response).rejects.toThrow(StatusError);
    await expect(response).rejects.toMatchObject({ status: { code: 500, message: 'Component not found: none' } });
  });
});
