import { setImmediate as nextTurn } from 'node:timers/promises';
import { PacedStarts } from '../../async/paced-starts';
import { SharedTurns } from '../../async/shared-turns';
import { Arrivals } from './arrivals';
import { ConnectionCosts } from './connection-costs';
import { StartsByCost } from './starts-by-cost';

const MANY = 1_000;

let ends: PacedStarts;
let starts: StartsByCost;
let nowMs: number;

beforeEach(() => {
  nowMs = 1_000;
  jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
  ends = new PacedStarts();
  starts = new StartsByCost({ turns: new SharedTurns(), arrivals: new Arrivals(), ends });
});

afterEach(() => jest.restoreAllMocks());

const FEW_BYTES = 100;

const mayBegin = (spentMs: number, bytes = FEW_BYTES): boolean => {
  const costs = new ConnectionCosts();
  costs.count(spentMs, nowMs);
  return starts.of(costs, nowMs, bytes).mayBegin(nowMs);
};

function giveUp(count: number): void {
  jest.spyOn(ends, 'waiting', 'get').mockReturnValue(count);
}

it('what a connection brings begins at once, whatever it has cost', () => {
  expect([0, 5, 50].map((spentMs) => mayBegin(spentMs))).toEqual([true, true, true]);
});

describe('while many requests that were given up do not know yet', () => {
  it('those of connections that have cost something do not begin, and others do', () => {
    giveUp(MANY);
    expect([0, 5, 50].map((spentMs) => mayBegin(spentMs))).toEqual([true, false, false]);
    giveUp(0);
    expect([0, 5, 50].map((spentMs) => mayBegin(spentMs))).toEqual([true, true, true]);
  });

  it('what is much waits with them, whoever has brought it', () => {
    giveUp(MANY);
    expect([2_048, 2_049].map((bytes) => mayBegin(0, bytes))).toEqual([true, false]);
  });

  it('those that wait begin in a turn now and then', async () => {
    giveUp(MANY);
    const costs = new ConnectionCosts();
    costs.count(5, nowMs);
    const begunMs: number[] = [];
    const begin = (): void => {
      begunMs.push(nowMs);
      // More than a turn is for.
      nowMs += 5;
    };
    for (let count = 0; count < 3; count++) starts.of(costs, nowMs, FEW_BYTES).wait('connection', begin);
    for (let turn = 0; turn < 1_000 && begunMs.length < 3; turn++) {
      await nextTurn();
      nowMs += 1;
    }
    const [first = 0, second = 0, third = 0] = begunMs;
    expect([second - first, third - second].map((pauseMs) => pauseMs >= 50 && pauseMs <= 200)).toEqual([true, true]);
  });
});
