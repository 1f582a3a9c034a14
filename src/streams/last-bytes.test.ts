import { SocketPairs } from '../../test/support/socket-pairs';
import type { AddressInfo, Socket } from 'node:net';
import { createServer as createHttpServer } from 'node:http';
import { once } from 'node:events';
import { WebSocket } from 'ws';
import {
  acceptWebSocket,
  closeWebSocket,
  CLOSE_GOING_AWAY,
  CLOSE_NORMAL,
  type AcceptedWebSocket,
} from './accept-web-socket';
import { joinSockets } from './join-sockets';
import { endBackend } from './last-bytes';

/** More than the kernel takes for a reader that does not read. */
const MUCH = 32 * 1024 * 1024;
const MINUTE_MS = 60_000;
const MANY_TURNS = 1_000;
const NO_BOOKS = { hold: () => undefined, release: () => undefined };

let pairs: SocketPairs;

beforeEach(async () => {
  pairs = await SocketPairs.listen();
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'performance', 'Date', 'queueMicrotask'] });
});

afterEach(async () => {
  jest.useRealTimers();
  await pairs.close();
});

function turns(condition: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => void (condition() ? resolve() : setImmediate(look));
    look();
  });
}

it('leaves a reader time for what was sent before the other side ended', async () => {
  const [reader, client] = await pairs.pair();
  const [backend, near] = await pairs.pair();
  let isOver = false;
  joinSockets(client, near, NO_BOOKS, () => (isOver = true));
  backend.write(Buffer.alloc(MUCH));
  // The kernel takes no more, and does not only need a moment.
  let still = 0;
  let seen = 0;
  await turns(() => {
    still = near.isPaused() && near.bytesRead === seen ? still + 1 : 0;
    seen = near.bytesRead;
    return still === MANY_TURNS;
  });
  near.destroy();
  await turns(() => isOver);
  const sent = client.bytesWritten;
  jest.advanceTimersByTime(MINUTE_MS);
  let came = 0;
  reader.on('data', (chunk: Buffer) => (came += chunk.length));
  await once(reader, 'end');
  expect(came).toBe(sent);
});

it('does not wait for a backend that takes nothing when its client is gone', async () => {
  const [, near] = await pairs.pair();
  near.write(Buffer.alloc(MUCH));
  await turns(() => near.writableLength > 0);
  endBackend(near);
  expect(near.destroyed).toBe(false);
  jest.advanceTimersByTime(MINUTE_MS);
  expect(near.destroyed).toBe(true);
});

describe('a WebSocket', () => {
  async function accepted(): Promise<{ readonly client: WebSocket; readonly server: AcceptedWebSocket }> {
    const http = createHttpServer().listen(0, '127.0.0.1');
    await once(http, 'listening');
    const taken = new Promise<AcceptedWebSocket>((resolve) => {
      http.on('upgrade', (request, socket: Socket, head) => {
        pairs.keep(socket);
        resolve(acceptWebSocket(request, socket, head, '', NO_BOOKS)!);
        http.close();
      });
    });
    const client = new WebSocket(`ws://127.0.0.1:${(http.address() as AddressInfo).port}`);
    await once(client, 'open');
    client.pause();
    return { client, server: await taken };
  }

  it('brings its client all that was sent before it was closed, however late that is read', async () => {
    const { client, server } = await accepted();
    server.webSocket.send(Buffer.alloc(MUCH));
    await turns(() => server.socket.writableLength > 0);
    closeWebSocket(server, CLOSE_NORMAL);
    jest.advanceTimersByTime(MINUTE_MS);
    let came = 0;
    client.on('message', (message: Buffer) => (came += message.length));
    client.resume();
    const [code] = (await once(client, 'close')) as [number];
    expect({ came, code }).toEqual({ came: MUCH, code: CLOSE_NORMAL });
  });

  it('waits for nobody when the server goes down', async () => {
    const { client, server } = await accepted();
    server.webSocket.send(Buffer.alloc(MUCH));
    closeWebSocket(server, CLOSE_NORMAL);
    closeWebSocket(server, CLOSE_GOING_AWAY);
    jest.advanceTimersByTime(MINUTE_MS / 10);
    expect(server.socket.destroyed).toBe(true);
    client.terminate();
  });
});
