import { SharedTurns, type Rank } from './shared-turns';

/** The loop and its clock, moved by hand. */
class Loop {
  nowMs = 0;
  #next: (() => void)[] = [];
  readonly took: string[] = [];
  readonly turns = new SharedTurns();

  constructor() {
    jest.spyOn(performance, 'now').mockImplementation(() => this.nowMs);
    jest.spyOn(globalThis, 'setImmediate').mockImplementation(((work: () => void) => {
      this.#next.push(work);
    }) as never);
  }

  /** One that has its turn takes so long. */
  await(name: string, tookMs: number, rank: Rank = 0, waiting = 1): void {
    const onTurn = (): void => {
      this.took.push(name);
      this.nowMs += tookMs;
    };
    this.turns.await({ rank, waiting, onTurn });
  }

  /** Who had a turn in this one. */
  turn(): readonly string[] {
    this.took.length = 0;
    for (const work of this.#next.splice(0)) work();
    return [...this.took];
  }
}

afterEach(() => jest.restoreAllMocks());

describe('turns of the loop that are shared', () => {
  it('are had once by each that waits, and not again', () => {
    const loop = new Loop();
    loop.await('a', 1);
    loop.await('b', 1);
    expect([loop.turn(), loop.turn()]).toEqual([['a', 'b'], []]);
  });

  it('end when all together have had some milliseconds; the others come first in the next', () => {
    const loop = new Loop();
    for (const name of ['a', 'b', 'c']) loop.await(name, 3);
    expect(loop.turn()).toEqual(['a', 'b']);
    loop.await('a', 3);
    expect(loop.turn()).toEqual(['c', 'a']);
  });

  it('are had in the order of ranks, however long one waits', () => {
    const loop = new Loop();
    for (const rank of [2, 1, 0] as const) loop.await(`once ${rank}`, 0, rank);
    loop.turn();
    for (const rank of [2, 1, 0] as const) loop.await(`rank ${rank}`, 1, rank);
    expect(loop.turn()).toEqual(['rank 0', 'rank 1', 'rank 2']);
  });

  it.each([1, 2] as const)('are had by rank %d after those before it, but not for ever', (rank) => {
    const loop = new Loop();
    const others = (): void => ['a', 'b'].forEach((name) => loop.await(name, 3));
    loop.await('patient', 1, rank);
    loop.turn();
    loop.await('patient', 1, rank);
    const had: (readonly string[])[] = [];
    while (!had.flat().includes('patient')) {
      others();
      had.push(loop.turn());
    }
    // 6 ms each.
    expect(had.slice(0, -1)).toEqual([
      ['a', 'b'],
      ['a', 'b'],
    ]);
    expect(had.at(-1)).toEqual(['patient', 'a']);
  });

  it('are had by all ranks where each takes longer than anybody may have to wait, every other one by the first', () => {
    const loop = new Loop();
    const had: (readonly string[])[] = [];
    const busy = ([0, 1, 2] as const).map((rank) => () => loop.await(`rank ${rank}`, 12, rank));
    busy.forEach((wait) => wait());
    for (let turn = 0; turn < 12; turn++) {
      had.push(loop.turn());
      busy.forEach((wait) => wait());
    }
    const counts = [0, 1, 2].map((rank) => had.flat().filter((name) => name === `rank ${rank}`).length);
    expect(had.every((turn) => turn.length === 1)).toBe(true);
    expect(counts).toEqual([6, 3, 3]);
  });

  it('are had by all where nothing waits, and in their order where something does', () => {
    const loop = new Loop();
    for (const rank of [2, 1, 0] as const) loop.await(`idle ${rank}`, 0, rank, 0);
    expect(loop.turn().toSorted()).toEqual(['idle 0', 'idle 1', 'idle 2']);
    expect(loop.turn()).toEqual([]);
    loop.await('idle', 0, 2, 0);
    loop.await('busy', 5, 1);
    loop.await('first', 0, 0);
    expect(loop.turn()).toEqual(['first', 'busy']);
    expect(loop.turn()).toEqual(['idle']);
  });

  it('go on when one of those that had theirs has failed', () => {
    const loop = new Loop();
    loop.turns.await({
      rank: 0,
      waiting: 1,
      onTurn: () => {
        throw new Error('failed');
      },
    });
    loop.await('a', 1);
    expect(() => loop.turn()).toThrow('failed');
    expect(loop.turn()).toEqual(['a']);
  });
});
