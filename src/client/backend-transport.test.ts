import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { authority, servingKeys } from '../../test/support/serving-keys';
import { until } from '../../test/support/until';
import { BackendTransport } from './backend-transport';

/** Backends that answer as none should. Each call ends, and leaves no connection in use. */

const MAX_BYTES = 100_000;
const never = new AbortController().signal;

let server: Server;
let origin: string;
let transport: BackendTransport;
let answer: (response: ServerResponse) => void = () => undefined;
const open = new Set<object>();

beforeAll(async () => {
  const keys = servingKeys();
  server = createServer({ cert: keys.certificatePem, key: keys.privateKeyPem }, (request, response) => {
    request.resume();
    answer(response);
  });
  server.on('secureConnection', (socket) => {
    open.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => open.delete(socket));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  origin = `https://localhost:${(server.address() as AddressInfo).port}`;
  transport = new BackendTransport();
});

afterAll(async () => {
  transport.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const ask = (timeoutMs: number, signal = never) =>
  transport.request(
    { origin, tls: { certificateAuthority: authority.certificatePem } },
    { path: '/', method: 'POST', headers: {}, body: [Buffer.from('{}')], timeoutMs, signal, maxBytes: MAX_BYTES },
  );

/** Piece after piece, as long as anybody listens. */
function sendOnAndOn(response: ServerResponse, piece: Buffer, everyMs: number): void {
  const timer = setInterval(() => response.write(piece), everyMs);
  response.on('close', () => clearInterval(timer));
}

const LONG_MS = 60_000;
const SHORT_MS = 300;

it.each<[string, (response: ServerResponse) => void, number, string]>([
  ['says nothing', () => undefined, SHORT_MS, 'context deadline exceeded'],
  [
    'says a byte now and then, without end',
    (response) => sendOnAndOn(response, Buffer.from(' '), 10),
    SHORT_MS,
    'context deadline exceeded',
  ],
  [
    'says more than there is room for',
    (response) => sendOnAndOn(response, Buffer.alloc(10_000, ' '), 1),
    LONG_MS,
    'the answer is longer than 100000 bytes',
  ],
  [
    'ends in the middle of what it has announced',
    (response) => {
      response.writeHead(200, { 'content-length': '1000' });
      response.write('{"half":', () => response.destroy());
    },
    LONG_MS,
    'EOF',
  ],
  [
    'ends in the middle of a piece',
    (response) => void response.socket?.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nff\r\n{"half":'),
    LONG_MS,
    'EOF',
  ],
  ['ends before it has said anything', (response) => void response.destroy(), LONG_MS, 'EOF'],
  ['says what is no HTTP', (response) => void response.socket?.end('SSH-2.0-OpenSSH\r\n'), LONG_MS, 'Post "https://'],
])('a backend that %s is given up, and so is its connection', async (_what, behaviour, timeoutMs, message) => {
  answer = behaviour;
  await expect(ask(timeoutMs)).rejects.toThrow(message);
  await until(
    async () => open.size,
    (size) => size === 0,
  );
  answer = (response) => void response.end('{}');
  await expect(ask(LONG_MS)).resolves.toMatchObject({ status: 200 });
  transport.close();
  transport = new BackendTransport();
});

it('a call that nobody waits for any more is given up', async () => {
  const asking = new AbortController();
  answer = () => asking.abort();
  await expect(ask(LONG_MS, asking.signal)).rejects.toThrow('context canceled');
  await until(
    async () => open.size,
    (size) => size === 0,
  );
});
