import { MemoryBudget } from './memory-budget';
import { SharedBytes, sharedBytesOf } from './shared-bytes';

const LENGTH = 1000;

it('shared bytes are held once, for as long as anybody waits for them', () => {
  const budget = new MemoryBudget(1e6);
  const accounts = [0, 1, 2].map(() => budget.open(() => undefined));
  const bytes = new SharedBytes(LENGTH);
  for (const account of accounts) bytes.join(account);
  expect(accounts.map((account) => account.bytes)).toEqual([LENGTH, 0, 0]);
  bytes.leave(accounts[0]!);
  expect(accounts.map((account) => account.bytes)).toEqual([0, LENGTH, 0]);
  bytes.leave(accounts[2]!);
  expect(budget.heldBytes).toBe(LENGTH);
  bytes.leave(accounts[1]!);
  bytes.leave(accounts[1]!);
  expect(budget.heldBytes).toBe(0);
});

it('the same bytes are the same for all', () => {
  const bytes = Buffer.alloc(LENGTH);
  expect(sharedBytesOf(bytes)).toBe(sharedBytesOf(bytes));
  expect(sharedBytesOf(Buffer.alloc(LENGTH))).not.toBe(sharedBytesOf(bytes));
});
