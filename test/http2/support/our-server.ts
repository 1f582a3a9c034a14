import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { Http2ServerConnection } from '../../../src/http/http2/server-connection';
import type { Http2ServerStream } from '../../../src/http/http2/server-stream';
import { MemoryBudget } from '../../../src/memory/memory-budget';
import { digest, piecesOf, turns, type Plan } from './exchange';

export interface OurServer extends AsyncDisposable {
  readonly port: number;
  readonly connections: Http2ServerConnection[];
  /** What was nobody's fault but ours. */
  readonly faults: unknown[];
  readonly told: { closed: number; opened: number; ended: number; mostAtOnce: number };
}

/** Our side of HTTP/2 on a plain socket, with an endpoint that does what each request asks for. */
export async function ourServer(maxStreams: number): Promise<OurServer> {
  const connections: Http2ServerConnection[] = [];
  const faults: unknown[] = [];
  const told = { closed: 0, opened: 0, ended: 0, mostAtOnce: 0 };
  const server = createServer((socket) => {
    connections.push(
      new Http2ServerConnection(socket, {
        maxStreams,
        accountOf: () => new MemoryBudget(Infinity).open(() => socket.destroy()),
        onRequest: (stream) => {
          told.opened++;
          told.mostAtOnce = Math.max(told.mostAtOnce, told.opened - told.ended);
          stream.response.on('close', () => told.ended++);
          respond(stream).catch((error: unknown) => faults.push(error));
        },
        onClose: () => told.closed++,
        onFault: (error) => faults.push(error),
      }),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    connections,
    faults,
    told,
    [Symbol.asyncDispose]: async () => {
      for (const connection of connections) connection.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

async function respond({ request, response }: Http2ServerStream): Promise<void> {
  const plan = JSON.parse(String(request.headers['x-plan'])) as Plan;
  const body = await bodyOf({ request }, plan.isEarly);
  if (body === undefined) return;
  response.writeHead(200, { 'x-id': String(plan.id), 'x-digest': plan.isEarly ? '' : digest(body) });
  response.flushHeaders();
  let index = 0;
  for (const piece of piecesOf(plan.id, plan.response)) {
    if (plan.breakAt === index++) return void response.destroy();
    const isFull = !response.write(piece);
    if (isFull && !response.destroyed) {
      await new Promise<void>((resolve) => response.once('drain', resolve).once('close', resolve));
    }
    await turns(plan.id % 3);
  }
  response.end();
}

/** Undefined when the client is gone. */
async function bodyOf({ request }: Pick<Http2ServerStream, 'request'>, isEarly: boolean): Promise<Buffer | undefined> {
  const pieces: Buffer[] = [];
  const whole = new Promise<Buffer | undefined>((resolve) => {
    if (request.readableEnded) return resolve(Buffer.alloc(0));
    request.on('data', (piece: Buffer) => pieces.push(Buffer.from(piece)));
    request.on('end', () => resolve(Buffer.concat(pieces))).on('close', () => resolve(undefined));
  });
  return isEarly ? Buffer.alloc(0) : whole;
}
