import { setImmediate as nextTurn } from 'node:timers/promises';
import { PacedResumes } from './paced-resumes';

/** Keeps the loop for so long. */
function hold(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

describe('promises that others have waited for', () => {
  it('go on at once where the loop turns in between', async () => {
    const resumes = new PacedResumes();
    const resumed: number[] = [];
    for (let index = 0; index < 3; index++) {
      resumes.resume('one', () => resumed.push(index));
      expect(resumed).toHaveLength(index + 1);
      await nextTurn();
    }
  });

  it('go on turn by turn where each is let go on by the one before it', async () => {
    const resumes = new PacedResumes();
    let turns = 0;
    const turnOf: number[] = [];
    let left = 5;
    await new Promise<void>((done) => {
      const next = async (): Promise<void> => {
        await new Promise<void>((resolve) => resumes.resume('one', resolve));
        await Promise.resolve();
        turnOf.push(turns);
        hold(6);
        if (--left > 0) void next();
        else done();
      };
      const count = (): void => {
        turns++;
        if (left > 0) setImmediate(count);
      };
      setImmediate(count);
      void next();
    });
    expect(new Set(turnOf).size).toBe(5);
  });

  it('go on together where they take no time, and owners take turns', async () => {
    const resumes = new PacedResumes();
    const resumed: string[] = [];
    const wait = (owner: string, name: string): void => resumes.resume(owner, () => resumed.push(name));
    for (const name of ['a1', 'a2', 'a3']) wait('a', name);
    wait('b', 'b1');
    expect(resumed).toEqual(['a1']);
    await nextTurn();
    expect(resumed).toEqual(['a1', 'a2', 'b1', 'a3']);
    wait('a', 'a4');
    await nextTurn();
    await nextTurn();
    expect(resumed.at(-1)).toBe('a4');
  });
});
