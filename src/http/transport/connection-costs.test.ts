import { Socket } from 'node:net';
import { ConnectionCosts, costsOf } from './connection-costs';

describe('what a connection has cost lately', () => {
  it('is much when it comes to more than some milliseconds', () => {
    const costs = new ConnectionCosts();
    expect(costs.isCostly(0)).toBe(false);
    costs.count(9, 10);
    expect(costs.isCostly(10)).toBe(false);
    costs.count(9, 20);
    expect(costs.isCostly(20)).toBe(true);
  });

  it('is forgotten, a twentieth of a second each second', () => {
    const costs = new ConnectionCosts();
    costs.count(60, 0);
    expect([costs.isCostly(999), costs.isCostly(1_001)]).toEqual([true, false]);
    costs.count(9, 60_000);
    expect(costs.isCostly(60_000)).toBe(false);
  });

  it('is counted for each connection by itself', () => {
    const [one, other] = [new Socket(), new Socket()];
    expect(costsOf(one)).toBe(costsOf(one));
    expect(costsOf(one)).not.toBe(costsOf(other));
  });
});
