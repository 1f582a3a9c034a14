/**
 * Memory in which bytes are handed to connections and to zlib. Blocks of such a size come from the system page by page,
 * which costs more than filling them; so those that are done with are used again.
 *
 * A block belongs to one writer until it is released. A writer that cannot know whether it is still read (a write that
 * failed, a callback that never came) just lets go of it: the collector frees it like any other Buffer.
 */
export class BlockPool {
  private readonly free: Buffer[] = [];

  constructor(
    readonly blockBytes: number,
    /** Of the blocks that wait for use; those in use are bounded by their users. */
    private readonly maxFreeBytes: number,
  ) {}

  /** A block whose content is whatever it was used for last. */
  acquire(): Buffer {
    return this.free.pop() ?? Buffer.allocUnsafeSlow(this.blockBytes);
  }

  /** Only for a whole block that came from `acquire`, once, and when nothing reads it any more. */
  release(block: Buffer): void {
    if ((this.free.length + 1) * this.blockBytes <= this.maxFreeBytes) this.free.push(block);
  }
}
