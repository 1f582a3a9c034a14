import { setImmediate as turn } from 'node:timers/promises';
import { MemoryBudget, type MemoryAccount } from './memory-budget';

const MIB = 1024 * 1024;
const LIMIT = 64 * MIB;

interface Opened {
  readonly account: MemoryAccount;
  readonly dropped: jest.Mock;
}

function open(budget: MemoryBudget): Opened {
  const dropped = jest.fn();
  return { account: budget.open(dropped), dropped };
}

/** Whether the promise has resolved by the time that the loop has turned a few times. */
async function isDone(promise: Promise<unknown>): Promise<boolean> {
  let done = false;
  void promise.then(() => (done = true));
  for (let count = 0; count < 5; count++) await new Promise((resolve) => setImmediate(resolve));
  return done;
}

describe('a memory budget', () => {
  it('knows what all accounts hold together', () => {
    const budget = new MemoryBudget(LIMIT);
    const [one, other] = [open(budget), open(budget)];
    one.account.hold(10);
    other.account.hold(20);
    one.account.release(4);
    expect(budget.heldBytes).toBe(26);
    other.account.close();
    other.account.release(20);
    other.account.hold(5);
    expect(budget.heldBytes).toBe(6);
    expect(budget.openAccounts).toBe(1);
  });

  it('makes a connection wait that holds as much as it may, and lets those that wait go on one by one', async () => {
    const { account } = open(new MemoryBudget(LIMIT));
    account.hold(4 * MIB);
    expect(account.isFull).toBe(true);
    const begun: number[] = [];
    const waiting = [1, 2].map(async (number) => {
      await account.room();
      account.hold(MIB);
      begun.push(number);
    });
    expect(await isDone(waiting[0]!)).toBe(false);
    account.release(MIB);
    expect(await isDone(waiting[0]!)).toBe(true);
    expect(begun).toEqual([1]);
    account.release(MIB);
    expect(await isDone(waiting[1]!)).toBe(true);
  });

  it('lets one that has to be completed go on in a full account, and another one after it', async () => {
    const { account } = open(new MemoryBudget(LIMIT));
    account.hold(4 * MIB);
    const [leader, next] = [{}, {}];
    expect(account.mayGoOn(leader)).toBe(true);
    expect(account.mayGoOn(next)).toBe(false);
    const waiting = account.roomToGoOn(next);
    expect(await isDone(waiting)).toBe(false);
    expect(account.mayGoOn(leader)).toBe(true);
    account.follow(leader);
    expect(await isDone(waiting)).toBe(true);
    expect(account.mayGoOn(next)).toBe(true);
  });

  it('makes what is large wait while memory is tight, also of connections that hold nothing', async () => {
    const budget = new MemoryBudget(LIMIT);
    const [greedy, modest] = [open(budget), open(budget)];
    greedy.account.hold(50 * MIB);
    expect(budget.isTight).toBe(true);
    await modest.account.room();
    const waiting = modest.account.largeRoom();
    expect(await isDone(waiting)).toBe(false);
    greedy.account.release(20 * MIB);
    expect(await isDone(waiting)).toBe(true);
  });

  it('presses those that hold much of it and have taken nothing for a second, while it is tight', () => {
    let now = 10_000;
    jest.spyOn(performance, 'now').mockImplementation(() => now);
    try {
      const budget = new MemoryBudget(LIMIT);
      const accounts = [open(budget), open(budget), open(budget)].map(({ account }) => account);
      const [greedy, reading, modest] = accounts as [MemoryAccount, MemoryAccount, MemoryAccount];
      const pressed = (): readonly boolean[] => accounts.map(({ isUnderPressure }) => isUnderPressure);
      greedy.hold(30 * MIB);
      reading.hold(20 * MIB);
      modest.hold(100 * 1024);
      now += 900;
      reading.release(MIB);
      expect(pressed()).toEqual([false, false, false]);
      now += 200;
      expect(pressed()).toEqual([true, false, false]);
      greedy.release(20 * MIB);
      now += 2_000;
      expect(budget.isTight).toBe(false);
      expect(pressed()).toEqual([false, false, false]);
    } finally {
      jest.restoreAllMocks();
    }
  });

  it('lets what waits go on when its connection ends, to find that out: it would be kept for as long', async () => {
    const budget = new MemoryBudget(LIMIT);
    const [greedy, gone, other] = [open(budget), open(budget), open(budget)];
    greedy.account.hold(50 * MIB);
    const waiting = [gone.account.largeRoom(), gone.account.largeRoom(), other.account.largeRoom()];
    expect(await isDone(waiting[0]!)).toBe(false);
    gone.account.close();
    expect(await Promise.all(waiting.map(isDone))).toEqual([true, true, false]);
    expect(budget.queue.length).toBe(1);
    greedy.account.close();
  });

  it('does not make it wait for long', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    try {
      const budget = new MemoryBudget(LIMIT);
      const [greedy, modest] = [open(budget), open(budget)];
      greedy.account.hold(50 * MIB);
      const waiting = modest.account.largeRoom();
      expect(await isDone(waiting)).toBe(false);
      jest.advanceTimersByTime(1000);
      expect(await isDone(waiting)).toBe(true);
      greedy.account.close();
    } finally {
      jest.useRealTimers();
    }
  });

  it('lets those that have waited long enough go on one by one, so that what is dropped for each is free before the next', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    try {
      const budget = new MemoryBudget(LIMIT);
      open(budget).account.hold(50 * MIB);
      let begun = 0;
      const waiting = Array.from({ length: 20 }, async () => {
        await open(budget).account.largeRoom();
        begun++;
      });
      await isDone(waiting[0]!);
      expect(begun).toBe(0);
      jest.advanceTimersByTime(1000);
      const seen: number[] = [];
      while (begun < waiting.length) {
        await new Promise((resolve) => setImmediate(resolve));
        seen.push(begun);
      }
      expect(Math.max(...seen.map((count, index) => count - (seen[index - 1] ?? 0)))).toBe(1);
    } finally {
      jest.useRealTimers();
    }
  });

  it('drops the one that holds most when the limit is passed', () => {
    const told = jest.fn();
    const budget = new MemoryBudget(LIMIT, told);
    const [modest, greedy, last] = [open(budget), open(budget), open(budget)];
    modest.account.hold(10 * MIB);
    greedy.account.hold(40 * MIB);
    last.account.hold(15 * MIB);
    expect([modest, greedy, last].map(({ dropped }) => dropped.mock.calls.length)).toEqual([0, 1, 0]);
    expect(budget.heldBytes).toBe(25 * MIB);
    expect(budget.droppedAccounts).toBe(1);
    expect(told).toHaveBeenCalledWith(40 * MIB);
  });

  it('drops, of those that hold about the same, the one that has released nothing for longest', () => {
    const now = jest.spyOn(performance, 'now').mockReturnValue(1);
    try {
      const budget = new MemoryBudget(LIMIT);
      const [first, second, last] = [open(budget), open(budget), open(budget)];
      first.account.hold(31 * MIB);
      now.mockReturnValue(2);
      second.account.hold(30 * MIB);
      now.mockReturnValue(3);
      first.account.release(MIB);
      last.account.hold(20 * MIB);
      expect([first, second, last].map(({ dropped }) => dropped.mock.calls.length)).toEqual([0, 1, 0]);
    } finally {
      now.mockRestore();
    }
  });

  it('drops many that have taken nothing for a second, however little each, before one that has just come', () => {
    const now = jest.spyOn(performance, 'now').mockReturnValue(0);
    try {
      const budget = new MemoryBudget(LIMIT);
      const slow = Array.from({ length: 63 }, () => open(budget));
      for (const { account } of slow) account.hold(MIB);
      now.mockReturnValue(1500);
      const fresh = open(budget);
      fresh.account.hold(3 * MIB);
      expect(fresh.dropped).not.toHaveBeenCalled();
      expect(slow.filter(({ dropped }) => dropped.mock.calls.length > 0)).toHaveLength(2);
      expect(budget.heldBytes).toBeLessThanOrEqual(LIMIT);
    } finally {
      now.mockRestore();
    }
  });

  it('does not blame a connection while it is for the server to go on', () => {
    const now = jest.spyOn(performance, 'now').mockReturnValue(0);
    try {
      const budget = new MemoryBudget(LIMIT);
      const [sent, slow] = [open(budget), open(budget)];
      sent.account.hold(40 * MIB);
      sent.account.beginServersTurn();
      slow.account.hold(20 * MIB);
      now.mockReturnValue(5000);
      open(budget).account.hold(10 * MIB);
      expect(slow.dropped).toHaveBeenCalledTimes(1);
      expect(sent.dropped).not.toHaveBeenCalled();
      sent.account.endServersTurn();
      now.mockReturnValue(10_000);
      open(budget).account.hold(20 * MIB);
      expect(sent.dropped).toHaveBeenCalledTimes(1);
    } finally {
      now.mockRestore();
    }
  });

  it('drops those that take nothing for seconds while memory is tight, until it is not', () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    try {
      const budget = new MemoryBudget(LIMIT);
      const [stalled, moving] = [open(budget), open(budget)];
      stalled.account.hold(20 * MIB);
      moving.account.hold(30 * MIB);
      for (let seconds = 0; seconds < 4; seconds++) {
        jest.advanceTimersByTime(1000);
        moving.account.release(MIB);
        moving.account.hold(MIB);
      }
      expect(stalled.dropped).not.toHaveBeenCalled();
      jest.advanceTimersByTime(3000);
      expect(stalled.dropped).toHaveBeenCalledTimes(1);
      expect(moving.dropped).not.toHaveBeenCalled();
      expect(jest.getTimerCount()).toBe(0);
    } finally {
      jest.useRealTimers();
    }
  });

  it('wakes everybody whose connection has ended', async () => {
    const { account } = open(new MemoryBudget(LIMIT));
    account.hold(8 * MIB);
    const waiting = [account.room(), account.roomToGoOn({}), account.roomToGoOn({})];
    account.close();
    await Promise.all(waiting);
    expect(account.bytes).toBe(0);
  });

  it('wakes hundreds that wait for a connection that has ended a few in a turn', async () => {
    const { account } = open(new MemoryBudget(LIMIT));
    account.hold(8 * MIB);
    let woken = 0;
    for (let index = 0; index < 50; index++) void account.room().then(() => woken++);
    let nowMs = performance.now();
    jest.spyOn(performance, 'now').mockImplementation(() => (nowMs += 0.1));
    try {
      account.close();
      const turns = [woken];
      while (turns.length < 60 && woken < 50) {
        const before = woken;
        await turn();
        turns.push(woken - before);
      }
      expect(woken).toBe(50);
      expect(Math.max(...turns)).toBeLessThan(12);
    } finally {
      jest.restoreAllMocks();
    }
  });

  it('gives connections large pieces for as long as there are few of them', () => {
    const budget = new MemoryBudget(2 * MIB);
    const accounts = [open(budget).account, open(budget).account];
    expect(accounts[0]!.pieceBytes).toBe(MIB);
    const { account } = open(budget);
    expect(accounts[0]!.pieceBytes).toBe(MIB / 4);
    account.close();
    expect(accounts[0]!.pieceBytes).toBe(MIB);
  });
});
