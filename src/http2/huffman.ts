import { compressionError } from './http2-error';

/** The end of a string, which may only appear, cut short, as padding. */
const EOS = 256;

/**
 * RFC 7541, appendix B: the symbols by the length of their codes. The code is canonical (a length's codes are consecutive,
 * in this order, and follow those of the length before), so the lengths are all there is to know.
 */
const symbolsByLength: readonly (readonly [bits: number, symbols: string | readonly number[]])[] = [
  [5, '012aceiost'],
  [6, ' %-./3456789=A_bdfghlmnpru'],
  [7, ':BCDEFGHIJKLMNOPQRSTUVWYjkqvwxyz'],
  [8, '&*,;XZ'],
  [10, '!"()?'],
  [11, "'+|"],
  [12, '#>'],
  [13, '\0$@[]~'],
  [14, '^}'],
  [15, '<`{'],
  [19, [92, 195, 208]],
  [20, [128, 130, 131, 162, 184, 194, 224, 226]],
  [21, [153, 161, 167, 172, 176, 177, 179, 209, 216, 217, 227, 229, 230]],
  [
    22,
    [
      129, 132, 133, 134, 136, 146, 154, 156, 160, 163, 164, 169, 170, 173, 178, 181, 185, 186, 187, 189, 190, 196, 198,
      228, 232, 233,
    ],
  ],
  [
    23,
    [
      1, 135, 137, 138, 139, 140, 141, 143, 147, 149, 150, 151, 152, 155, 157, 158, 165, 166, 168, 174, 175, 180, 182,
      183, 188, 191, 197, 231, 239,
    ],
  ],
  [24, [9, 142, 144, 145, 148, 159, 171, 206, 215, 225, 236, 237]],
  [25, [199, 207, 234, 235]],
  [26, [192, 193, 200, 201, 202, 205, 210, 213, 218, 219, 238, 240, 242, 243, 255]],
  [27, [203, 204, 211, 212, 214, 221, 222, 223, 241, 244, 245, 246, 247, 248, 250, 251, 252, 253, 254]],
  [
    28,
    [2, 3, 4, 5, 6, 7, 8, 11, 12, 14, 15, 16, 17, 18, 19, 20, 21, 23, 24, 25, 26, 27, 28, 29, 30, 31, 127, 220, 249],
  ],
  [30, [10, 13, 22, EOS]],
];

const MAX_BITS = 30;
const SHORTEST_BITS = 5;

/** Of each length: its first code, how many there are, and where their symbols begin among all. */
const firstCode = new Int32Array(MAX_BITS + 1);
const count = new Int32Array(MAX_BITS + 1);
const firstSymbol = new Int32Array(MAX_BITS + 1);
const symbols: number[] = [];

const byLength = new Map(symbolsByLength);
for (let bits = 1, code = 0; bits <= MAX_BITS; bits++) {
  const own = byLength.get(bits) ?? [];
  firstCode[bits] = code;
  count[bits] = own.length;
  firstSymbol[bits] = symbols.length;
  symbols.push(...(typeof own === 'string' ? Buffer.from(own, 'latin1') : own));
  code = (code + own.length) << 1;
}

/** The text, a character a byte. Throws an {@link Http2Error} when the bytes are no such code. */
export function decodeHuffman(bytes: Buffer): string {
  const text = Buffer.allocUnsafe(Math.floor((bytes.length * 8) / SHORTEST_BITS));
  let length = 0;
  let code = 0;
  let bits = 0;
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index]!;
    for (let shift = 7; shift >= 0; shift--) {
      code = (code << 1) | ((byte >> shift) & 1);
      bits++;
      const offset = code - firstCode[bits]!;
      if (offset >= count[bits]!) continue;
      const symbol = symbols[firstSymbol[bits]! + offset]!;
      if (symbol === EOS) throw compressionError('a string contains its own end');
      text[length++] = symbol;
      code = 0;
      bits = 0;
    }
  }
  // The rest of the last byte is the beginning of EOS, which is all ones.
  if (bits > 7 || code !== (1 << bits) - 1) throw compressionError('a string is badly padded');
  return text.toString('latin1', 0, length);
}
