import type { MemoryAccount } from '../../memory/memory-budget';

/** What is held is written down in steps: most requests change nothing, and a little of each connection is not counted. */
const STEP_BYTES = 16 * 1024;

/** Writes down what a connection makes us hold besides bodies: headers of its requests, and the beginnings of frames and blocks. */
export class ReceivedMemory {
  #counted = 0;

  constructor(private readonly account: MemoryAccount) {}

  /** From now on so much is held. */
  count(bytes: number): void {
    const counted = bytes - (bytes % STEP_BYTES);
    const change = counted - this.#counted;
    if (change === 0) return;
    this.#counted = counted;
    if (change > 0) this.account.hold(change);
    else this.account.release(-change);
  }
}
