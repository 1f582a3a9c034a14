import { request } from 'node:https';
import { authority, clientKeys, servingKeys, tls } from '../../../test/support/serving-keys';
import { loadBuiltinSchema } from '../../api/schema/builtin-schema';
import type { Credentials } from '../../authn/credentials';
import { silentLogger } from '../../observability/logger';
import { createAuthority, type KeyPair } from '../../pki/authority';
import { textResponse } from '../response/api-response';
import { createServer, type ApiServer } from '../server';

const stranger = createAuthority('another-ca', new Date());

let seen: Credentials | undefined;
let server: ApiServer;
let port: number;

beforeAll(async () => {
  server = createServer({
    catalogue: { schema: loadBuiltinSchema(), resolve: () => undefined, hasBuiltInGroup: () => false },
    nonResourceRoutes: [{ path: '/healthz', handler: () => textResponse(200, 'ok') }],
    authenticate: async (credentials) => {
      seen = credentials;
      return { name: 'someone', groups: [] };
    },
    authorize: async () => ({ decision: 'allow', reason: '' }),
    requestTimeoutMs: 60_000,
    tls,
    port: 0,
    host: '127.0.0.1',
    logger: silentLogger,
  });
  ({ port } = await server.listen());
});
afterAll(() => server.close(1000));

function get(options: {
  readonly client?: KeyPair;
  readonly headers?: Record<string, string>;
  readonly ca?: string;
}): Promise<number> {
  const { client, headers = {}, ca = authority.certificatePem } = options;
  return new Promise((resolve, reject) => {
    request(
      {
        port,
        host: '127.0.0.1',
        servername: 'localhost',
        path: '/healthz',
        agent: false,
        ca,
        headers,
        ...(client === undefined ? {} : { cert: client.certificatePem, key: client.privateKeyPem }),
      },
      (response) => response.resume().on('end', () => resolve(response.statusCode ?? 0)),
    )
      .on('error', reject)
      .end();
  });
}

describe('over TLS', () => {
  it('a client without a certificate is served', async () => {
    expect(await get({})).toBe(200);
    expect(seen).toMatchObject({ bearerToken: undefined, clientCertificate: undefined });
  });

  it.each([
    ['that it trusts', authority, true],
    ['of another authority', stranger, false],
  ])('shows authentication a certificate %s', async (_what, issuer, trusted) => {
    expect(await get({ client: clientKeys('alice', ['dev', 'ops'], issuer) })).toBe(200);
    const { trusted: isTrusted, commonName, organizations } = seen?.clientCertificate ?? {};
    expect({ isTrusted, commonName, organizations }).toEqual({
      isTrusted: trusted,
      commonName: 'alice',
      organizations: ['dev', 'ops'],
    });
  });

  it.each([
    ['Bearer abc', 'abc'],
    ['bearer abc extra', 'abc'],
    ['Bearer', undefined],
    ['Basic YTpi', undefined],
  ])('reads "%s" as the token %s', async (authorization, token) => {
    await get({ headers: { authorization } });
    expect(seen?.bearerToken).toBe(token);
  });

  it('takes another certificate without a restart', async () => {
    const renewed = servingKeys(stranger);
    server.setSecureContext({ ...tls, cert: renewed.certificatePem, key: renewed.privateKeyPem });
    expect(await get({ ca: stranger.certificatePem })).toBe(200);
    server.setSecureContext(tls);
  });
});
