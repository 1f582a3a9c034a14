import { dealHand } from './shuffle-sharding';

describe('the hand of a flow', () => {
  it.each([
    [128, 6],
    [64, 8],
    [5, 5],
    [1, 1],
  ])('of %d queues has %d different ones, always the same', (queues, handSize) => {
    for (let flow = 0; flow < 200; flow++) {
      const hand = dealHand('schema', `${flow}`, queues, handSize);
      expect(new Set(hand).size).toBe(handSize);
      expect(hand.every((index) => index >= 0 && index < queues)).toBe(true);
      expect(dealHand('schema', `${flow}`, queues, handSize)).toEqual(hand);
    }
  });

  it('has every queue about as often as any other', () => {
    const counts = new Array<number>(16).fill(0);
    for (let flow = 0; flow < 4000; flow++) for (const index of dealHand('s', `${flow}`, 16, 4)) counts[index]!++;
    // A thousand each; five standard deviations are 137.
    for (const count of counts) expect(Math.abs(count - 1000)).toBeLessThan(150);
  });

  it('is another for the same flow of another schema', () => {
    expect(dealHand('a', 'x', 10_000, 4)).not.toEqual(dealHand('b', 'x', 10_000, 4));
  });
});
