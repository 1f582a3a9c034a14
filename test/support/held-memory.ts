import type { MemoryHolder } from '../../src/memory/memory-budget';

/** Counts what is held. */
export class HeldMemory implements MemoryHolder {
  bytes = 0;
  most = 0;

  readonly hold = (bytes: number): void => {
    this.bytes += bytes;
    this.most = Math.max(this.most, this.bytes);
  };

  readonly release = (bytes: number): void => {
    this.bytes -= bytes;
  };
}
