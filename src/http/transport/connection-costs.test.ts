import { Socket } from 'node:net';
import { ConnectionCosts, costsOf } from './connection-costs';

describe('what a connection has cost lately', () => {
  it('is next to nothing, something or much', () => {
    const costs = new ConnectionCosts();
    const levels = [0, 1, 0.1, 8.9, 0.1].map((tookMs, index) => {
      costs.count(tookMs, index);
      return costs.levelAt(index);
    });
    expect(levels).toEqual([0, 0, 1, 1, 1]);
    costs.count(1, 5);
    expect(costs.levelAt(5)).toBe(2);
  });

  it('is forgotten, a twentieth of a second each second', () => {
    const costs = new ConnectionCosts();
    costs.count(60, 0);
    expect([999, 1_001, 1_179, 1_181].map((nowMs) => costs.levelAt(nowMs))).toEqual([2, 1, 1, 0]);
    costs.count(9, 60_000);
    expect(costs.levelAt(60_000)).toBe(1);
  });

  it('is not forgotten while its requests wait', () => {
    const costs = new ConnectionCosts();
    costs.count(20, 0);
    costs.requestWaits(100);
    costs.requestWaits(5_000);
    expect(costs.levelAt(100_000)).toBe(2);
    costs.requestBegins(100_000);
    expect(costs.levelAt(200_000)).toBe(2);
    costs.requestBegins(200_000);
    expect([200_000, 200_200, 200_400].map((nowMs) => costs.levelAt(nowMs))).toEqual([2, 1, 0]);
  });

  it('is counted for each connection by itself', () => {
    const [one, other] = [new Socket(), new Socket()];
    expect(costsOf(one)).toBe(costsOf(one));
    expect(costsOf(one)).not.toBe(costsOf(other));
  });
});
