import type { ConnectionMemory, MemoryAccount } from '../../memory/memory-budget';

/** What one request has the server hold. What is not released before is when the request ends. */
export class RequestMemory implements ConnectionMemory {
  #bytes = 0;
  #hasEnded = false;

  constructor(readonly account: MemoryAccount) {}

  get pieceBytes(): number {
    return this.account.pieceBytes;
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

  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    if (this.#bytes > 0) this.account.release(this.#bytes);
  }
}
