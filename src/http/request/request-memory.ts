import type { ConnectionMemory, MemoryAccount } from '../../memory/memory-budget';

/** What one request has the server hold. What is not released before is when the request ends. */
export class RequestMemory implements ConnectionMemory {
  #bytes = 0;
  #hasEnded = false;
  #isServersTurn = false;

  constructor(readonly account: MemoryAccount) {}

  get pieceBytes(): number {
    return this.account.pieceBytes;
  }

  hold(bytes: number): void {
    if (this.#hasEnded) return;
    // There is an answer to be taken.
    this.#endServersTurn();
    this.#bytes += bytes;
    this.account.hold(bytes);
  }

  /** The whole body has come: until there are bytes of an answer, it is not for the client to go on. */
  received(): void {
    if (this.#hasEnded || this.#isServersTurn || this.#bytes === 0) return;
    this.#isServersTurn = true;
    this.account.beginServersTurn();
  }

  release(bytes: number): void {
    if (this.#hasEnded) return;
    this.#bytes -= bytes;
    this.account.release(bytes);
  }

  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#endServersTurn();
    if (this.#bytes > 0) this.account.release(this.#bytes);
  }

  #endServersTurn(): void {
    if (!this.#isServersTurn) return;
    this.#isServersTurn = false;
    this.account.endServersTurn();
  }
}
