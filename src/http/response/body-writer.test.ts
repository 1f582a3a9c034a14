import { randomBytes } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync, gzipSync } from 'node:zlib';
import { MemoryBudget } from '../../memory/memory-budget';
import { takesGzip, writePieces, writeReady, type BodyWrite } from './body-writer';

interface Response {
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

async function responseOf(write: (response: ServerResponse) => unknown): Promise<Response> {
  const server = createServer((_request, response) => void write(response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  try {
    return await new Promise<Response>((resolve, reject) => {
      get({ port, host: '127.0.0.1', agent: false }, (response) => {
        const pieces: Buffer[] = [];
        response.on('data', (piece: Buffer) => pieces.push(piece));
        response.on('end', () => resolve({ headers: response.headers, body: Buffer.concat(pieces) }));
      }).on('error', reject);
    });
  } finally {
    server.close();
  }
}

const allBytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
const options: BodyWrite = {
  code: 200,
  contentType: 'text/plain',
  length: undefined,
  acceptEncoding: undefined,
  request: { memory: new MemoryBudget(Infinity).open(() => undefined), workOwner: 'a', describeWork: () => ({}) },
};

describe('the body writer', () => {
  it.each([
    ['small', 1],
    ['large', 200],
  ])('sends every byte of a %s body as it is', async (_what, times) => {
    const body = Buffer.concat(Array.from({ length: times }, () => allBytes));
    const answer = await responseOf((response) =>
      writeReady(response, { ...options, length: body.length }, [body], false),
    );
    expect(answer.body.equals(body)).toBe(true);
    expect(answer.headers['content-length']).toBe(String(body.length));
  });

  it.each([
    ['nothing', []],
    ['small pieces', Array.from({ length: 50 }, () => Array.from({ length: 100 }, () => allBytes))],
    ['pieces larger than a block', [[Buffer.alloc(700_000, 'a'), allBytes], [], [Buffer.alloc(600_000, 'b')]]],
  ])('sends pieces in their order: %s', async (_what, pieces) => {
    const body = Buffer.concat(pieces.flat());
    for (const length of [undefined, body.length]) {
      const plain = await responseOf((response) => writePieces(response, { ...options, length }, pieces));
      expect(plain.body.equals(body)).toBe(true);
    }
    const zipped = await responseOf((response) =>
      writePieces(response, { ...options, acceptEncoding: 'gzip' }, pieces),
    );
    expect(zipped.headers['content-encoding']).toBe('gzip');
    expect(gunzipSync(zipped.body).equals(body)).toBe(true);
  });

  it('hands over one part in a turn of the event loop, however many clients have taken theirs', async () => {
    const writes: number[] = [];
    let turn = 0;
    class Client extends EventEmitter {
      readonly headersSent = false;
      readonly destroyed = false;
      hasHeader = (): boolean => false;
      writeHead = (): this => this;
      end = (): this => this;
      write = (): boolean => {
        writes.push(turn);
        return false;
      };
    }
    const clients = [1, 2, 3].map(() => new Client());
    const piece = Buffer.alloc(100_000);
    const written = clients.map((client) =>
      writePieces(client as unknown as ServerResponse, options, [[piece], [piece]]),
    );
    expect(writes).toHaveLength(3);
    clients.forEach((client) => client.emit('drain'));
    while (writes.length < 6) {
      turn++;
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(new Set(writes.slice(3)).size).toBe(3);
    const isEnded = Promise.all(written);
    clients.forEach((client) => client.emit('drain'));
    await isEnded;
  });

  it('lets others have their turn while pieces take long to make', async () => {
    const now = jest.spyOn(performance, 'now');
    let ms = 0;
    now.mockImplementation(() => ms);
    let others = 0;
    const seen: number[] = [];
    function* slowly(): Generator<readonly Uint8Array[]> {
      for (let piece = 0; piece < 3; piece++) {
        seen.push(others);
        setImmediate(() => others++);
        ms += 100;
        yield [allBytes];
      }
    }
    try {
      const answer = await responseOf((response) => writePieces(response, options, slowly()));
      expect(answer.body).toHaveLength(3 * allBytes.length);
      expect(seen).toEqual([0, 1, 2]);
    } finally {
      now.mockRestore();
    }
  });

  it('does not compress again what is compressed already', async () => {
    const body = randomBytes(200_000);
    const answer = await responseOf((response) => {
      response.setHeader('Content-Encoding', 'gzip');
      const ready = gzipSync(body);
      return writeReady(response, { ...options, acceptEncoding: 'gzip', length: ready.length }, [ready], false);
    });
    expect(gunzipSync(answer.body).equals(body)).toBe(true);
  });
});

describe('takesGzip', () => {
  it.each([
    ['gzip', true],
    ['deflate, gzip', true],
    ['gzip, deflate, br', true],
    ['br;q=1.0, gzip;q=0.8, *;q=0.1', true],
    ['gzip;q=0', false],
    ['gzip; q=0.000, br', false],
    ['identity', false],
    ['', false],
    [undefined, false],
  ])('%s: %s', (header, expected) => {
    expect(takesGzip(header)).toBe(expected);
  });
});
