import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { permissiveServer } from '../../../test/support/permissive-server';
import { tls } from '../../../test/support/serving-keys';
import { loadBuiltinSchema } from '../../api/schema/builtin-schema';
import { textResponse } from '../response/api-response';
import { createServer, type ApiServer } from '../server';

/** RFC 9113, 7. */
const INADEQUATE_SECURITY = 0xc;

let server: ApiServer;
let port: number;
beforeAll(async () => {
  server = createServer({
    catalogue: { schema: loadBuiltinSchema(), resolve: () => undefined, hasBuiltInGroup: () => false },
    ...permissiveServer,
    nonResourceRoutes: [{ path: '/healthz', handler: () => textResponse(200, 'ok') }],
    // Node leaves the weaker ones out by itself.
    tls: { ...tls, ciphers: 'ECDHE+AESGCM:ECDHE+CHACHA20:ECDHE+AES:RSA+AESGCM' },
    http2: { maxStreamsPerConnection: 100, goAwayChance: 0 },
  });
  ({ port } = await server.listen());
});
afterAll(() => server.close(0));

async function client(options: ConnectionOptions): Promise<TLSSocket> {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...options });
  await once(socket, 'secureConnect');
  return socket;
}

/** What the connection ends with: the code of a GOAWAY, or the status of an answer. */
function outcomeOverHttp2(ciphers: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const session = connectHttp2(`https://127.0.0.1:${port}`, {
      rejectUnauthorized: false,
      maxVersion: 'TLSv1.2',
      ciphers,
    });
    const finish = (outcome: number): void => {
      session.destroy();
      resolve(outcome);
    };
    session.on('goaway', finish).on('error', reject);
    const stream = session.request({ ':path': '/healthz' });
    stream.on('response', (headers) => finish(headers[':status'] ?? 0)).on('error', () => undefined);
  });
}

describe('TLS 1.2', () => {
  it('is not begun anew on a connection', async () => {
    const socket = await client({ maxVersion: 'TLSv1.2', ALPNProtocols: ['http/1.1'] });
    const outcome = new Promise((resolve) => {
      socket.on('error', resolve).on('close', () => resolve('closed'));
      socket.renegotiate({ rejectUnauthorized: false }, (error) => resolve(error ?? 'renegotiated'));
    });
    expect(await outcome).not.toBe('renegotiated');
    socket.destroy();
  });

  it.each([
    ['AES in CBC mode', 'ECDHE-ECDSA-AES128-SHA:ECDHE-RSA-AES128-SHA'],
    ['AES in CBC mode with SHA-256', 'ECDHE-ECDSA-AES128-SHA256:ECDHE-RSA-AES128-SHA256'],
  ])('with %s is not enough for HTTP/2, and will do for HTTP/1.1', async (_what, ciphers) => {
    expect(await outcomeOverHttp2(ciphers)).toBe(INADEQUATE_SECURITY);
    const socket = await client({ maxVersion: 'TLSv1.2', ciphers, ALPNProtocols: ['http/1.1'] });
    socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n');
    const [response] = (await once(socket, 'data')) as [Buffer];
    expect(response.toString()).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    socket.destroy();
  });

  it.each([
    ['AES in GCM', 'ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256'],
    ['ChaCha20', 'ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305'],
  ])('with %s serves HTTP/2', async (_what, ciphers) => {
    expect(await outcomeOverHttp2(ciphers)).toBe(200);
  });
});
