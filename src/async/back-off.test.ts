import { BackOff } from './back-off';

describe('a back-off', () => {
  it('waits longer each time, up to the longest wait', () => {
    const backOff = new BackOff({ first: 20, factor: 2, longest: 100 });
    expect([1, 2, 3, 4, 5].map(() => backOff.next())).toEqual([20, 40, 80, 100, 100]);
  });

  it('begins anew after a success', () => {
    const backOff = new BackOff({ first: 20, factor: 1.5 });
    backOff.next();
    backOff.next();
    backOff.reset();
    expect(backOff.next()).toBe(20);
  });

  it('adds a random share of the wait, which makes later waits no longer', () => {
    const random = jest.spyOn(Math, 'random').mockReturnValue(0.5);
    const backOff = new BackOff({ first: 100, factor: 2, longest: 210, jitter: 0.25 });
    expect([backOff.next(), backOff.next(), backOff.next()]).toEqual([112.5, 210, 210]);
    random.mockRestore();
  });
});
