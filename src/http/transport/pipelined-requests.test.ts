import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { MemoryBudget } from '../../memory/memory-budget';
import { PipelinedRequests } from './pipelined-requests';

const RESPONSE_BYTES = 100_000;

describe('requests that are sent ahead', () => {
  let budget: MemoryBudget;
  let server: Server;
  let client: Socket;
  let responseBytes = RESPONSE_BYTES;
  let underWay = 0;
  let most = 0;
  const begun: string[] = [];
  const responses: ServerResponse[] = [];
  let connection: Socket | undefined;

  beforeEach(async () => {
    budget = new MemoryBudget(64 * 1024 * 1024);
    const pipelined = new PipelinedRequests(budget);
    responseBytes = RESPONSE_BYTES;
    underWay = most = begun.length = responses.length = 0;
    server = createServer((request, response) => {
      connection = request.socket;
      const work = (): void => {
        begun.push(request.url ?? '');
        responses.push(response);
        most = Math.max(most, ++underWay);
        setImmediate(() => {
          underWay--;
          response.end(Buffer.alloc(responseBytes));
        });
      };
      if (pipelined.isItsTurn(response)) work();
      else pipelined.keep(response, work);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    await once(client, 'connect');
  });
  afterEach(async () => {
    client.destroy();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const until = async (isThere: () => boolean): Promise<void> => {
    while (!isThere()) await new Promise((resolve) => setTimeout(resolve, 5));
  };
  const requests = (count: number): string =>
    Array.from({ length: count }, (_, number) => `GET /${number} HTTP/1.1\r\nHost: a\r\n\r\n`).join('');

  it('run one after the other, in order', async () => {
    const count = 200;
    client.write(requests(count));
    let bytes = 0;
    for await (const chunk of client) if ((bytes += (chunk as Buffer).length) > count * RESPONSE_BYTES) break;
    expect(begun).toEqual(Array.from({ length: count }, (_, number) => `/${number}`));
    expect(most).toBe(1);
    expect(budget.heldBytes).toBe(0);
  });

  it('begin while the last bytes of the response before are on their way, but only the next one', async () => {
    responseBytes = 16 * 1024 * 1024;
    client.pause();
    client.write(requests(1));
    await until(() => responses[0]?.writableEnded === true);
    client.write(requests(1));
    await until(() => responses[1]?.writableEnded === true);
    client.write(requests(2));
    await until(() => connection!.bytesRead === requests(4).length);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(begun).toHaveLength(2);
    let bytes = 0;
    for await (const chunk of client) if ((bytes += (chunk as Buffer).length) > 4 * responseBytes) break;
    expect(begun).toHaveLength(4);
    expect(budget.heldBytes).toBe(0);
  });

  it('are not read while others wait for a client that takes no answers', async () => {
    client.pause();
    const sent = requests(500_000);
    client.write(sent);
    for (let last = -1; begun.length === 0 || last !== begun.length;) {
      last = begun.length;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    expect(connection!.bytesRead).toBeLessThan(1024 * 1024);
    expect(sent.length).toBeGreaterThan(10 * 1024 * 1024);
    expect(most).toBe(1);
    expect(budget.heldBytes).toBeGreaterThan(0);
    client.destroy();
    while (budget.openAccounts > 0) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(budget.heldBytes).toBe(0);
  });
});
