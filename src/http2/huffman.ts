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
/** RFC 7541 (5.2): padding is shorter than a byte. */
const MAX_PADDING_BITS = 7;

/**
 * What four bits do in each state. A state is a beginning of a code that is no whole one: its bits so far. The lowest byte is the
 * symbol, if one ends here; none is shorter than four bits, so that at most one does.
 */
const steps = new Uint32Array(256 * 16);
const SYMBOL = 0x100;
const FAILURE = 0x200;
const NEXT_SHIFT = 16;
/** A text may end here: what has begun is padding. */
const mayEnd = new Uint8Array(256);

/** The two ways on from each state: another state, or a symbol below zero. */
const ways: [zero: number, one: number][] = [[0, 0]];
const ofSymbol = (symbol: number): number => -1 - symbol;

const byLength = new Map(symbolsByLength);
for (let bits = 1, code = 0; bits <= MAX_BITS; bits++) {
  const own = byLength.get(bits) ?? [];
  for (const symbol of typeof own === 'string' ? Buffer.from(own, 'latin1') : own) grow(code++, bits, symbol);
  code <<= 1;
}
for (let state = 0; state < ways.length; state++) {
  for (let nibble = 0; nibble < 16; nibble++) steps[state * 16 + nibble] = stepOf(state, nibble);
}
for (let state = 0, bits = 0; bits <= MAX_PADDING_BITS; bits++, state = ways[state]![1]) mayEnd[state] = 1;

function grow(code: number, bits: number, symbol: number): void {
  let state = 0;
  for (let left = bits - 1; left > 0; left--) {
    const way = ways[state]!;
    const bit = (code >> left) & 1;
    if (way[bit] === 0) way[bit] = ways.push([0, 0]) - 1;
    state = way[bit]!;
  }
  ways[state]![code & 1] = ofSymbol(symbol);
}

function stepOf(from: number, nibble: number): number {
  let state = from;
  let ended = 0;
  for (let left = 3; left >= 0; left--) {
    state = ways[state]![(nibble >> left) & 1]!;
    if (state >= 0) continue;
    if (state === ofSymbol(EOS)) return FAILURE;
    ended = SYMBOL | ofSymbol(state);
    state = 0;
  }
  return (state << NEXT_SHIFT) | ended;
}

/** The text of some of the bytes, a character a byte. Throws an {@link Http2Error} when they are no such code. */
export function decodeHuffman(bytes: Buffer, from = 0, to = bytes.length): string {
  const text = Buffer.allocUnsafe(Math.floor(((to - from) * 8) / SHORTEST_BITS));
  let length = 0;
  let state = 0;
  for (let index = from; index < to; index++) {
    const byte = bytes[index]!;
    for (let shift = 4; shift >= 0; shift -= 4) {
      const step = steps[state * 16 + ((byte >> shift) & 0xf)]!;
      if ((step & SYMBOL) !== 0) text[length++] = step;
      else if ((step & FAILURE) !== 0) throw compressionError('a string contains its own end');
      state = step >>> NEXT_SHIFT;
    }
  }
  if (mayEnd[state] === 0) throw compressionError('a string is badly padded');
  return text.toString('latin1', 0, length);
}
