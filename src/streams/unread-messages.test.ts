import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { once } from 'node:events';
import { HeldMemory } from '../../test/support/held-memory';
import { until } from '../../test/support/until';
import { acceptWebSocket, type AcceptedWebSocket } from './accept-web-socket';

const MASK = Buffer.alloc(4);
const BINARY = 0x82;
const CONTINUATION = 0x00;
const BEGINNING = 0x02;
const PING = 0x89;

let server: Server;
let held: HeldMemory;
let accepted: Promise<AcceptedWebSocket>;
let client: Socket;

/** A frame whose payload may be shorter than its head says. */
function frame(opcode: number, length: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(10);
  head[0] = opcode;
  head[1] = 0x80 | 127;
  head.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([head, MASK, payload]);
}

function ping(): Buffer {
  return Buffer.concat([Buffer.from([PING, 0x80]), MASK]);
}

function settled(bytes: () => boolean): Promise<boolean> {
  return until(
    () => Promise.resolve(bytes()),
    (isSo) => isSo,
    5,
  );
}

beforeEach(async () => {
  const memory = new HeldMemory();
  held = memory;
  server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  accepted = new Promise((resolve) => {
    server.on('upgrade', (request, socket: Socket, head) => {
      const webSocket = acceptWebSocket(request, socket, head, '', memory)!;
      webSocket.webSocket.resume();
      resolve(webSocket);
    });
  });
  client = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined);
  client.write(
    'GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n' +
      `Sec-WebSocket-Key: ${Buffer.alloc(16).toString('base64')}\r\n\r\n`,
  );
  await once(client, 'data');
});

afterEach(async () => {
  client.destroy();
  await new Promise((resolve) => server.close(resolve));
});

it('has what came of a message that is not whole in the books until it is', async () => {
  const { webSocket } = await accepted;
  const half = Buffer.alloc(1024 * 1024);
  client.write(frame(BINARY, 2 * half.length, half));
  await settled(() => held.bytes >= half.length);
  const message = once(webSocket, 'message');
  client.write(half);
  expect(((await message) as [Buffer])[0]).toHaveLength(2 * half.length);
  await settled(() => held.bytes === 0);
  expect(held.bytes).toBe(0);
});

it('counts the pieces of a message in many frames', async () => {
  await accepted;
  const piece = Buffer.alloc(100_000);
  client.write(frame(BEGINNING, piece.length, piece));
  for (let count = 0; count < 5; count++) client.write(frame(CONTINUATION, piece.length, piece));
  expect(await settled(() => held.bytes >= 6 * piece.length)).toBe(true);
});

it('forgets what came when the connection ends', async () => {
  await accepted;
  const half = Buffer.alloc(500_000);
  client.write(frame(BINARY, 2 * half.length, half));
  await settled(() => held.bytes >= half.length);
  client.destroy();
  await settled(() => held.bytes === 0);
  expect(held.bytes).toBe(0);
});

it('does not add up what is over: whole messages, and pings between', async () => {
  const { webSocket } = await accepted;
  let pings = 0;
  webSocket.on('ping', () => pings++);
  for (let count = 1; count <= 10; count++) {
    client.write(ping());
    await settled(() => pings === count);
  }
  expect(held.bytes).toBe(0);
  client.write(frame(BINARY, 5, Buffer.from('hello')));
  await once(webSocket, 'message');
  expect(held).toMatchObject({ bytes: 0, most: 0 });
});

it('refuses a message of very many pieces', async () => {
  await accepted;
  let received = Buffer.alloc(0);
  client.on('data', (chunk: Buffer) => (received = Buffer.concat([received, chunk])));
  const one = Buffer.from('x');
  client.write(frame(BEGINNING, 1, one));
  client.write(Buffer.concat(Array.from({ length: 5_000 }, () => frame(CONTINUATION, 1, one))));
  await once(client, 'close');
  // A close frame: policy violation (RFC 6455, 7.4.1).
  expect(received[0]).toBe(0x88);
  expect(received.readUInt16BE(2)).toBe(1008);
});
