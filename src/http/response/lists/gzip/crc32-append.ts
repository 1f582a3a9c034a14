/**
 * The CRC-32 of bytes whose parts' CRCs are known (RFC 1952, "CRC"), without the bytes. A CRC is the remainder of a
 * polynomial over GF(2): to append n bytes multiplies what stands before them by x^(8n), and adds.
 *
 * Polynomials below degree 32 are held in 32 bits, the highest bit being the coefficient of x^0.
 */

/** The CRC's polynomial without its x^32. */
const POLYNOMIAL = 0xedb88320;
const ONE = 0x80000000;
/** x^8: one byte more. */
const ONE_BYTE = ONE >>> 8;

/** Bytes of which only this is needed to append them. */
export interface Crc32Part {
  readonly crc: number;
  /** {@link crc32Shift} of their number. */
  readonly shift: number;
}

/** What bytes that stand before `length` others are multiplied by: x^(8 * length). */
export function crc32Shift(length: number): number {
  let shift = ONE;
  // By squaring: x^8, x^16, x^32, ... for each bit of the length.
  let power = ONE_BYTE;
  for (let rest = length; rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) shift = multiply(shift, power);
    power = multiply(power, power);
  }
  return shift;
}

/** The CRC of the bytes of `crc` and the part after them. */
export function crc32Append(crc: number, part: Crc32Part): number {
  return (multiply(crc, part.shift) ^ part.crc) >>> 0;
}

/** a * b modulo the polynomial: adds a * x^i for each power that b has. */
function multiply(a: number, b: number): number {
  let product = 0;
  let shifted = a;
  for (let rest = b; rest !== 0; rest <<= 1) {
    if (rest < 0 || rest >= ONE) product ^= shifted;
    shifted = (shifted & 1) === 0 ? shifted >>> 1 : (shifted >>> 1) ^ POLYNOMIAL;
  }
  return product >>> 0;
}
