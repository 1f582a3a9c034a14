import type { CacheEntry } from '../../../../storage/cache/cache';

/** In bytes of the entries' bodies. */
export interface RunLengths {
  readonly least: number;
  /** On average. */
  readonly mean: number;
  /** But for what a large entry adds. */
  readonly most: number;
}

/**
 * Cuts lists into runs of neighbours so that the same entries make the same runs in whichever list they stand: behind
 * another prefix or page boundary, and with another entry before or after that changed. So where to cut is asked of the
 * entries and not of their position, as programs do that find what two versions of a file have in common.
 *
 * Returns where the run ends that begins at `from`: the index after its last entry.
 */
export function runEnd(entries: readonly CacheEntry[], from: number, { least, mean, most }: RunLengths): number {
  let bytes = 0;
  let to = from;
  while (to < entries.length) {
    const { body, revision } = entries[to++]!;
    bytes += body.length;
    if (bytes >= most || (bytes >= least && endsRun(revision, body.length, mean - least))) break;
  }
  return to;
}

/** Chosen by the entry's revision, which a number says faster than its key, and more often the larger it is. */
function endsRun(revision: number, bytes: number, meanRest: number): boolean {
  return hash(revision) * meanRest < bytes * 2 ** 32;
}

/** Spreads numbers that are close to each other over 32 bits (MurmurHash3's last step). */
function hash(value: number): number {
  let bits = value | 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
