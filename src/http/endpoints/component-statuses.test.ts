import { componentStatus } from '../../api/kinds/core/component-status';
import { StatusError } from '../../api/errors/status-error';
import type { ListResult } from '../../registry/types';
import type { CacheEntry } from '../../storage/cache/cache';
import { Query } from '../request/query';
import type { Reply } from '../response/reply';
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

async function ask(verb: string, of: ResourceRequest): Promise<Reply> {
  const endpoint: Endpoint | undefined = endpoints.get(`${verb} /componentstatuses`);
  if (endpoint === undefined) throw new Error(`no endpoint for ${verb}`);
  return endpoint(of, {} as EndpointDependencies);
}

function listed(reply: Reply): readonly CacheEntry[] {
  return [...(reply as { readonly result: ListResult }).result.entries];
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
    const answer = ask('get', request('none'));
    await expect(answer).rejects.toThrow(StatusError);
    await expect(answer).rejects.toMatchObject({ status: { code: 500, message: 'Component not found: none' } });
  });
});
