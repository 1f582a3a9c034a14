import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8';

const MIB = 1024 * 1024;

const LOOK_EVERY_MS = 5_000;
/** The loop has been at work for less than this share of the time. */
const IDLE_UTILIZATION = 0.1;
/** What a collection may give back is worth it from here on, and when it is a quarter of what there is to look through. */
const LEAST_GROWTH_BYTES = 16 * MIB;
const LEAST_GROWTH = 1 / 4;

/**
 * Asks for this much memory, which is not touched and takes none, has V8 begin to collect: buffers of 64 MiB since the last
 * collection are reason enough. It marks beside the program and in small steps, other than `gc()`, which holds the loop for all of it.
 */
const COLLECTION_BYTES = 66 * MIB;

/** What one look at the process sees. */
export interface IdleLook {
  /** Old objects and buffers, garbage among them. */
  readonly usedBytes: number;
  /** Of the event loop since the look before: 0 to 1. */
  readonly utilization: number;
}

/** Decides when garbage is collected that V8 would keep, as nothing is allocated any more. */
export class IdleCollection {
  /** The least that was used since the last collection. */
  #least = Infinity;

  /** True: a collection is to begin now. */
  isDue({ usedBytes, utilization }: IdleLook): boolean {
    if (usedBytes < this.#least) this.#least = usedBytes;
    const growth = usedBytes - this.#least;
    if (utilization >= IDLE_UTILIZATION || growth < Math.max(LEAST_GROWTH_BYTES, this.#least * LEAST_GROWTH))
      return false;
    // What is used then is the new least, however much that is.
    this.#least = Infinity;
    return true;
  }
}

/**
 * Gives memory back after busy times. V8 collects when much is allocated: what a flood of requests has left would stay for as long as
 * the server has little to do.
 */
export function collectWhenIdle(lookEveryMs = LOOK_EVERY_MS): void {
  const collection = new IdleCollection();
  let since = performance.eventLoopUtilization();
  const look = (): void => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, since);
    since = now;
    if (collection.isDue({ usedBytes: oldBytes(), utilization })) beginCollection();
  };
  setInterval(look, lookEveryMs).unref();
}

export function beginCollection(): void {
  try {
    void new ArrayBuffer(COLLECTION_BYTES);
  } catch {
    // A limit on addresses leaves no room even for what takes no memory: V8 has to collect by itself.
  }
}

/** Young objects are collected whenever some more have been made, and are few. */
function oldBytes(): number {
  let bytes = getHeapStatistics().external_memory;
  for (const { space_name, space_used_size } of getHeapSpaceStatistics()) {
    if (!space_name.startsWith('new_')) bytes += space_used_size;
  }
  return bytes;
}
