import { FairQueue } from './fair-queue';

function drained(queue: FairQueue<string>): string {
  let taken = '';
  for (let item = queue.shift(); item !== undefined; item = queue.shift()) taken += item;
  return taken;
}

describe('a fair queue', () => {
  const limits = { perOwner: 10, total: 15 };

  it('lets owners take turns, each of them in order', () => {
    const queue = new FairQueue<string>(limits);
    for (const item of ['a', 'b', 'c', 'd']) expect(queue.push('greedy', item, 1)).toBe(true);
    queue.push('other', 'x', 1);
    expect(queue.shift()).toBe('a');
    queue.push('third', 'y', 1);
    expect(drained(queue)).toBe('xbycd');
    expect([queue.length, queue.weight]).toEqual([0, 0]);
  });

  it('gives an owner who comes back no turn before those who wait', () => {
    const queue = new FairQueue<string>(limits);
    queue.push('a', 'a', 1);
    queue.push('b', 'b', 1);
    expect(queue.shift()).toBe('a');
    queue.push('a', 'a', 1);
    expect(drained(queue)).toBe('ba');
  });

  it('gives what an owner brought last before the rest of it, where that is wanted', () => {
    const queue = new FairQueue<string>(limits, true);
    for (const item of ['a', 'b', 'c']) queue.push('greedy', item, 1);
    queue.push('other', 'x', 1);
    expect(queue.peek()).toBe('c');
    expect(drained(queue)).toBe('cxba');
    expect([queue.length, queue.weight]).toEqual([0, 0]);
  });

  it('takes out at once what an owner brought who leaves', () => {
    const queue = new FairQueue<string>(limits);
    for (const [owner, item] of [
      ['greedy', 'a'],
      ['other', 'x'],
      ['greedy', 'b'],
    ] as const) {
      queue.push(owner, item, 2);
    }
    expect(queue.leave('greedy')).toEqual(['a', 'b']);
    expect(queue.leave('greedy')).toEqual([]);
    expect([queue.length, queue.weight]).toEqual([1, 2]);
    expect(drained(queue)).toBe('x');
  });

  it('has no room beyond its limits, neither for one owner nor for all', () => {
    const queue = new FairQueue<string>(limits);
    expect(queue.push('a', '1', 6)).toBe(true);
    expect(queue.push('a', '2', 6)).toBe(false);
    expect(queue.push('b', '3', 6)).toBe(true);
    expect(queue.push('c', '4', 6)).toBe(false);
    expect(queue.push('c', '5', 3)).toBe(true);
    expect(queue.weight).toBe(15);
    expect(drained(queue)).toBe('135');
    expect(queue.push('a', '6', 6)).toBe(true);
  });

  it('takes what is alone, however heavy', () => {
    const queue = new FairQueue<string>(limits);
    expect(queue.push('a', '1', 100)).toBe(true);
    expect(queue.push('b', '2', 1)).toBe(false);
  });

  it('forgets what is removed', () => {
    const queue = new FairQueue<string>(limits);
    queue.push('a', '1', 9);
    queue.push('b', '2', 2);
    expect(queue.remove('a', '1')).toBe(true);
    expect(queue.remove('a', '1')).toBe(false);
    expect([queue.length, queue.weight]).toEqual([1, 2]);
    expect(drained(queue)).toBe('2');
  });

  it('passes over owners of whom nothing may be taken now, who keep their turns', () => {
    const queue = new FairQueue<string>();
    for (const item of ['a1', 'b1', 'b2', 'c1']) queue.push(item.charAt(0), item);
    const notOfA = (owner: unknown): boolean => owner !== 'a';
    expect(queue.peek(notOfA)).toBe('b1');
    expect([queue.shift(notOfA), queue.shift(notOfA), queue.shift(), queue.shift(), queue.shift()]).toEqual([
      'b1',
      'c1',
      'a1',
      'b2',
      undefined,
    ]);
  });
});
