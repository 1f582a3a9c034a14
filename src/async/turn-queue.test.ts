import { TurnQueue } from './turn-queue';

const nextLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a queue for turns', () => {
  let room = 0;
  let taken: string[];
  const wait = (queue: TurnQueue, owner: string, name: string): void => {
    void queue.turn(owner).then(() => {
      room--;
      taken.push(name);
    });
  };
  beforeEach(() => {
    taken = [];
    room = 0;
  });

  it('lets nobody go on before there is room, and then as many as have room, each in a turn of its own', async () => {
    const queue = new TurnQueue(() => room > 0);
    for (const name of ['a', 'b', 'c']) wait(queue, 'owner', name);
    for (let loop = 0; loop < 5; loop++) await nextLoop();
    expect(taken).toEqual([]);
    room = 2;
    queue.wake();
    queue.wake();
    await nextLoop();
    expect(taken).toEqual(['a']);
    for (let loop = 0; loop < 5; loop++) await nextLoop();
    expect(taken).toEqual(['a', 'b']);
    expect(queue.length).toBe(1);
  });

  it('lets owners take turns, and all go on at once when that is said', async () => {
    const queue = new TurnQueue(() => false);
    for (const name of ['a', 'b']) wait(queue, 'one', name);
    wait(queue, 'other', 'x');
    queue.wakeAll();
    await nextLoop();
    expect(taken).toEqual(['a', 'x', 'b']);
    expect(queue.length).toBe(0);
  });

  it('lets those that have waited long enough go on all the same, one by one', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    try {
      const queue = new TurnQueue(() => room > 0);
      for (const name of ['a', 'b']) void queue.turnWithin('owner', 1_000).then(() => taken.push(name));
      wait(queue, 'owner', 'c');
      for (let loop = 0; loop < 5; loop++) await nextLoop();
      expect(taken).toEqual([]);
      jest.advanceTimersByTime(1_000);
      await nextLoop();
      expect(taken).toEqual(['a']);
      for (let loop = 0; loop < 5; loop++) await nextLoop();
      expect(taken).toEqual(['a', 'b']);
      expect(queue.length).toBe(1);
    } finally {
      jest.useRealTimers();
    }
  });
});
