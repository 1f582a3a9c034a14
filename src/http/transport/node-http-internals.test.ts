import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { arrivingOn, parserOf, readThroughStream, responseOn } from './node-http-internals';

let server: Server;
let client: Socket;
let connection: Socket;

beforeEach(async () => {
  server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const connected = once(server, 'connection') as Promise<[Socket]>;
  client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.on('error', () => undefined);
  [connection] = await connected;
});

afterEach(() => {
  client.destroy();
  server.closeAllConnections();
  server.close();
});

async function nextRequest(): Promise<[IncomingMessage, ServerResponse]> {
  return (await once(server, 'request')) as [IncomingMessage, ServerResponse];
}

async function until(condition: () => boolean): Promise<void> {
  for (let tries = 0; !condition(); tries++) {
    if (tries > 1_000) throw new Error('it has not come to that');
    await new Promise((done) => setTimeout(done, 5));
  }
}

describe('what node:http tells nobody', () => {
  it('is which response a connection is writing: the first until it is finished, then the next', async () => {
    expect(responseOn(connection)).toBeUndefined();
    const requests: ServerResponse[] = [];
    server.on('request', (_request, response: ServerResponse) => requests.push(response));
    client.write('GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n');
    await until(() => requests.length === 2);
    const [first, second] = requests as [ServerResponse, ServerResponse];
    expect(responseOn(connection)).toBe(first);
    first.end();
    await until(() => responseOn(connection) !== first);
    expect(responseOn(connection)).toBe(second);
    second.end();
    await until(() => responseOn(connection) === undefined);
  });

  it('is the parser of a connection, which asks its own method before it pauses', async () => {
    const parser = parserOf(connection);
    expect(typeof parser?.pause).toBe('function');
    client.destroy();
    await until(() => connection.destroyed);
    await until(() => parserOf(connection) === undefined);
  });

  it('is that its parser would read a connection itself, unless that is said to be taken', async () => {
    const first = once(server, 'request');
    client.write('GET /1 HTTP/1.1\r\nHost: a\r\n\r\n');
    await first;
    const pushed = jest.spyOn(connection, 'push');
    const second = once(server, 'request');
    client.write('GET /2 HTTP/1.1\r\nHost: a\r\n\r\n');
    await second;
    expect(pushed).not.toHaveBeenCalled();

    const pushes: jest.SpyInstance[] = [];
    server.prependListener('connection', (socket: Socket) => {
      pushes.push(jest.spyOn(socket, 'push'));
      readThroughStream(socket);
    });
    const third = once(server, 'request');
    const other = connect((server.address() as AddressInfo).port, '127.0.0.1');
    other.write('GET /3 HTTP/1.1\r\nHost: a\r\n\r\n');
    await third;
    expect(pushes.map(({ mock }) => mock.calls.length)).toEqual([1]);
    other.destroy();
  });

  it('is on which connections a request is arriving, and whether its head is there', async () => {
    client.write('POST / HTTP/1.1\r\n');
    await until(() => arrivingOn(server).length === 1);
    expect(arrivingOn(server)).toMatchObject([{ socket: connection, incoming: null }]);
    const request = nextRequest();
    client.write('Host: a\r\nContent-Length: 2\r\n\r\n1');
    const [incoming, response] = await request;
    expect(arrivingOn(server)).toMatchObject([{ socket: connection, incoming }]);
    client.write('2');
    incoming.resume();
    response.end();
    await until(() => arrivingOn(server).length === 0);
  });
});
