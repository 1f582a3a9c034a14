import type { MemoryAccount, MemoryHolder } from '../memory/memory-budget';

/** What one request has the server hold. What is not released before is when the request ends. */
export class RequestMemory implements MemoryHolder {
  #bytes = 0;
  #hasEnded = false;

  constructor(readonly account: MemoryAccount) {}

  get isFull(): boolean {
    return this.account.isFull;
  }

  hold(bytes: number): void {
    if (this.#hasEnded) return;
    this.#bytes += bytes;
    this.account.hold(bytes);
  }

  release(bytes: number): void {
    if (this.#hasEnded) return;
    this.#bytes -= bytes;
    this.account.release(bytes);
  }

  room(): Promise<void> {
    return this.account.room();
  }

  /** For what is complete only when more has come; see {@link MemoryAccount.roomToGoOn}. */
  get mayGoOn(): boolean {
    return this.#hasEnded || this.account.mayGoOn(this);
  }

  async roomToGoOn(): Promise<void> {
    if (!this.#hasEnded) await this.account.roomToGoOn(this);
  }

  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    if (this.#bytes > 0) this.account.release(this.#bytes);
    this.account.follow(this);
  }
}
