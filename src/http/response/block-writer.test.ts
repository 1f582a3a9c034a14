import { createServer as createPlainServer, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { connect as connectPlain } from 'node:net';
import { Writable } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { createAuthority, issueKeyPair } from '../../pki/authority';
import { BlockPool } from '../../memory/block-pool';
import { MemoryBudget } from '../../memory/memory-budget';
import { BlockWriter } from './block-writer';
import { writePieces } from './body-writer';

const BLOCK_BYTES = 1024;

/** A connection that takes what it is given when the test says so. */
class SlowSink extends Writable {
  readonly chunks: Buffer[] = [];
  private taken: ((error?: Error | null) => void) | undefined;

  constructor() {
    super({ highWaterMark: 1 });
    this.on('error', () => undefined);
  }

  override _write(chunk: Buffer, _encoding: string, taken: (error?: Error | null) => void): void {
    this.chunks.push(chunk);
    this.taken = taken;
  }

  /** Ends the write under way. */
  take(error?: Error): void {
    const { taken } = this;
    this.taken = undefined;
    taken?.(error);
  }
}

function writerTo(sink: Writable): { out: BlockWriter; pool: BlockPool; given: () => number } {
  const pool = new BlockPool(BLOCK_BYTES, 10 * BLOCK_BYTES);
  const give = jest.spyOn(pool, 'release');
  const out = new BlockWriter(sink as unknown as ServerResponse, () => sink, undefined, pool);
  return { out, pool, given: () => give.mock.calls.length };
}

const pause = (ms: number): Promise<unknown> => new Promise((resolve) => setTimeout(resolve, ms));
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('BlockWriter', () => {
  it('gives a block back when its write has ended, and not before', async () => {
    const sink = new SlowSink();
    const { out, given } = writerTo(sink);
    const written = out.write(Buffer.alloc(BLOCK_BYTES + 1, 'a'));
    await turn();
    expect(sink.chunks).toHaveLength(1);
    expect(given()).toBe(0);
    sink.take();
    await written;
    expect(given()).toBe(1);
  });

  it('does not give back what stood in a write that failed, for somebody may still be reading it', async () => {
    const sink = new SlowSink();
    const { out, given } = writerTo(sink);
    const written = Promise.resolve(out.write(Buffer.alloc(BLOCK_BYTES + 1, 'a')));
    await turn();
    sink.take(new Error('the connection has broken'));
    await expect(written).rejects.toThrow('has broken');
    expect(given()).toBe(0);
  });

  it('writes a large piece as it is, after what came before it, and waits until it is taken', async () => {
    const sink = new SlowSink();
    const { out } = writerTo(sink);
    const large = Buffer.alloc(100_000, 'b');
    await out.write(Buffer.from('a'));
    const waiting = out.write(large);
    expect(waiting).toBeInstanceOf(Promise);
    sink.take();
    await turn();
    expect(sink.chunks.map(({ length }) => length)).toEqual([1, large.length]);
    expect(sink.chunks[1]?.buffer).toBe(large.buffer);
    sink.take();
    await waiting;
    expect(out.bytes).toBe(1 + large.length);
  });

  it('hands over a very large piece in parts, each when the one before it is taken, and counts no more than one', async () => {
    const sink = new SlowSink();
    const part = 256 * 1024;
    const budget = new MemoryBudget(4 * part);
    const memory = budget.open(() => undefined);
    budget.open(() => undefined);
    const out = new BlockWriter(sink as unknown as ServerResponse, () => sink, memory);
    const large = Buffer.alloc(3 * part + 10, 'b');
    const waiting = out.write(large);
    for (let parts = 1; parts <= 4; parts++) {
      expect(sink.chunks).toHaveLength(parts);
      expect(memory.bytes).toBe(sink.chunks.at(-1)!.length);
      sink.take();
      await turn();
    }
    await waiting;
    expect(sink.chunks.map(({ length }) => length)).toEqual([part, part, part, 10]);
    expect(sink.chunks[3]?.buffer).toBe(large.buffer);
    expect(out.bytes).toBe(large.length);
    expect(memory.bytes).toBe(0);
  });

  it('goes on no more when the client is gone, and leaves the block to the collector', async () => {
    const sink = new SlowSink();
    const { out, given } = writerTo(sink);
    const written = out.write(Buffer.alloc(5 * BLOCK_BYTES, 'a'));
    await turn();
    sink.destroy();
    await written;
    expect(out.closed).toBe(true);
    expect(sink.chunks).toHaveLength(1);
    expect(given()).toBe(0);
  });

  it('begins the answer with the first block, or when there is none', async () => {
    const sink = new SlowSink();
    const open = jest.fn(() => sink);
    const out = new BlockWriter(sink as unknown as ServerResponse, open);
    void out.write(Buffer.from('a little'));
    expect(open).not.toHaveBeenCalled();
    out.end();
    expect(open).toHaveBeenCalledTimes(1);
    const empty = new BlockWriter(sink as unknown as ServerResponse, open);
    empty.end();
    expect(open).toHaveBeenCalledTimes(2);
  });

  it('hands over every byte in its order, whatever the sizes of the pieces', () =>
    fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 30 }), async (pieces) => {
        const chunks: Buffer[] = [];
        const sink = new Writable({
          highWaterMark: 1,
          write(chunk: Buffer, _encoding, taken) {
            setImmediate(() => {
              chunks.push(Buffer.from(chunk));
              taken();
            });
          },
        });
        const out = new BlockWriter(sink as unknown as ServerResponse, () => sink, undefined, new BlockPool(16, 64));
        for (const piece of pieces) await out.write(piece);
        const finished = new Promise((resolve) => sink.on('finish', resolve));
        out.end();
        await finished;
        const all = Buffer.concat(pieces);
        expect(Buffer.concat(chunks).equals(all)).toBe(true);
        expect(out.bytes).toBe(all.length);
      }),
      { numRuns: 30 },
    ));
});

