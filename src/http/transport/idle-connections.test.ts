import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import { connect as connectTcp, type AddressInfo, type Socket } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import { tls } from '../../../test/support/serving-keys';
import { IdleConnections } from './idle-connections';
import { stuckAfter } from './stuck-writes';

const IDLE_MS = 160;

let server: Server;
let client: Socket;

beforeEach(async () => {
  server = createServer({ key: tls.key, cert: tls.cert }).listen(0, '127.0.0.1');
  const idle = new IdleConnections(IDLE_MS);
  server.on('secureConnection', (socket: TLSSocket) => idle.add(socket));
  await once(server, 'listening');
});

afterEach(() => {
  client.destroy();
  server.closeAllConnections();
  server.close();
});

/** The server's end of a connection that asks something, and the response to be given there. */
async function ask(): Promise<[TLSSocket, ServerResponse]> {
  const accepted = once(server, 'secureConnection') as Promise<[TLSSocket]>;
  const requested = once(server, 'request') as Promise<[unknown, ServerResponse]>;
  client = connectTcp((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined);
  const secured = connect({ socket: client, rejectUnauthorized: false }).on('error', () => undefined);
  secured.on('secureConnect', () => secured.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n'));
  const [connection] = await accepted;
  connection.on('error', () => undefined);
  const [, response] = await requested;
  return [connection, response];
}

const after = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

describe('a connection whose client has reset it before it had tickets for its session', () => {
  it('is closed, as what is written to it never ends', async () => {
    // Node writes them when it has told of the connection.
    server.on('secureConnection', () => client.resetAndDestroy());
    const [connection, response] = await ask();
    const closed = once(connection, 'close');
    // Between that write and the look at the sockets which finds the end.
    setImmediate(() => response.end('never taken'));
    await once(connection, 'end');
    await after(IDLE_MS / 16);
    expect(stuckAfter(connection)).toBeGreaterThan(0);
    expect([connection.destroyed, connection.writableLength > 0]).toEqual([false, true]);
    await closed;
  });
});

describe('a connection that writes', () => {
  it('stays for as long as it is being answered, although its client takes nothing', async () => {
    const [connection, response] = await ask();
    response.write(Buffer.alloc(32 * 1024 * 1024));
    await after(2 * IDLE_MS);
    expect(stuckAfter(connection)).toBeUndefined();
    expect([connection.destroyed, connection.writableLength > 0]).toEqual([false, true]);
  });

  it('is closed when it has been silent for long after that', async () => {
    const [connection, response] = await ask();
    response.end();
    await once(connection, 'close');
  });
});
