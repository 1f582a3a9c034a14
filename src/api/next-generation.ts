import { exactInteger } from './codec/exact-json';

/** metadata.generation after one more change. */
export function nextGeneration(generation: number | bigint = 0): number | bigint {
  return typeof generation === 'number' ? generation + 1 : exactInteger(generation + 1n);
}
