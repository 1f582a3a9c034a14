/** A flag (0: not compressed) and four bytes of length. */
const PREFIX_BYTES = 5;
const NOTHING: Buffer = Buffer.alloc(0);

/** A message as gRPC sends it. */
export function frame(message: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(PREFIX_BYTES + message.length);
  bytes[0] = 0;
  bytes.writeUInt32BE(message.length, 1);
  bytes.set(message, PREFIX_BYTES);
  return bytes;
}

/** Finds the messages in a stream of bytes, however it is cut. */
export class MessageReader {
  #rest = NOTHING;
  /** What came of a message that is not whole yet: joined once, when it is. */
  #chunks: Buffer[] = [];
  #missing = 0;

  /** The messages that these bytes complete. Throws an Error for a compressed one: nobody asked for that. */
  push(chunk: Buffer): Buffer[] {
    if (this.#missing > chunk.length) {
      this.#chunks.push(chunk);
      this.#missing -= chunk.length;
      return [];
    }
    const bytes = this.#join(chunk);
    const messages: Buffer[] = [];
    let from = 0;
    while (bytes.length - from >= PREFIX_BYTES) {
      if (bytes[from] !== 0) throw new Error('a gRPC message is compressed');
      const end = from + PREFIX_BYTES + bytes.readUInt32BE(from + 1);
      if (end > bytes.length) {
        this.#missing = end - bytes.length;
        break;
      }
      messages.push(bytes.subarray(from + PREFIX_BYTES, end));
      from = end;
    }
    this.#rest = from === bytes.length ? NOTHING : bytes.subarray(from);
    return messages;
  }

  #join(chunk: Buffer): Buffer {
    const before = this.#chunks;
    if (before.length === 0 && this.#rest.length === 0) return chunk;
    const bytes = Buffer.concat([this.#rest, ...before, chunk]);
    this.#chunks = [];
    this.#missing = 0;
    return bytes;
  }
}
