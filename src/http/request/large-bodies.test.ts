import { TextWorker } from '../../worker/text-worker';
import { LargeBodies } from './large-bodies';

const bodies = new LargeBodies(new TextWorker());

test('a body is large by its bytes, or by its values however few bytes they have', () => {
  const text = (bytes: number): Buffer => Buffer.from(JSON.stringify({ data: 'x'.repeat(bytes) }));
  const list = (items: number): Buffer => Buffer.from(JSON.stringify({ list: new Array(items).fill({}) }));
  expect(bodies.isLarge(text(60 * 1024), 'json')).toBe(false);
  expect(bodies.isLarge(text(65 * 1024), 'json')).toBe(true);
  expect(bodies.isLarge(list(900), 'json')).toBe(false);
  expect(bodies.isLarge(list(1_100), 'json')).toBe(true);
  expect(bodies.isLarge(Buffer.from('-\n'.repeat(900)), 'yaml')).toBe(false);
  expect(bodies.isLarge(Buffer.from('-\n'.repeat(1_100)), 'yaml')).toBe(true);
  expect(bodies.isLarge(Buffer.alloc(15 * 1024), 'protobuf')).toBe(false);
  expect(bodies.isLarge(Buffer.alloc(17 * 1024), 'protobuf')).toBe(true);
});
