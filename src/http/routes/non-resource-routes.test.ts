import type { RequestContext } from '../request/context';
import type { StatusError } from '../../api/errors/status-error';
import { NonResourceRoutes } from './non-resource-routes';
import { textReply, type Reply } from '../response/reply';
import { parseRequestInfo } from '../request/request-info';

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

describe('a path outside the resources', () => {
  async function codeOf(method: string, path: string): Promise<unknown> {
    const handler = () => textReply(200, 'ok');
    const routes = new NonResourceRoutes(
      [
        { path: '/free', methods: 'any', handler },
        { path: '/strict', handler },
      ],
      () => true,
    );
    const request = { method, headers: {} };
    const run = async () => routes.run({ info: parseRequestInfo(method, path), request } as unknown as RequestContext);
    return run().then(
      ({ reply }) => (reply as { readonly code?: number }).code,
      (error: StatusError) => error.status.code,
    );
  }

  it.each(['GET', 'HEAD', 'PUT', 'TRACE', 'OPTIONS'])('may not look at the method, %s', async (method) => {
    await expect(codeOf(method, '/free')).resolves.toBe(200);
    await expect(codeOf(method, '/strict')).resolves.toBe(method === 'GET' ? 200 : 405);
    await expect(codeOf(method, '/')).resolves.toBe(200);
    await expect(codeOf(method, '/nowhere')).resolves.toBe(404);
  });
});

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
