import { createServer, get, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { WatchItem } from '../../registry/types';
import { COPIED_BYTES } from '../transport/tls-copies';
import { chunkTaken, encodeBatch, writeChunk } from './watch-chunk';
import type { WatchEncoder } from './watch-encoder';

const item: WatchItem = { type: 'ADDED', entry: { key: 'a' } as never };

const event = jest.fn(() => [Buffer.from('{"type":'), Buffer.from('"ADDED"}\n')]);

function encoderOf(shared: boolean): WatchEncoder {
  return { contentType: 'application/json', shared, event, bookmark: () => [], error: () => [] };
}

async function bodyOf(write: (response: ServerResponse) => void | Promise<void>, chunked: boolean): Promise<string> {
  let failure: Error | undefined;
  const server = createServer((_request, response) => {
    void answer(response);
  });
  const answer = async (response: ServerResponse): Promise<void> => {
    response.useChunkedEncodingByDefault = chunked;
    response.writeHead(200);
    response.flushHeaders();
    try {
      await write(response);
      response.end();
    } catch (error) {
      response.destroy(error as Error);
      failure = error as Error;
    }
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  try {
    return await new Promise<string>((resolve, reject) => {
      get({ port, host: '127.0.0.1', agent: false }, (response) => {
        let text = '';
        response.on('data', (piece: Buffer) => (text += piece.toString('utf8')));
        response.on('end', () => resolve(text)).on('error', (error) => reject(failure ?? error));
      }).on('error', (error) => reject(failure ?? error));
    });
  } finally {
    server.close();
  }
}

/** What the client that does not read yet makes the server hold. */
function holder() {
  const memory = { bytes: 0, most: 0 };
  return Object.assign(memory, {
    hold: (bytes: number) => {
      memory.bytes += bytes;
      memory.most = Math.max(memory.most, memory.bytes);
    },
    release: (bytes: number) => {
      memory.bytes -= bytes;
    },
  });
}

const PART_BYTES = 256 * 1024;
const FRAME_BYTES = '1e8480\r\n\r\n'.length;

describe('a long chunk', () => {
  const long: WatchEncoder = { ...encoderOf(true), event: () => [Buffer.alloc(2_000_000, 'x')] };

  it('is handed over in parts, each when the connection has taken the one before', async () => {
    const chunk = encodeBatch([item], long);
    const memory = holder();
    const steps: string[] = [];
    const body = await bodyOf(async (response) => {
      const socket = response.socket!;
      const write = socket.write.bind(socket);
      jest.spyOn(socket, 'write').mockImplementation((bytes) => {
        steps.push(bytes.length > PART_BYTES ? 'too much' : 'part');
        write(bytes);
        return false;
      });
      expect(writeChunk(response, chunk)).toBe(false);
      await chunkTaken(response, chunk, memory, async () => void steps.push('taken'));
      jest.restoreAllMocks();
    }, true);
    expect(body).toBe('x'.repeat(2_000_000));
    expect(steps).toEqual(Array.from({ length: 10 }, () => ['part', 'taken']).flat());
    expect(memory).toMatchObject({ bytes: 0, most: 2_000_000 + FRAME_BYTES + COPIED_BYTES });
  });

  it('counts once itself, and what TLS has copied for each connection that waits', async () => {
    const chunk = encodeBatch([item], long);
    const [first, second] = [holder(), holder()];
    let held: readonly number[] = [];
    let release = (): void => undefined;
    const taken = new Promise<void>((resolve) => (release = resolve));
    await bodyOf(async (response) => {
      writeChunk(response, chunk);
      const waiting = [first, second].map((memory) => chunkTaken(response, chunk, memory, () => taken));
      held = [first.bytes, second.bytes];
      release();
      await Promise.all(waiting);
    }, true).catch(() => undefined);
    expect(held).toEqual([2_000_000 + FRAME_BYTES + COPIED_BYTES, COPIED_BYTES]);
    expect([first.bytes, second.bytes]).toEqual([0, 0]);
  });
});

describe('watch chunks', () => {
  it('have large objects as they lie in memory', () => {
    const large = Buffer.alloc(100_000, 'x');
    const encoder: WatchEncoder = { ...encoderOf(false), event: () => [Buffer.from('{'), large, Buffer.from('}')] };
    const { framed, pieces } = encodeBatch([item, item], encoder);
    expect(framed.filter((piece) => piece === large)).toHaveLength(2);
    expect(Buffer.concat(pieces).toString()).toBe(`{${String(large)}}`.repeat(2));
    expect(Buffer.concat(framed).toString()).toBe(`30d44\r\n${Buffer.concat(pieces).toString()}\r\n`);
  });

  it('are made once for all streams of a format that are given the same items', () => {
    const encoder = encoderOf(true);
    const items = [item, item];
    expect(encodeBatch(items, encoder)).toBe(encodeBatch(items, encoder));
    expect(event).toHaveBeenCalledTimes(2);
  });

  it('are made for each stream of a format that differs from stream to stream', () => {
    const encoder = encoderOf(false);
    const items = [item];
    expect(encodeBatch(items, encoder)).not.toBe(encodeBatch(items, encoder));
  });

  it.each([
    ['chunked bodies', true],
    ['bodies that end with the connection', false],
  ])('arrive in %s', async (_what, chunked) => {
    const chunk = encodeBatch([item], encoderOf(true));
    const body = await bodyOf((response) => {
      for (let count = 0; count < 3; count++) writeChunk(response, chunk);
    }, chunked);
    expect(body).toBe('{"type":"ADDED"}\n'.repeat(3));
  });
});
