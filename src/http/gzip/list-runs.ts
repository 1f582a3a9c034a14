import type { CacheEntry } from '../../storage/cache/cache';

/**
 * Cuts lists into runs of neighbours so that the same entries make the same runs in whichever list they stand: behind
 * another prefix or page boundary, and with another entry before or after that changed. So where to cut is asked of the
 * entries and not of their position, as programs do that find what two versions of a file have in common.
 *
 * Longer runs compress a little better; of a shorter one less is compressed again when an entry changes. From 64 KiB on the
 * ratio gains little, for deflate looks back at 32 KiB.
 */
const MIN_RUN_BYTES = 32 * 1024;
const MAX_RUN_BYTES = 128 * 1024;
/** How much follows the minimum on average. */
const MEAN_REST_BYTES = 32 * 1024;

/** Where the run ends that begins at `from`: the index after its last entry. */
export function runEnd(entries: readonly CacheEntry[], from: number): number {
  let bytes = 0;
  let to = from;
  while (to < entries.length) {
    const { body, revision } = entries[to++]!;
    bytes += body.length;
    if (bytes >= MAX_RUN_BYTES || (bytes >= MIN_RUN_BYTES && endsRun(revision, body.length))) break;
  }
  return to;
}

/** Chosen by the entry's revision, which a number says faster than its key, and more often the larger it is. */
function endsRun(revision: number, bytes: number): boolean {
  return hash(revision) * MEAN_REST_BYTES < bytes * 2 ** 32;
}

/** Spreads numbers that are close to each other over 32 bits (MurmurHash3's last step). */
function hash(value: number): number {
  let bits = value | 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
