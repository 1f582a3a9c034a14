import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect as connectHttp2, type ClientHttp2Session } from 'node:http2';
import { get } from 'node:https';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { Readable } from 'node:stream';
import { connect, type TLSSocket } from 'node:tls';
import { WebSocket } from 'ws';
import { dataHead, HeaderFrames, SpdyReader } from '../../src/streams/spdy-frames';
import { StreamingCluster } from '../support/streaming-cluster';

/** A client that does not read, and another that does. By bytes, not by time: the second one gets all of its own meanwhile. */

const MIB = 1024 * 1024;
/** More than all buffers on the way together. */
const HELD_UP = 64 * MIB;
const NEIGHBOUR = 16 * MIB;
const POD = '/api/v1/namespaces/ns/pods/pod';

interface Client {
  readonly received: () => number;
  readonly resume: () => void;
}

/** Opens a stream of so many bytes, and calls `onBytes` with how many have come so far. Reads no more once it has returned false. */
type Opener = (bytes: number, onBytes: (received: number) => boolean) => Promise<Client>;

let cluster: StreamingCluster;
let session: ClientHttp2Session;
/** Sends as many bytes as the first four that come say. */
let source: Server;
/** By whatever stands behind the streams. */
let written = 0;

function* blocks(bytes: number): Generator<Buffer> {
  const block = Buffer.alloc(64 * 1024, 'x');
  for (let left = bytes; left > 0; left -= block.length) {
    const piece = block.subarray(0, Math.min(left, block.length));
    written += piece.length;
    yield piece;
  }
}

beforeAll(async () => {
  cluster = await StreamingCluster.start({
    writeLog: (response: ServerResponse, query) => {
      Readable.from(blocks(Number(query.get('limitBytes')))).pipe(response);
    },
  });
  session = connectHttp2(cluster.server.url, { rejectUnauthorized: false });
  source = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (size: Buffer) => Readable.from(blocks(size.readUInt32BE(0))).pipe(socket));
  }).listen(0, '127.0.0.1');
}, 60_000);

afterAll(async () => {
  session.destroy();
  await cluster.stop();
  await new Promise((resolve) => source.close(resolve));
});

/** A count that holds its stream up as it is told. */
function counting(
  stream: { pause(): unknown; resume(): unknown },
  onBytes: (received: number) => boolean,
): Client & { readonly add: (bytes: number) => void } {
  let received = 0;
  return {
    received: () => received,
    resume: () => void stream.resume(),
    add: (bytes) => {
      received += bytes;
      if (!onBytes(received)) stream.pause();
    },
  };
}

const execOverWebSocket: Opener = async (bytes, onBytes) => {
  const { url, token } = cluster.server;
  const webSocket = new WebSocket(
    `${url.replace('https', 'wss')}${POD}/exec?command=flood&command=${bytes}&stdout=true`,
    ['v5.channel.k8s.io'],
    { rejectUnauthorized: false, headers: { authorization: `Bearer ${token}` } },
  );
  const client = counting(webSocket, onBytes);
  webSocket.on('message', (message: Buffer) => {
    if (message[0] === 1 && message.length > 1) client.add(message.length - 1);
  });
  await once(webSocket, 'open');
  return client;
};

interface Upgraded {
  readonly socket: TLSSocket;
  readonly client: Client;
  readonly reader: SpdyReader;
}

/** A connection that has been upgraded. The reader of what comes over SPDY counts the data of its stream `id`. */
async function openUpgraded(
  method: string,
  path: string,
  headers: string,
  id: number,
  onBytes: (received: number) => boolean,
): Promise<Upgraded> {
  const { url, token } = cluster.server;
  const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port), rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  socket.write(`${method} ${POD}/${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n${headers}\r\n`);
  const [head] = (await once(socket, 'data')) as [Buffer];
  expect(head.toString('latin1')).toMatch(/^HTTP\/1.1 101 [^]*\r\n\r\n$/);
  const client = counting(socket, onBytes);
  const reader = new SpdyReader({
    control: () => undefined,
    data: (stream, data) => {
      if (stream === id && data.length > 0) client.add(data.length);
    },
  });
  return { socket, client, reader };
}

async function openSpdy(path: string, id: number, onBytes: (received: number) => boolean): Promise<Upgraded> {
  const protocols = ['v4.channel.k8s.io', 'portforward.k8s.io'].map((name) => `X-Stream-Protocol-Version: ${name}\r\n`);
  const upgrade = `Connection: Upgrade\r\nUpgrade: SPDY/3.1\r\n${protocols.join('')}`;
  const upgraded = await openUpgraded('POST', path, upgrade, id, onBytes);
  upgraded.socket.on('data', (chunk: Buffer) => upgraded.reader.push(chunk));
  return upgraded;
}

