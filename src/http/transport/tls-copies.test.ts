import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { connect, createServer, type Server, type TLSSocket } from 'node:tls';
import { MemoryBudget } from '../../memory/memory-budget';
import { countTurns } from '../../../test/support/count-turns';
import { tls } from '../../../test/support/serving-keys';
import { COPIED_BYTES, TlsCopies } from './tls-copies';

const LARGE_BYTES = 256 * 1024;
/** Room for the large writes of one connection. */
const BUDGET_BYTES = 4 * LARGE_BYTES;

interface Handle {
  writeBuffer(request: unknown, bytes: Buffer): number;
}

let server: Server;
let copies: TlsCopies;
let clients: TLSSocket[];

beforeEach(async () => {
  clients = [];
  server = createServer({ key: tls.key, cert: tls.cert });
  copies = new TlsCopies(new MemoryBudget(BUDGET_BYTES));
  copies.attach(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(async () => {
  for (const client of clients) client.destroy();
  server.close();
  await once(server, 'close');
});

interface Connection {
  readonly socket: Socket;
  readonly client: TLSSocket;
  /** The lengths of what TLS was given. */
  readonly given: readonly number[];
  /** Until the client has had so many bytes. */
  readonly received: (length: number) => Promise<Buffer>;
}

async function open(): Promise<Connection> {
  const accepted = once(server, 'secureConnection') as Promise<[Socket]>;
  const { port } = server.address() as AddressInfo;
  const client = connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
  clients.push(client);
  const [socket] = await accepted;
  const given: number[] = [];
  const handle = (socket as unknown as { _handle: Handle })._handle;
  const write = handle.writeBuffer.bind(handle);
  handle.writeBuffer = (request, bytes) => {
    given.push(bytes.length);
    return write(request, bytes);
  };
  const pieces: Buffer[] = [];
  client.on('data', (piece: Buffer) => pieces.push(piece));
  const received = async (length: number): Promise<Buffer> => {
    while (Buffer.concat(pieces).length < length) await once(client, 'data');
    return Buffer.concat(pieces);
  };
  return { socket, client, given, received };
}

const large = Buffer.from(Array.from({ length: LARGE_BYTES }, (_, index) => (index * 7) % 251));

it('large writes are whole on as many connections as there is room for, and go to TLS in records on the others', async () => {
  const [first, second] = [await open(), await open()];
  for (const { socket, received } of [first, second]) {
    socket.write(large);
    expect(large.equals(await received(LARGE_BYTES))).toBe(true);
  }
  expect(first.given).toEqual([LARGE_BYTES]);
  expect(second.given).toHaveLength(Math.ceil(LARGE_BYTES / COPIED_BYTES));
  expect(Math.max(...second.given)).toBe(COPIED_BYTES);
});

it('the room of a connection is free again when it has ended', async () => {
  const first = await open();
  first.socket.write(large);
  await first.received(LARGE_BYTES);
  const closed = once(first.socket, 'close');
  first.client.destroy();
  await closed;
  const second = await open();
  second.socket.write(large);
  await second.received(LARGE_BYTES);
  expect(second.given).toEqual([LARGE_BYTES]);
});

it('what was written in many pieces arrives as it was written, small ones together', async () => {
  const holder = await open();
  holder.socket.write(large);
  await holder.received(LARGE_BYTES);
  const { socket, given, received } = await open();
  const pieces = [...Array.from({ length: 1000 }, (_, index) => `piece ${index} ü,`), large, 'the end'];
  socket.cork();
  for (const piece of pieces) socket.write(piece);
  socket.uncork();
  const sent = Buffer.concat(pieces.map((piece) => Buffer.from(piece as string)));
  expect(sent.equals(await received(sent.length))).toBe(true);
  expect(Math.max(...given)).toBeLessThanOrEqual(COPIED_BYTES);
  expect(given.length).toBeLessThan(sent.length / COPIED_BYTES + 3);
});

it('connections that end at once all end', async () => {
  const connections: Connection[] = [];
  for (let count = 0; count < 100; count++) connections.push(await open());
  const closed = connections.map(({ socket }) => once(socket, 'close'));
  for (const { socket } of connections) socket.destroy();
  await Promise.all(closed);
  expect(connections.every(({ socket }) => socket.destroyed)).toBe(true);
});

it('connections that are closed at once are closed a few in a turn of the loop', async () => {
  let now = performance.now();
  jest.spyOn(performance, 'now').mockImplementation(() => (now += 1));
  try {
    const connections: Connection[] = [];
    for (let count = 0; count < 40; count++) connections.push(await open());
    const sockets = connections.map(({ socket }) => socket);
    const turns = await countTurns(sockets, 'shutdown', () => sockets.forEach((socket) => socket.resume().end()));
    expect(turns.reduce((sum, count) => sum + count, 0)).toBe(40);
    expect(Math.max(...turns)).toBeLessThan(10);
  } finally {
    jest.restoreAllMocks();
  }
});

it('a connection that is closed among others while its client sends takes no more of it', async () => {
  const { socket, client } = await open();
  const closed = once(socket, 'close');
  let taken = 0;
  socket.on('data', ({ length }: Buffer) => {
    taken += length;
    if (socket.destroyed) return;
    // Its turn comes only after others'.
    for (let others = 0; others < 100; others++) copies.ends.starts.wait(others, () => undefined);
    socket.destroy();
  });
  client.on('error', () => undefined).write(Buffer.alloc(4 * LARGE_BYTES));
  await closed;
  expect(taken).toBeGreaterThan(0);
  expect(taken).toBeLessThanOrEqual(COPIED_BYTES + 1);
});

it('what a connection leaves behind fails without a stack, and what fails later has one', async () => {
  const { socket, client } = await open();
  const stackOf = (): string => new Error('left behind').stack ?? '';
  const stack = new Promise<string>((resolve) => socket.once('close', () => resolve(stackOf())));
  client.destroy();
  expect(await stack).toBe('Error: left behind');
  await new Promise((resolve) => setImmediate(resolve));
  expect(stackOf()).toContain('\n    at ');
});
