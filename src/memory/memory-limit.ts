import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';

const SHARE = 1 / 8;
const MIN_BYTES = 64 * 1024 * 1024;
const MAX_BYTES = 1024 * 1024 * 1024;

export interface AvailableMemory {
  readonly machineBytes: number;
  /** Of the container; 0 or absurdly much where there is none. */
  readonly containerBytes: number | undefined;
  /** What V8 may take for objects, as with `--max-old-space-size`. */
  readonly heapBytes: number;
}

/** How much a server may hold for its clients: an eighth of what there is, between 64 MiB and 1 GiB. */
export function clientMemoryLimit(available: AvailableMemory = availableMemory()): number {
  const { machineBytes, containerBytes, heapBytes } = available;
  const all = [machineBytes, containerBytes ?? 0, heapBytes].filter((bytes) => bytes > 0);
  return Math.floor(Math.min(MAX_BYTES, Math.max(MIN_BYTES, Math.min(...all) * SHARE)));
}

function availableMemory(): AvailableMemory {
  return {
    machineBytes: totalmem(),
    containerBytes: process.constrainedMemory(),
    heapBytes: getHeapStatistics().heap_size_limit,
  };
}
