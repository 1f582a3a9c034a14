import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';

const MIB = 1024 * 1024;

export interface AvailableMemory {
  readonly machineBytes: number;
  /** Of the container; 0 or absurdly much where there is none. */
  readonly containerBytes: number | undefined;
  /** What V8 may take for objects, as with `--max-old-space-size`. */
  readonly heapBytes: number;
}

/** A part of the memory that there is, within bounds. */
export interface MemoryShare {
  readonly share: number;
  readonly leastBytes: number;
  readonly mostBytes: number;
}

/** What a server may hold for its clients: what they have not taken, and bodies that it has not worked through. */
const FOR_CLIENTS: MemoryShare = { share: 1 / 10, leastBytes: 48 * MIB, mostBytes: 1024 * MIB };

/** What requests that last may make it keep: watches and streams. */
const FOR_LONG_RUNNING: MemoryShare = { share: 1 / 5, leastBytes: 48 * MIB, mostBytes: Infinity };

/** Of which memory a cache may be as large as it is where memory is no concern. With less, all of them shrink alike. */
const AMPLE_BYTES = 2048 * MIB;
const LEAST_CACHE_BYTES = MIB;

export function clientMemoryLimit(available: AvailableMemory = availableMemory()): number {
  return shareOf(FOR_CLIENTS, available);
}

export function longRunningLimit(available: AvailableMemory = availableMemory()): number {
  return shareOf(FOR_LONG_RUNNING, available);
}

/** How large a cache may be that has `mostBytes` where there is plenty of memory. */
export function cacheLimit(mostBytes: number, available: AvailableMemory = availableMemory()): number {
  const leastBytes = Math.min(LEAST_CACHE_BYTES, mostBytes);
  return shareOf({ share: mostBytes / AMPLE_BYTES, leastBytes, mostBytes }, available);
}

function shareOf({ share, leastBytes, mostBytes }: MemoryShare, available: AvailableMemory): number {
  const { machineBytes, containerBytes, heapBytes } = available;
  const all = [machineBytes, containerBytes ?? 0, heapBytes].filter((bytes) => bytes > 0);
  return Math.floor(Math.min(mostBytes, Math.max(leastBytes, Math.min(...all) * share)));
}

function availableMemory(): AvailableMemory {
  return {
    machineBytes: totalmem(),
    containerBytes: process.constrainedMemory(),
    heapBytes: getHeapStatistics().heap_size_limit,
  };
}
