import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { HeldMemory } from '../../test/support/held-memory';
import { SocketPairs } from '../../test/support/socket-pairs';
import { until } from '../../test/support/until';
import { MAX_WAITING_BYTES } from './backpressure';
import { joinSockets } from './join-sockets';

/** What one read of a connection brings at most. */
const READ_BYTES = 64 * 1024;

let pairs: SocketPairs;

beforeEach(async () => {
  pairs = await SocketPairs.listen();
});

afterEach(() => pairs.close());

it('holds a source back while its target takes nothing, and passes all on in the end', async () => {
  const [writer, from] = await pairs.pair();
  const [reader, to] = await pairs.pair();
  const held = new HeldMemory();
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
  // What waits, the read that was one too many, and what is read before that is seen.
  expect(held.most).toBeLessThanOrEqual(MAX_WAITING_BYTES + 2 * READ_BYTES);
  await until(
    () => Promise.resolve(held.bytes),
    (bytes) => bytes === 0,
  );
});

it('lets one direction go on when the other has ended', async () => {
  const [one, near] = await pairs.pair();
  const [other, far] = await pairs.pair();
  joinSockets(near, far, new HeldMemory());
  one.end('question');
  const [question] = (await once(other, 'data')) as [Buffer];
  other.end(`${String(question)}, answer`);
  const [response] = (await once(one, 'data')) as [Buffer];
  expect(String(response)).toBe('question, answer');
});

it('ends both when one is gone', async () => {
  const [one, near] = await pairs.pair();
  const [other, far] = await pairs.pair();
  const closed = new Promise<void>((resolve) => joinSockets(near, far, new HeldMemory(), resolve));
  one.resetAndDestroy();
  await closed;
  other.resume();
  await once(other, 'end');
  expect(far.destroyed).toBe(true);
});

it('passes on whole what comes in small pieces and is taken slowly', async () => {
  const [writer, from] = await pairs.pair();
  const [reader, to] = await pairs.pair();
  joinSockets(from, to, new HeldMemory());
  const sent = createHash('sha256');
  const came = createHash('sha256');
  reader.on('data', (bytes: Buffer) => {
    came.update(bytes);
    reader.pause();
    setTimeout(() => reader.resume(), 1);
  });
  for (let index = 0; index < 6_000; index++) {
    const piece = Buffer.alloc(1 + ((index * 7_919) % 4_000), index);
    sent.update(piece);
    writer.write(piece);
    // Now and then in one packet.
    if (index % 3 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  writer.end();
  await once(reader, 'end');
  expect(came.digest('hex')).toBe(sent.digest('hex'));
});
