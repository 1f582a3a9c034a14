import { createHash } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import type { Random } from './seeds';

/** What a request and its answer are to be like. The client tells the server its part of it in a header. */
export interface Plan {
  readonly id: number;
  readonly method: 'GET' | 'POST' | 'PUT';
  /** Sizes of the pieces of the body. */
  readonly body: readonly number[];
  readonly hasTrailers: boolean;
  /** Sizes of the pieces of the answer. */
  readonly response: readonly number[];
  readonly responseHasTrailers: boolean;
  /** The server answers before it has the whole body. */
  readonly isEarly: boolean;
  /** The server breaks off before this piece of its answer. */
  readonly breakAt: number | undefined;
  /** The client gives up after so many turns. */
  readonly abortAfter: number | undefined;
}

export function planOf(random: Random, id: number, maxBytes: number): Plan {
  const pieces = (): number[] => Array.from({ length: random.below(5) }, () => random.size(maxBytes));
  const method = random.pick(['GET', 'POST', 'PUT'] as const);
  return {
    id,
    method,
    body: method === 'GET' ? [] : pieces(),
    hasTrailers: method !== 'GET' && random.oneIn(4),
    response: pieces(),
    responseHasTrailers: random.oneIn(4),
    isEarly: random.oneIn(5),
    breakAt: random.oneIn(8) ? random.below(4) : undefined,
    abortAfter: random.oneIn(4) ? random.below(30) : undefined,
  };
}

/** Bytes that no other request has: its number and where they are, over and over. */
export function patternOf(id: number, from: number, length: number): Buffer {
  const first = from - (from % 8);
  const bytes = Buffer.alloc(8 * Math.ceil((from - first + length) / 8));
  for (let at = 0; at < bytes.length; at += 8) {
    bytes.writeUInt32BE(id, at);
    bytes.writeUInt32BE(first + at, at + 4);
  }
  return bytes.subarray(from - first, from - first + length);
}

/** The pieces of a text of that number. */
export function* piecesOf(id: number, sizes: readonly number[]): Iterable<Buffer> {
  let from = 0;
  for (const size of sizes) {
    yield patternOf(id, from, size);
    from += size;
  }
}

export const sum = (sizes: readonly number[]): number => sizes.reduce((total, size) => total + size, 0);

/** The whole body of a request, in few bytes. Answers have other numbers than bodies. */
export function digestOf(plan: Plan): string {
  return digest(patternOf(bodyId(plan), 0, sum(plan.body)));
}

export function digest(bytes: Buffer): string {
  return createHash('sha1').update(bytes).digest('hex');
}

export function bodyId({ id }: Plan): number {
  return 1_000_000 + id;
}

export async function turns(count: number): Promise<void> {
  for (let passed = 0; passed < count; passed++) await turn();
}

/** What a client got of an answer is its beginning, or all of it. */
export function isBeginning(plan: Plan, bytes: Buffer): boolean {
  return bytes.length <= sum(plan.response) && bytes.equals(patternOf(plan.id, 0, bytes.length));
}
