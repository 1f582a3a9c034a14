import { setImmediate as turn } from 'node:timers/promises';
import { Arrivals } from './arrivals';

/** So many turns of the loop with a connection in each. */
async function come(arrivals: Arrivals, turns: number): Promise<void> {
  for (let index = 0; index < turns; index++) {
    arrivals.count();
    await turn();
  }
}

describe('connections that come', () => {
  it('are coming from the turn after the first one until nobody came in a turn', async () => {
    const arrivals = new Arrivals();
    arrivals.count();
    expect(arrivals.areComing).toBe(false);
    await turn();
    expect([arrivals.areComing, arrivals.areMany]).toEqual([true, false]);
    await turn();
    expect(arrivals.areComing).toBe(false);
  });

  it('are many when they came in several turns one after another', async () => {
    const arrivals = new Arrivals();
    await come(arrivals, 3);
    expect(arrivals.areMany).toBe(false);
    await come(arrivals, 1);
    expect(arrivals.areMany).toBe(true);
    await turn();
    expect([arrivals.areComing, arrivals.areMany]).toEqual([false, false]);
  });
});
