import { once } from 'node:events';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { joinUnreadPieces } from './join-unread-pieces';

function flowing(): { readonly source: Readable; readonly pieces: Buffer[] } {
  const source = new Readable({ read: () => undefined });
  const pieces: Buffer[] = [];
  source.on('data', (piece: Buffer) => pieces.push(piece));
  return { source, pieces };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it('has single bytes that nobody read arrive as few pieces, and tells how many they are', async () => {
  const { source, pieces } = flowing();
  let unread = 0;
  joinUnreadPieces(source, (bytes) => (unread += bytes));
  source.pause();
  for (let byte = 0; byte < 100_000; byte++) source.push(Buffer.from([byte & 0xff]));
  expect(unread).toBe(100_000);
  source.resume();
  source.push(null);
  await once(source, 'end');
  expect(pieces.length).toBeLessThan(10);
  expect(Buffer.concat(pieces)).toEqual(Buffer.from(Array.from({ length: 100_000 }, (_, byte) => byte & 0xff)));
});

it('tells a source to stop when it has sent ahead what may be', () => {
  const source = new Readable({ read: () => undefined, highWaterMark: 1_000 });
  joinUnreadPieces(
    source.on('data', () => undefined),
    () => undefined,
  );
  source.pause();
  let sent = 1;
  while (source.push(Buffer.from('x'))) sent += 1;
  expect(sent).toBe(1_000);
});

it('goes on reading a source that had been told to stop', async () => {
  let reads = 0;
  const source = new Readable({ read: () => void (reads += 1), highWaterMark: 10 });
  const pieces: Buffer[] = [];
  source.on('data', (piece: Buffer) => pieces.push(piece));
  joinUnreadPieces(source, () => undefined);
  await turn();
  source.pause();
  for (let byte = 0; byte < 20; byte++) source.push(Buffer.from('x'));
  const before = reads;
  source.resume();
  await turn();
  expect(Buffer.concat(pieces)).toHaveLength(20);
  expect(reads).toBeGreaterThan(before);
});

it('leaves a source to whoever keeps its pieces already', () => {
  const { source } = flowing();
  const kept: unknown[] = [];
  source.push = (piece) => kept.push(piece) > 0;
  joinUnreadPieces(source, () => undefined);
  source.pause().push(Buffer.from('x'));
  expect(kept).toEqual([Buffer.from('x')]);
});

type Step = number | 'pause' | 'resume' | 'turn';

it('keeps all bytes in their order, whenever it is paused', async () => {
  const size = fc.oneof(fc.integer({ min: 1, max: 10 }), fc.integer({ min: 1_000, max: 20_000 }));
  const step: fc.Arbitrary<Step> = fc.oneof(size, size, fc.constantFrom<Step>('pause', 'resume', 'turn'));
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const { source, pieces } = flowing();
      joinUnreadPieces(source, () => undefined);
      const sent: Buffer[] = [];
      for (const [index, one] of steps.entries()) {
        if (one === 'pause') source.pause();
        else if (one === 'resume') source.resume();
        else if (one === 'turn') await turn();
        else {
          const piece = Buffer.alloc(one, index);
          sent.push(piece);
          source.push(piece);
        }
      }
      source.resume();
      source.push(null);
      await once(source, 'end');
      expect(Buffer.concat(pieces).equals(Buffer.concat(sent))).toBe(true);
    }),
    { numRuns: 300 },
  );
});