const execOverSpdy: Opener = async (bytes, onBytes) => {
  const { socket, client } = await openSpdy(`exec?command=flood&command=${bytes}&stdout=true`, 3, onBytes);
  const frames = new HeaderFrames();
  socket.write(frames.synStream(1, { streamtype: 'error' }));
  socket.write(frames.synStream(3, { streamtype: 'stdout' }));
  return client;
};

/** Opens the two streams of a port, and asks for so many bytes through the second one. */
function forward(bytes: number): readonly Buffer[] {
  const frames = new HeaderFrames();
  const port = String((source.address() as AddressInfo).port);
  const size = Buffer.alloc(4);
  size.writeUInt32BE(bytes);
  return [
    frames.synStream(1, { streamtype: 'error', port, requestid: '0' }),
    frames.synStream(3, { streamtype: 'data', port, requestid: '0' }),
    Buffer.concat([dataHead(3, size.length, false), size]),
  ];
}

const forwardOverSpdy: Opener = async (bytes, onBytes) => {
  const { socket, client } = await openSpdy('portforward', 3, onBytes);
  socket.write(Buffer.concat(forward(bytes)));
  return client;
};

/** By hand: `ws` takes its subprotocol for none. */
const forwardOverWebSocket: Opener = async (bytes, onBytes) => {
  const upgrade =
    `Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n` +
    `Sec-WebSocket-Key: ${Buffer.alloc(16).toString('base64')}\r\nSec-WebSocket-Protocol: SPDY/3.1+portforward.k8s.io\r\n`;
  const { socket, client, reader } = await openUpgraded('GET', 'portforward', upgrade, 3, onBytes);
  let waiting: Buffer = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    waiting = Buffer.concat([waiting, chunk]);
    for (let frame = firstFrame(waiting); frame !== undefined; frame = firstFrame(waiting)) {
      reader.push(waiting.subarray(frame.start, frame.end));
      waiting = waiting.subarray(frame.end);
    }
  });
  // Masked with zeros, which is to say not at all.
  const send = (message: Buffer): void =>
    void socket.write(Buffer.concat([Buffer.from([0x82, 0xfe, 0, message.length, 0, 0, 0, 0]), message]));
  forward(bytes).forEach(send);
  return client;
};

/** Where the payload of a server's frame is, once all of it has come. */
function firstFrame(bytes: Buffer): { readonly start: number; readonly end: number } | undefined {
  if (bytes.length < 10) return undefined;
  const short = bytes[1]! & 0x7f;
  const start = short === 127 ? 10 : short === 126 ? 4 : 2;
  const length = short === 127 ? Number(bytes.readBigUInt64BE(2)) : short === 126 ? bytes.readUInt16BE(2) : short;
  return bytes.length < start + length ? undefined : { start, end: start + length };
}

/** All on one connection. */
const logOverHttp2: Opener = (bytes, onBytes) => {
  const stream = session.request({
    ':path': `${POD}/log?follow=true&limitBytes=${bytes}`,
    authorization: `Bearer ${cluster.server.token}`,
  });
  const client = counting(stream, onBytes);
  stream.on('data', (chunk: Buffer) => client.add(chunk.length));
  return Promise.resolve(client);
};

const logOverHttp1: Opener = async (bytes, onBytes) => {
  const { url, token } = cluster.server;
  const asked = get(`${url}${POD}/log?follow=true&limitBytes=${bytes}`, {
    agent: false,
    rejectUnauthorized: false,
    headers: { authorization: `Bearer ${token}` },
  });
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  const client = counting(response, onBytes);
  response.on('data', (chunk: Buffer) => client.add(chunk.length));
  return client;
};

const writtenInAll = (): number => written + cluster.kubelet.writtenBytes;

it.each<[string, Opener]>([
  ['exec over WebSocket', execOverWebSocket],
  ['exec over SPDY', execOverSpdy],
  ['port-forward over SPDY', forwardOverSpdy],
  ['port-forward over WebSocket', forwardOverWebSocket],
  ['a log over HTTP/1.1', logOverHttp1],
  ['a log that shares its HTTP/2 connection', logOverHttp2],
])('%s: a client that does not read holds up its own stream only', async (_, open) => {
  const before = writtenInAll();
  let isReading = false;
  let begun!: () => void;
  let ended!: () => void;
  const hasBegun = new Promise<void>((resolve) => (begun = resolve));
  const hasEnded = new Promise<void>((resolve) => (ended = resolve));
  const heldUp = await open(HELD_UP, (received) => {
    begun();
    if (received >= HELD_UP) ended();
    return isReading;
  });
  await hasBegun;

  await new Promise<void>((resolve, reject) => {
    open(NEIGHBOUR, (received) => {
      if (received === NEIGHBOUR) resolve();
      return true;
    }).catch(reject);
  });
  expect(heldUp.received()).toBeLessThan(MIB);
  expect(writtenInAll() - before).toBeLessThan(HELD_UP);

  isReading = true;
  heldUp.resume();
  await hasEnded;
  expect(heldUp.received()).toBe(HELD_UP);
});
