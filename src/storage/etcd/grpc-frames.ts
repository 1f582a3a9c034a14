/** A flag (0: not compressed) and four bytes of length. */
const PREFIX_BYTES = 5;

/** What stands before a message of so many bytes. */
export function messagePrefix(length: number): Buffer {
  const bytes = Buffer.allocUnsafe(PREFIX_BYTES);
  bytes[0] = 0;
  bytes.writeUInt32BE(length, 1);
  return bytes;
}

/**
 * Memory for messages comes in blocks of our own, which are garbage as soon as their messages are. In Node's smaller pool
 * they would lie between what the cache keeps, and stay for as long.
 */
const BLOCK_BYTES = 64 * 1024;
let block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
let used = 0;

function newMessage(length: number): Buffer {
  if (length > BLOCK_BYTES / 8) return Buffer.allocUnsafeSlow(length);
  if (used + length > BLOCK_BYTES) {
    block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
    used = 0;
  }
  used += length;
  return block.subarray(used - length, used);
}

/** Finds the messages in a stream of bytes, however it is cut. Each is copied once. */
export class MessageReader {
  readonly #prefix = Buffer.allocUnsafe(PREFIX_BYTES);
  /** What is being filled: the prefix, or the message behind it. */
  #target: Buffer = this.#prefix;
  #filled = 0;

  /** The messages that these bytes complete. Throws an Error for a compressed one, which was not asked for. */
  push(chunk: Buffer): Buffer[] {
    const messages: Buffer[] = [];
    for (let at = 0; ;) {
      const copied = chunk.copy(this.#target, this.#filled, at);
      at += copied;
      this.#filled += copied;
      if (this.#filled < this.#target.length) return messages;
      if (this.#target === this.#prefix) {
        if (this.#prefix[0] !== 0) throw new Error('a gRPC message is compressed');
        this.#target = newMessage(this.#prefix.readUInt32BE(1));
      } else {
        messages.push(this.#target);
        this.#target = this.#prefix;
      }
      this.#filled = 0;
    }
  }
}
