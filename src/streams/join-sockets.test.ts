import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { until } from '../../test/support/until';
import { MAX_WAITING_BYTES } from './backpressure';
import { joinSockets } from './join-sockets';

/** What one read of a connection brings at most. */
const READ_BYTES = 64 * 1024;

let listener: Server;
let open: Socket[];

beforeEach(async () => {
  open = [];
  listener = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
});

afterEach(async () => {
  for (const socket of open) socket.destroy();
  await new Promise((resolve) => listener.close(resolve));
});

/** Both ends of a connection. */
async function pair(): Promise<readonly [Socket, Socket]> {
  const { port } = listener.address() as AddressInfo;
  const far = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  const [near] = (await once(listener, 'connection')) as [Socket];
  open.push(far, near);
  for (const socket of [far, near]) socket.on('error', () => undefined);
  return [far, near];
}

class Held {
  bytes = 0;
  most = 0;
  readonly hold = (bytes: number): void => {
    this.bytes += bytes;
    this.most = Math.max(this.most, this.bytes);
  };
  readonly release = (bytes: number): void => {
    this.bytes -= bytes;
  };
}

it('holds a source back while its target takes nothing, and passes all on in the end', async () => {
  const [writer, from] = await pair();
  const [reader, to] = await pair();
  const held = new Held();
  joinSockets(from, to, held);
  const sent = 32 * 1024 * 1024;
  let came = 0;
  reader.on('data', (chunk: Buffer) => (came += chunk.length)).pause();
  writer.end(Buffer.alloc(sent, 'x'));

  await until(
    () => Promise.resolve(from.isPaused()),
    (isPaused) => isPaused,
    10,
  );
  expect(to.writableLength).toBeGreaterThan(MAX_WAITING_BYTES);
  reader.resume();
  await once(reader, 'end');
  expect(came).toBe(sent);
  // What waits, and what is read before that is seen.
  expect(held.most).toBeLessThanOrEqual(MAX_WAITING_BYTES + READ_BYTES);
  await until(
    () => Promise.resolve(held.bytes),
    (bytes) => bytes === 0,
  );
});

it('lets one direction go on when the other has ended', async () => {
  const [one, near] = await pair();
  const [other, far] = await pair();
  joinSockets(near, far, new Held());
  one.end('question');
  const [question] = (await once(other, 'data')) as [Buffer];
  other.end(`${String(question)}, answer`);
  const [response] = (await once(one, 'data')) as [Buffer];
  expect(String(response)).toBe('question, answer');
});

it('ends both when one is gone', async () => {
  const [one, near] = await pair();
  const [other, far] = await pair();
  const closed = new Promise<void>((resolve) => joinSockets(near, far, new Held(), resolve));
  one.resetAndDestroy();
  await closed;
  other.resume();
  await once(other, 'end');
  expect(far.destroyed).toBe(true);
});
