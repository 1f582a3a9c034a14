import { once } from 'node:events';
import { createServer, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createAuthority, issueKeyPair } from '../../pki/authority';
import { divertConnections } from './divert-connections';

const leaf = {
  subject: { commonName: 'server', organizations: [] },
  altNames: ['localhost'],
  usages: ['server auth'],
} as const;
const { certificatePem: cert, privateKeyPem: key } = issueKeyPair(
  createAuthority('test', new Date()),
  leaf,
  new Date(),
);

/** The status of a request to a server whose connections are diverted; undefined when the connection ends without one. */
async function statusThrough(event: 'connection' | 'secureConnection', passes: boolean): Promise<number | undefined> {
  const server = createServer({ cert, key }, (_request, response) => response.end());
  divertConnections(server, event, (socket, pass) => (passes ? pass() : socket.destroy()));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  try {
    return await new Promise((resolve) => {
      const sent = request({ host: '127.0.0.1', port, rejectUnauthorized: false, agent: false }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      sent.on('error', () => resolve(undefined)).end();
    });
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

describe('connections that are diverted from a server of Node', () => {
  it.each(['connection', 'secureConnection'] as const)('are served when they are passed on: %s', async (event) => {
    expect(await statusThrough(event, true)).toBe(200);
  });

  it.each(['connection', 'secureConnection'] as const)('do not reach it before: %s', async (event) => {
    expect(await statusThrough(event, false)).toBeUndefined();
  });

  it.each(['connection', 'secureConnection'])('all come through one listener of its own: %s', (event) => {
    expect(createServer().listenerCount(event)).toBe(1);
  });
});
