import { cacheLimit, clientMemoryLimit } from './memory-limit';

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;

describe('the memory for clients', () => {
  it.each([
    ['an eighth of the machine', { machineBytes: 4 * GIB, containerBytes: 0, heapBytes: 5 * GIB }, 512 * MIB],
    ['an eighth of the container', { machineBytes: 64 * GIB, containerBytes: 2 * GIB, heapBytes: 4 * GIB }, 256 * MIB],
    ['an eighth of the heap', { machineBytes: 64 * GIB, containerBytes: 2 ** 64, heapBytes: 560 * MIB }, 70 * MIB],
    ['64 MiB at least', { machineBytes: GIB, containerBytes: undefined, heapBytes: 256 * MIB }, 64 * MIB],
    ['1 GiB at most', { machineBytes: 64 * GIB, containerBytes: undefined, heapBytes: 32 * GIB }, GIB],
  ])('is %s', (_which, available, expected) => {
    expect(clientMemoryLimit(available)).toBe(expected);
  });

  it('is found for the machine that this runs on', () => {
    expect(clientMemoryLimit()).toBeGreaterThanOrEqual(64 * MIB);
  });
});

describe('the memory for a cache', () => {
  it.each([
    ['all that it may have, of two gigabytes or more', 2 * GIB, 128 * MIB],
    ['a quarter of that, of a quarter', 512 * MIB, 32 * MIB],
    ['a megabyte at least', 8 * MIB, MIB],
  ])('is %s', (_which, heapBytes, expected) => {
    const available = { machineBytes: 64 * GIB, containerBytes: undefined, heapBytes };
    expect(cacheLimit(128 * MIB, available)).toBe(expected);
  });
});