/**
 * Real connections, all at once, that share the pool. Each answer is made of a byte of its own and of positions, so that
 * whatever came from another answer or another place shows.
 */
describe.each(['plain', 'tls'])('many slow clients over %s', (transport) => {
  /** More than the buffers of a connection hold. */
  const BODY_BYTES = 10_000_000;
  const memory = new MemoryBudget(Infinity).open(() => undefined);
  const now = new Date();
  const authority = createAuthority('test-ca', now);
  const names = { subject: { commonName: 's', organizations: [] }, altNames: ['localhost'] };
  const serving = issueKeyPair(authority, { ...names, usages: ['server auth'] }, now);

  const bodyOf = (client: number): Buffer => {
    const body = Buffer.alloc(BODY_BYTES, client);
    for (let at = 0; at + 4 <= BODY_BYTES; at += 64) body.writeUInt32LE(at, at);
    return body;
  };
  const piecesOf = (body: Buffer): Buffer[] => {
    const pieces: Buffer[] = [];
    for (let at = 0; at < body.length; at += 1500) pieces.push(body.subarray(at, at + 1500));
    return pieces;
  };
  const listener: RequestListener = ({ url = '', headers }, response) => {
    const [, client, known] = url.split('/');
    const body = bodyOf(Number(client));
    const write = {
      code: 200,
      contentType: 'text/plain',
      length: known === 'known' ? body.length : undefined,
      acceptEncoding: headers['accept-encoding'],
      request: { memory, workOwner: 'a', describeWork: () => ({}) },
    };
    response.on('error', () => undefined);
    void writePieces(response, write, [piecesOf(body)]);
  };
  const server =
    transport === 'tls'
      ? createTlsServer({ cert: serving.certificatePem, key: serving.privateKeyPem }, listener)
      : createPlainServer(listener);
  let port = 0;
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    ({ port } = server.address() as AddressInfo);
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  const connect = (): Socket =>
    transport === 'tls'
      ? connectTls({ port, host: '127.0.0.1', servername: 'localhost', ca: authority.certificatePem })
      : connectPlain({ port, host: '127.0.0.1' });

  /** Reads nothing for a while, then a little now and then. `leaveAfter`: bytes after which the client is gone. */
  async function read(path: string, gzip: boolean, leaveAfter = Infinity): Promise<Buffer> {
    const socket = connect();
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${gzip ? 'Accept-Encoding: gzip\r\n' : ''}\r\n`,
    );
    const chunks: Buffer[] = [];
    let bytes = 0;
    await pause(200);
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > leaveAfter) break;
      if (chunks.length % 16 === 0) await pause(Math.random() * 4);
    }
    socket.destroy();
    return Buffer.concat(chunks);
  }

  it.each([
    ['of known length', 'known', false],
    ['in chunks', 'unknown', false],
    ['compressed', 'unknown', true],
  ])('get each its own bytes %s, also while others go away', async (_how, known, gzip) => {
    const clients = Array.from({ length: 8 }, (_, client) => client + 1);
    const leaving = clients.map((client) => read(`/${client + 100}/${known}`, gzip, 200_000));
    const responses = await Promise.all(clients.map((client) => read(`/${client}/${known}`, gzip)));
    await Promise.all(leaving);
    for (const client of clients) {
      const answer = bodyOfResponse(responses[client - 1]!);
      expect((gzip ? gunzipSync(answer) : answer).equals(bodyOf(client))).toBe(true);
    }
  });
});

/** Of an answer as it came over the wire. */
function bodyOfResponse(response: Buffer): Buffer {
  const headEnd = response.indexOf('\r\n\r\n') + 4;
  const body = response.subarray(headEnd);
  if (!/transfer-encoding: chunked/i.test(response.subarray(0, headEnd).toString('latin1'))) return body;
  const chunks: Buffer[] = [];
  for (let at = 0; ;) {
    const line = body.indexOf('\r\n', at);
    const size = parseInt(body.subarray(at, line).toString('latin1'), 16);
    if (size === 0) return Buffer.concat(chunks);
    chunks.push(body.subarray(line + 2, line + 2 + size));
    at = line + 2 + size + 2;
  }
}
