/**
 * The masks of WebSocket messages (RFC 6455, 5.3), four bytes at a time: byte by byte is a third of what a message of a client costs. In the
 * bundle these stand for the package bufferutil, which `ws` asks for.
 */

/** What is shorter is not worth the words. */
const SHORT_BYTES = 48;

/** Masks or unmasks in place. */
export function unmask(bytes: Buffer, mask: Buffer): void {
  const { buffer, byteOffset, length } = bytes;
  if (length < SHORT_BYTES) return unmaskBytes(bytes, mask, 0, length);
  // Words lie at multiples of their length.
  const first = -byteOffset & 3;
  const words = new Int32Array(buffer, byteOffset + first, (length - first) >> 2);
  unmaskBytes(bytes, mask, 0, first);
  const word = wordOf(mask, first);
  for (let at = 0; at < words.length; at++) words[at]! ^= word;
  unmaskBytes(bytes, mask, first + 4 * words.length, length);
}

function unmaskBytes(bytes: Buffer, mask: Buffer, from: number, to: number): void {
  for (let at = from; at < to; at++) bytes[at]! ^= mask[at & 3]!;
}

/** Puts the masked beginning of the source into the output. */
export function mask(source: Buffer, key: Buffer, output: Buffer, offset: number, length: number): void {
  const target = output.subarray(offset, offset + length);
  source.copy(target, 0, 0, length);
  unmask(target, key);
}

/** The mask from one of its bytes on, in the machine's order. */
function wordOf(mask: Buffer, from: number): number {
  const bytes = Uint8Array.from({ length: 4 }, (_, index) => mask[(from + index) & 3]!);
  return new Int32Array(bytes.buffer)[0]!;
}
