import { EventEmitter } from 'node:events';
import { Readable } from 'node:stream';
import { HeldMemory } from '../../test/support/held-memory';
import { Backpressure, MAX_WAITING_BYTES, type WaitingTarget } from './backpressure';

/** Takes nothing until it drains. */
class StuckTarget extends EventEmitter implements WaitingTarget {
  readonly writableNeedDrain = true;
  writableLength = 0;
}

function sourceAndTarget() {
  const target = new StuckTarget();
  const source = new Readable({ read: () => undefined });
  const held = new HeldMemory();
  const backpressure = new Backpressure(source, target, held);
  source.on('data', (piece: Buffer) => {
    target.writableLength += piece.length;
    backpressure.wrote(piece.length);
  });
  return { source, target, held };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it('holds a source of single bytes back long before they are many', async () => {
  const { source, target, held } = sourceAndTarget();
  await turn();
  let sent = 0;
  while (!source.isPaused()) {
    source.push(Buffer.from('x'));
    sent += 1;
  }
  expect(sent).toBeLessThan(500);
  for (let more = 0; more < 10_000; more++) source.push(Buffer.from('x'));
  // What comes all the same stands in the books, too, until it is passed on.
  expect(held.bytes).toBe(sent + 10_000);
  target.emit('drain');
  await turn();
  expect(target.writableLength).toBe(sent + 10_000);
});

it('lets large pieces wait up to their limit', async () => {
  const { source, target } = sourceAndTarget();
  await turn();
  while (!source.isPaused()) source.push(Buffer.alloc(16 * 1024));
  expect(target.writableLength).toBe(MAX_WAITING_BYTES + 16 * 1024);
});
