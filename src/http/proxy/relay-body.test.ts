import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type Server } from 'node:http';
import { Socket, type AddressInfo } from 'node:net';
import { PassThrough, Readable } from 'node:stream';
import { MAX_WAITING_BYTES } from '../../streams/backpressure';
import { Http2Response } from '../http2/http2-response';
import { RequestContext } from '../request/context';
import type { HttpRequest } from '../transport/exchange';
import { relayBody } from './relay-body';

const BLOCK_BYTES = 16 * 1024;
const BLOCKS = 2048;

function* blocks(): Generator<Buffer> {
  for (let index = 0; index < BLOCKS; index++) yield Buffer.alloc(BLOCK_BYTES, 'x');
}

let server: Server | undefined;

afterEach(() => {
  server?.close();
  server = undefined;
});

it('holds a body back while a client over HTTP/1.1 takes nothing, and passes all on in the end', async () => {
  const source = Readable.from(blocks(), { objectMode: false });
  const isHeldBack = once(source, 'pause');
  let waiting = 0;
  server = createServer((request, response) => {
    const context = new RequestContext(request, response);
    source.on('pause', () => (waiting = Math.max(waiting, response.writableLength)));
    void relayBody(source, context).then(() => response.end());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const asked = get({ port: (server.address() as AddressInfo).port, agent: false });
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  await isHeldBack;
  expect(waiting).toBeGreaterThan(MAX_WAITING_BYTES);
  // And the framing of the piece that was one too many.
  expect(waiting).toBeLessThan(MAX_WAITING_BYTES + 4 * BLOCK_BYTES);
  let came = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) came += chunk.length;
  expect(came).toBe(BLOCKS * BLOCK_BYTES);
});

it('what comes in one turn of the event loop leaves in one write over HTTP/1.1', async () => {
  const source = new PassThrough();
  const written: number[] = [];
  server = createServer((request, response) => {
    const { socket } = request;
    const writev = socket._writev!.bind(socket);
    socket._writev = (chunks, done) => {
      written.push(chunks.reduce((sum, { chunk }) => sum + (chunk as string | Buffer).length, 0));
      writev(chunks, done);
    };
    response.flushHeaders();
    void relayBody(source, new RequestContext(request, response)).then(() => response.end());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const asked = get({ port: (server.address() as AddressInfo).port, agent: false });
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  // As TLS hands them out, record by record.
  for (let record = 0; record < 3; record++) {
    source.write(Buffer.alloc(1_000, 'x'));
    await new Promise((resolve) => process.nextTick(resolve));
  }
  setImmediate(() => source.end());
  let came = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) came += chunk.length;
  expect(came).toBe(3_000);
  expect(written.filter((bytes) => bytes >= 1_000)).toHaveLength(1);
});

it('holds a body back while the windows of a client over HTTP/2 are closed, and releases what waited once', async () => {
  const source = new PassThrough({ highWaterMark: BLOCKS * BLOCK_BYTES });
  let sent = 0;
  let isHeldBack = true;
  const response = new Http2Response(
    {
      isClosed: false,
      get isHeldBack() {
        return isHeldBack;
      },
      sendHead: () => undefined,
      sendData: (bytes) => (sent += bytes.length),
      keepTrailers: () => undefined,
      abort: () => undefined,
      leaveConnection: () => undefined,
    },
    false,
  );
  const context = new RequestContext({ httpVersion: '2.0', socket: new Socket() } as HttpRequest, response);
  let held = 0;
  const { account } = context.memory;
  jest.spyOn(account, 'hold').mockImplementation((bytes) => (held += bytes));
  jest.spyOn(account, 'release').mockImplementation((bytes) => (held -= bytes));
  const end = relayBody(source, context);
  const paused = once(source, 'pause');
  for (const block of blocks()) source.write(block);
  source.end();
  await paused;
  expect(sent).toBe(MAX_WAITING_BYTES + BLOCK_BYTES);
  // With what the source sends ahead.
  expect(held).toBe(BLOCKS * BLOCK_BYTES);
  isHeldBack = false;
  response.emit('drain');
  expect(held).toBe(0);
  expect(await end).toBe('whole');
  expect(sent).toBe(BLOCKS * BLOCK_BYTES);
});
