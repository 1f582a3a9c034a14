import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, createServer, type ConnectionOptions, type Server } from 'node:tls';
import { writeTestCertificates } from '../../test/support/certificates';
import { withoutCertificate } from './session-certificate';

let folder: string;
let server: Server;
let options: ConnectionOptions;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'session-'));
  const files = await writeTestCertificates(folder, writeFile);
  server = createServer({ cert: readFileSync(files.certificate), key: readFileSync(files.key) }, (socket) => {
    socket.on('error', () => undefined).write('x');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  options = { host: '127.0.0.1', port: (server.address() as AddressInfo).port, ca: readFileSync(files.ca) };
});

afterAll(async () => {
  await new Promise((resolve) => server.close(resolve));
  await rm(folder, { recursive: true });
});

/** Connects, and tells the session that it was given. */
async function meet(more: ConnectionOptions): Promise<Buffer> {
  const socket = connect({ ...options, ...more });
  const session = once(socket, 'session') as Promise<[Buffer]>;
  await once(socket.resume(), 'secureConnect');
  const [latest] = await session;
  socket.destroy();
  return latest;
}

it('a session of TLS 1.3 is resumed without the certificate, and trusted as before', async () => {
  const session = await meet({ maxVersion: 'TLSv1.3', minVersion: 'TLSv1.3' });
  const small = withoutCertificate(session);
  expect(small.length).toBeLessThan(session.length - 400);
  const socket = connect({ ...options, session: small });
  await once(socket, 'secureConnect');
  expect(socket.isSessionReused()).toBe(true);
  expect(socket.authorized).toBe(true);
  expect(socket.getPeerCertificate()).toEqual({});
  socket.destroy();
});

it('a session of TLS 1.2 is left as it is', async () => {
  const session = await meet({ maxVersion: 'TLSv1.2' });
  expect(withoutCertificate(session)).toBe(session);
});

/** What newer releases of Node.js write first. */
const NODE_STATE = Buffer.from('\0nodejs:tls:session:1\0').toString('hex');

it.each([
  '',
  `${NODE_STATE}ffff00`,
  NODE_STATE,
  '30',
  '3000',
  '3003020101',
  '30820001',
  '3080',
  '3004020203ff',
  '0203010203',
  '300502010102020304ff',
])('what is no session is left as it is: %s', (hex) => {
  const bytes = Buffer.from(hex, 'hex');
  expect(withoutCertificate(bytes)).toBe(bytes);
});
