import { once } from 'node:events';
import { connect, type ClientHttp2Session } from 'node:http2';
import { request, type RequestOptions } from 'node:https';
import { startApiServer, type ApiServer } from '../../src';
import { adminClient, adminCredentials } from '../support/admin-client';
import { exists, until } from '../support/until';

/** Custom resources answer HEAD as GET, without the body; built-in ones have no such method. */

const GADGETS = '/apis/example.com/v1/namespaces/default/gadgets';
let server: ApiServer;
let credentials: RequestOptions;
let session: ClientHttp2Session;

beforeAll(async () => {
  server = await startApiServer();
  const { certificateAuthority: ca, clientCertificate: cert, clientKey: key } = adminCredentials(server);
  credentials = { ca, cert, key };
  const client = adminClient(server);
  const schema = { openAPIV3Schema: { type: 'object' } };
  await client.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: 'gadgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'gadgets', kind: 'Gadget' },
      versions: [{ name: 'v1', served: true, storage: true, schema, subresources: { status: {} } }],
    },
  });
  await until(() => exists(() => client.get(GADGETS)), Boolean);
  await client.create(GADGETS, { apiVersion: 'example.com/v1', kind: 'Gadget', metadata: { name: 'a' } });
  client.close();
  session = connect(server.url, { ca, cert, key });
  await once(session, 'connect');
}, 30_000);
afterAll(async () => {
  session.close();
  await server.stop();
});

/** Status and bytes of the answer. */
async function overHttp1(path: string): Promise<string> {
  const sent = request(`${server.url}${path}`, { ...credentials, method: 'HEAD' }).end();
  const [response] = (await once(sent, 'response')) as [NodeJS.ReadableStream & { readonly statusCode: number }];
  let bytes = 0;
  for await (const piece of response) bytes += piece.length;
  return `${response.statusCode} ${bytes}`;
}

async function overHttp2(path: string): Promise<string> {
  const stream = session.request({ ':method': 'HEAD', ':path': path }, { endStream: true });
  const [headers] = (await once(stream, 'response')) as [{ readonly ':status': number }];
  let bytes = 0;
  for await (const piece of stream) bytes += (piece as Buffer).length;
  return `${headers[':status']} ${bytes}`;
}

test.each([
  [GADGETS, '200 0'],
  [`${GADGETS}?limit=1`, '200 0'],
  [`${GADGETS}/a`, '200 0'],
  [`${GADGETS}/a/status`, '200 0'],
  [`${GADGETS}/none`, '404 0'],
  ['/api/v1/namespaces/default/configmaps', '405 0'],
  ['/api/v1/namespaces/default/configmaps/none', '405 0'],
])('HEAD of %s is %s', async (path, expected) => {
  expect(await overHttp1(path)).toBe(expected);
  expect(await overHttp2(path)).toBe(expected);
});
