import { setImmediate as nextTurn } from 'node:timers/promises';
import { PacedStarts } from './paced-starts';

/** Keeps the loop for so long. */
function hold(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

describe('works that come all at once', () => {
  it('begin right away while the loop turns', async () => {
    const starts = new PacedStarts();
    for (let turn = 0; turn < 20; turn += 1) {
      expect(starts.mayBegin(performance.now())).toBe(true);
      hold(2);
      await nextTurn();
    }
  });

  it('have to wait when others have held the same turn of the loop for long enough', () => {
    const starts = new PacedStarts();
    expect(starts.mayBegin(performance.now())).toBe(true);
    hold(11);
    expect(starts.mayBegin(performance.now())).toBe(false);
  });

  it('that wait begin a few in a turn, owner by owner, and nobody passes them', async () => {
    const starts = new PacedStarts();
    const begun: string[] = [];
    const begin = (name: string) => (): void => {
      begun.push(name);
      hold(4);
    };
    for (let index = 0; index < 3; index += 1) starts.wait('many', begin(`many-${index}`));
    starts.wait('one', begin('one'));
    const perTurn: number[] = [];
    while (starts.waiting > 0) {
      expect(starts.mayBegin(performance.now())).toBe(false);
      const before = begun.length;
      await nextTurn();
      if (begun.length > before) perTurn.push(begun.length - before);
    }
    expect(begun).toEqual(['many-0', 'one', 'many-1', 'many-2']);
    expect(perTurn).toEqual([1, 1, 1, 1]);
    await nextTurn();
    await nextTurn();
    expect(starts.mayBegin(performance.now())).toBe(true);
  });
});
