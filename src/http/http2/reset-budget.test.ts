import { ResetBudget, WATCH_RESET, WHOLE_RESET } from './reset-budget';

describe('the requests that a client may give up', () => {
  let now = 5_000;
  const budget = new ResetBudget(() => now);
  const spend = (times: number): number => Array.from({ length: times }).filter(() => budget.spend(WHOLE_RESET)).length;

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
    for (let spent = 0; spent < 1_000; spent++) slow.spend(WHOLE_RESET);
    let granted = 0;
    for (let tick = 0; tick < 100; tick++) {
      now += 40;
      if (slow.spend(WHOLE_RESET)) granted++;
    }
    expect(granted).toBe(100);
  });

  it('are twice as many when each had the head of an answer', () => {
    const other = new ResetBudget(() => now);
    expect(Array.from({ length: 3_000 }).filter(() => other.spend(WATCH_RESET))).toHaveLength(2_000);
  });

  it('are counted on a clock of its own when none is given', () => {
    expect(new ResetBudget().spend(WHOLE_RESET)).toBe(true);
  });
});
