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
    const queue = new TurnQueue({ mayGoOn: () => room > 0 });
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
    const queue = new TurnQueue({ mayGoOn: () => false });
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
      const queue = new TurnQueue({ mayGoOn: () => room > 0 });
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

  it('lets as many go on in a turn as have time, with all that follows from each, and owners take turns', async () => {
    let now = 0;
    jest.spyOn(performance, 'now').mockImplementation(() => now);
    try {
      const queue = new TurnQueue({ stretchMs: 5 });
      const take = async (owner: string, name: string, tookMs: number): Promise<void> => {
        await queue.turn(owner);
        for (let step = 0; step < 10; step++) await Promise.resolve();
        now += tookMs;
        taken.push(name);
      };
      for (const name of ['a1', 'a2', 'a3']) void take('a', name, 3);
      void take('b', 'b1', 3);
      const perLoop: string[][] = [];
      for (let loop = 0; loop < 3; loop++) {
        await nextLoop();
        perLoop.push(taken.splice(0));
      }
      expect(perLoop).toEqual([['a1', 'b1'], ['a2', 'a3'], []]);
    } finally {
      jest.restoreAllMocks();
    }
  });

  it('has those that let each other go on take turns of their own', async () => {
    const queue = new TurnQueue({ stretchMs: 5 });
    let now = 0;
    jest.spyOn(performance, 'now').mockImplementation(() => now);
    try {
      const next = async (left: number): Promise<void> => {
        await queue.turn('owner');
        now += 6;
        taken.push('next');
        if (left > 1) void next(left - 1);
      };
      void next(3);
      for (let loop = 1; loop <= 3; loop++) {
        await nextLoop();
        expect(taken).toHaveLength(loop);
      }
    } finally {
      jest.restoreAllMocks();
    }
  });

  it('lets the first in a turn of the loop go on right away, and those that follow wait for theirs', async () => {
    const queue = new TurnQueue({ stretchMs: 5 });
    let now = 0;
    jest.spyOn(performance, 'now').mockImplementation(() => now);
    const event = nextLoop();
    try {
      const take = async (name: string): Promise<void> => {
        await event;
        await queue.turnWhereCrowded('owner');
        for (let step = 0; step < 10; step++) await Promise.resolve();
        now += 3;
        taken.push(name);
      };
      for (const name of ['a', 'b', 'c', 'd', 'e']) void take(name);
      const perLoop: string[][] = [];
      for (let loop = 0; loop < 3; loop++) {
        await nextLoop();
        perLoop.push(taken.splice(0));
      }
      expect(perLoop).toEqual([['a'], ['b', 'c'], ['d', 'e']]);
      expect(queue.turnWhereCrowded('owner')).toBeUndefined();
    } finally {
      jest.restoreAllMocks();
    }
  });
});
