import { cacheLimit, clientMemoryLimit, longRunningLimit } from './memory-limit';

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;

describe('the memory for clients', () => {
  it.each([
    ['a tenth of the machine', { machineBytes: 5 * GIB, containerBytes: 0, heapBytes: 6 * GIB }, 512 * MIB],
    ['a tenth of the container', { machineBytes: 64 * GIB, containerBytes: 2.5 * GIB, heapBytes: 4 * GIB }, 256 * MIB],
    ['a tenth of the heap', { machineBytes: 64 * GIB, containerBytes: 2 ** 64, heapBytes: 560 * MIB }, 56 * MIB],
    ['48 MiB at least', { machineBytes: GIB, containerBytes: undefined, heapBytes: 256 * MIB }, 48 * MIB],
    ['1 GiB at most', { machineBytes: 64 * GIB, containerBytes: undefined, heapBytes: 32 * GIB }, GIB],
  ])('is %s', (_which, available, expected) => {
    expect(clientMemoryLimit(available)).toBe(expected);
  });

  it('is found for the machine that this runs on', () => {
    expect(clientMemoryLimit()).toBeGreaterThanOrEqual(48 * MIB);
  });
});

describe('the memory for watches and streams', () => {
  it('is a fifth of what there is, and 48 MiB at least', () => {
    const machine = { machineBytes: 64 * GIB, containerBytes: undefined };
    expect(longRunningLimit({ ...machine, heapBytes: 5 * GIB })).toBe(GIB);
    expect(longRunningLimit({ ...machine, heapBytes: 100 * MIB })).toBe(48 * MIB);
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
