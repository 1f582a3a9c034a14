import { once } from 'node:events';
import { createServer, type ClientRequest, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { countTurns } from '../../test/support/count-turns';
import { BackendConnections } from './backend-connections';

/** More than may end in one turn of the loop. */
const MANY = 100;

let backend: Server;

beforeEach(async () => {
  backend = createServer((_request, response) => response.writeHead(200).write('x')).listen(0, '127.0.0.1');
  await once(backend, 'listening');
});

afterEach(async () => {
  jest.restoreAllMocks();
  backend.closeAllConnections();
  await new Promise((resolve) => backend.close(resolve));
});

describe.each([true, false])('answers whose connections are their own: %s', (ownConnection) => {
  it('that are left at once have their connections closed a few in a turn of the loop', async () => {
    let now = performance.now();
    jest.spyOn(performance, 'now').mockImplementation(() => (now += 1));
    const connections = new BackendConnections();
    const { port } = backend.address() as AddressInfo;
    const sockets: Socket[] = [];
    const requests: ClientRequest[] = [];
    for (let count = 0; count < MANY; count++) {
      const request = connections.open(
        { scheme: 'http', host: '127.0.0.1', port, trust: 'kubelet' },
        { method: 'GET', path: '/', headers: { host: 'backend' }, ownConnection },
      );
      request.on('error', () => undefined).end();
      const [message] = (await once(request, 'response')) as [{ readonly socket: Socket; on: Socket['on'] }];
      message.on('error', () => undefined);
      sockets.push(message.socket);
      requests.push(request);
    }
    const turns = await countTurns(sockets, 'close', () => requests.forEach((request) => request.destroy()));
    expect(turns.reduce((sum, count) => sum + count, 0)).toBe(MANY);
    expect(Math.max(...turns)).toBeLessThan(10);
    connections.close();
  });
});
