import { BlockPool } from './block-pool';

describe('BlockPool', () => {
  it('gives a block again only after it was given back', () => {
    const pool = new BlockPool(16, 64);
    const first = pool.take();
    const second = pool.take();
    expect(second).not.toBe(first);
    pool.give(first);
    expect(pool.take()).toBe(first);
    expect(pool.take()).not.toBe(second);
  });

  it('keeps no more bytes than it may, however many were in use', () => {
    const pool = new BlockPool(16, 64);
    const blocks = Array.from({ length: 10 }, () => pool.take());
    for (const block of blocks) pool.give(block);
    const again = new Set(Array.from({ length: 10 }, () => pool.take()));
    expect(blocks.filter((block) => again.has(block))).toHaveLength(4);
  });
});
