import type { RequestContext } from './context';
import { NonResourceRoutes } from './non-resource-routes';
import { textReply, type Reply } from './reply';
import { parseRequestInfo } from './request-info';

const OPENAPI_PROTOBUF = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';

async function answer(reply: Reply, accept: string): Promise<unknown> {
  const routes = new NonResourceRoutes([{ path: '/openapi/v2', handler: () => reply }], () => true);
  const info = parseRequestInfo('GET', '/openapi/v2');
  const { reply: sent } = await routes.run({
    info,
    request: { method: 'GET', headers: { accept } },
  } as unknown as RequestContext);
  return sent;
}

describe('the form of an answer outside the resources', () => {
  it.each<[string, Reply]>([
    ['not modified', { type: 'empty', code: 304, headers: { ETag: '"a"' } }],
    ['moved', { type: 'empty', code: 301, headers: { Location: '/elsewhere' } }],
    ['bytes', textReply(200, 'ok')],
    ['written by the endpoint', { type: 'streamed' }],
  ])('is no question where there is none to choose: %s', async (_, reply) => {
    await expect(answer(reply, OPENAPI_PROTOBUF)).resolves.toBe(reply);
  });

  it('is chosen for objects', async () => {
    const reply: Reply = { type: 'object', code: 200, object: { kind: 'APIVersions', versions: ['v1'] } };
    await expect(answer(reply, 'application/json')).resolves.toBe(reply);
    await expect(answer(reply, OPENAPI_PROTOBUF)).rejects.toMatchObject({ status: { code: 406 } });
  });
});
