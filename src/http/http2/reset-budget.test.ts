import { ResetBudget } from './reset-budget';

describe('the requests that a client may give up', () => {
  let now = 5_000;
  const budget = new ResetBudget(() => now);
  const spend = (times: number): number => Array.from({ length: times }).filter(() => budget.spend()).length;

  it('are a thousand at once', () => {
    expect(spend(1_100)).toBe(1_000);
  });

  it('become more with time', () => {
    now += 10_000;
    // What was asked in vain counts as well.
    expect(spend(1_000)).toBe(230);
  });

  it('are never more than a thousand', () => {
    now += 3_600_000;
    expect(spend(1_100)).toBe(1_000);
  });

  it('come back in parts of a second', () => {
    const slow = new ResetBudget(() => now);
    for (let spent = 0; spent < 1_000; spent++) slow.spend();
    let granted = 0;
    for (let tick = 0; tick < 100; tick++) {
      now += 40;
      if (slow.spend()) granted++;
    }
    expect(granted).toBe(100);
  });

  it('are counted on a clock of its own when none is given', () => {
    expect(new ResetBudget().spend()).toBe(true);
  });
});
