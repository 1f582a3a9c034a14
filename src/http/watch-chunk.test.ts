import { createServer, get, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { WatchItem } from '../registry/types';
import { encodeBatch, writeChunk } from './watch-chunk';
import type { WatchEncoder } from './watch-encoder';

const item: WatchItem = { type: 'ADDED', entry: { key: 'a' } as never };

const event = jest.fn(() => [Buffer.from('{"type":'), Buffer.from('"ADDED"}\n')]);

function encoderOf(shared: boolean): WatchEncoder {
  return { contentType: 'application/json', shared, event, bookmark: () => [], error: () => [] };
}

async function bodyOf(write: (response: ServerResponse) => void, chunked: boolean): Promise<string> {
  const server = createServer((_request, response) => {
    response.useChunkedEncodingByDefault = chunked;
    response.writeHead(200);
    response.flushHeaders();
    write(response);
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  try {
    return await new Promise<string>((resolve, reject) => {
      get({ port, host: '127.0.0.1', agent: false }, (response) => {
        let text = '';
        response.on('data', (piece: Buffer) => (text += piece.toString('utf8')));
        response.on('end', () => resolve(text));
      }).on('error', reject);
    });
  } finally {
    server.close();
  }
}

describe('watch chunks', () => {
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
