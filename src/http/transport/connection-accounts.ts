import type { Socket } from 'node:net';
import type { MemoryAccount, MemoryBudget } from '../../memory/memory-budget';

/** The accounts of connections, opened when there is something to write down. */
export class ConnectionAccounts {
  readonly #accounts = new WeakMap<Socket, MemoryAccount>();

  constructor(readonly budget: MemoryBudget) {}

  of(socket: Socket): MemoryAccount {
    const known = this.#accounts.get(socket);
    if (known !== undefined) return known;
    const account = this.budget.open(() => socket.destroy());
    this.#accounts.set(socket, account);
    if (socket.destroyed) account.close();
    else socket.on('close', () => account.close());
    return account;
  }
}
