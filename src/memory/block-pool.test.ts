import { BlockPool } from './block-pool';

describe('BlockPool', () => {
  it('gives a block again only after it was given back', () => {
    const pool = new BlockPool(16, 64);
    const first = pool.acquire();
    const second = pool.acquire();
    expect(second).not.toBe(first);
    pool.release(first);
    expect(pool.acquire()).toBe(first);
    expect(pool.acquire()).not.toBe(second);
  });

  it('keeps no more bytes than it may, however many were in use', () => {
    const pool = new BlockPool(16, 64);
    const blocks = Array.from({ length: 10 }, () => pool.acquire());
    for (const block of blocks) pool.release(block);
    const again = new Set(Array.from({ length: 10 }, () => pool.acquire()));
    expect(blocks.filter((block) => again.has(block))).toHaveLength(4);
  });
});
