import fc from 'fast-check';
import { Bitmap } from './bitmap';

function bitmapOf(size: number, numbers: Iterable<number>): Bitmap {
  const bitmap = new Bitmap(size);
  for (const number of numbers) bitmap.set(number);
  return bitmap;
}

const sizes = fc.integer({ min: 1, max: 300 });
const sets = sizes.chain((size) => fc.tuple(fc.constant(size), fc.uniqueArray(fc.nat({ max: size - 1 }))));

describe('a bitmap', () => {
  it.each<[readonly number[], string]>([
    [[], ''],
    [[0], '01'],
    [[0, 3], '09'],
    [[8], '0100'],
    [[253], `20${'00'.repeat(31)}`],
  ])('of %j is written as the big-endian number %s', (numbers, hex) => {
    expect(bitmapOf(254, numbers).toBigEndian().toString('hex')).toBe(hex);
  });

  it('reads what it wrote', () => {
    fc.assert(
      fc.property(sets, ([size, numbers]) => {
        const read = Bitmap.fromBigEndian(size, bitmapOf(size, numbers).toBigEndian());
        expect(read.count).toBe(numbers.length);
        expect(numbers.every((number) => read.has(number))).toBe(true);
      }),
    );
  });

  it('drops numbers beyond its size', () => {
    expect(Bitmap.fromBigEndian(4, Buffer.from('fff1', 'hex')).count).toBe(1);
  });

  it('finds each free number, and none when all are taken', () => {
    fc.assert(
      fc.property(sets, fc.nat(), ([size, numbers], start) => {
        const bitmap = bitmapOf(size, numbers);
        for (let free = size - numbers.length; free > 0; free--) {
          const found = bitmap.nextFree(start % size);
          expect(found !== undefined && !bitmap.has(found)).toBe(true);
          bitmap.set(found ?? 0);
        }
        expect(bitmap.nextFree(start % size)).toBeUndefined();
      }),
    );
  });
});
