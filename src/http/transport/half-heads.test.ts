import { Socket } from 'node:net';
import { MemoryBudget, type MemoryAccount } from '../../memory/memory-budget';
import { HalfHeads } from './half-heads';

const MIB = 1024 * 1024;
const HEAD_BYTES = 100_000;

/** A connection of which so much has been read. */
function arriving(bytesRead: number): { readonly incoming: null; readonly socket: Socket } {
  const socket = new Socket();
  Object.defineProperty(socket, 'bytesRead', { value: bytesRead });
  return { incoming: null, socket };
}

function halfHeads(budget: MemoryBudget): { heads: HalfHeads; dropped: Set<Socket> } {
  const accounts = new Map<Socket, MemoryAccount>();
  const dropped = new Set<Socket>();
  const heads = new HalfHeads(HEAD_BYTES, (socket) => {
    const account = accounts.get(socket) ?? budget.open(() => dropped.add(socket));
    accounts.set(socket, account);
    return account;
  });
  return { heads, dropped };
}

afterEach(() => jest.restoreAllMocks());

it('writes down what has come of heads until they are whole', () => {
  const budget = new MemoryBudget(4 * MIB);
  const { heads } = halfHeads(budget);
  const messages = [arriving(1_000), arriving(2 * HEAD_BYTES)];
  heads.check(messages);
  heads.check(messages);
  expect(budget.heldBytes).toBe(1_000 + HEAD_BYTES);
  heads.check(messages.slice(0, 1));
  expect(budget.heldBytes).toBe(1_000);
  heads.check([]);
  expect(budget.heldBytes).toBe(0);
});

it('drops those with half a head and not who is being answered as they are counted', () => {
  const budget = new MemoryBudget(4 * MIB);
  const { heads, dropped } = halfHeads(budget);
  heads.check([]);
  let isAnswered = true;
  budget.open(() => (isAnswered = false)).hold(HEAD_BYTES);
  heads.check(Array.from({ length: 60 }, () => arriving(HEAD_BYTES)));
  expect(isAnswered).toBe(true);
  expect(dropped.size).toBeGreaterThan(0);
});

it('drops those with half a head and not who has just been given more', () => {
  const budget = new MemoryBudget(4 * MIB);
  const { heads, dropped } = halfHeads(budget);
  const messages = Array.from({ length: 40 }, () => arriving(HEAD_BYTES));
  heads.check(messages);
  const now = performance.now();
  jest.spyOn(performance, 'now').mockReturnValue(now + 1_000);
  let isAnswered = true;
  budget.open(() => (isAnswered = false)).hold(3 * HEAD_BYTES);
  expect({ isAnswered, dropped: dropped.size > 0 }).toEqual({ isAnswered: true, dropped: true });
});
