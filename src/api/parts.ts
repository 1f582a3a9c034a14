/**
 * Work on values that are too large for one stretch of the event loop. A value with many parts is opened, and what is in it is
 * worked on with a `yield` after each; one with few is worked on as a whole, by the code that small objects take.
 */

/** Work that says with each `yield` where it may be interrupted, and returns what came of it. */
export type Steps<Result> = Generator<void, Result, void>;

/** Values in a part that is worked on as a whole: some tenths of a millisecond even for rules that take a microsecond each. */
export const PART_VALUES = 200;

/** Whether a value has more values in it than are worked on at one stretch; looks at no more of them than that. */
export function isLarge(value: unknown): boolean {
  return typeof value === 'object' && value !== null && roomAfter(value, PART_VALUES) < 0;
}

/** Of maps with many keys, which no one changes any more. */
const keysOfLarge = new WeakMap<object, readonly string[]>();

/**
 * `Object.keys`. To list 100,000 keys takes 15 ms each time, which is why those of a large map are listed once: code that has made one
 * and knows its keys may say so ({@link rememberKeys}).
 */
export function keysOf(map: object): readonly string[] {
  const known = keysOfLarge.get(map);
  if (known !== undefined) return known;
  const keys = Object.keys(map);
  rememberKeys(map, keys);
  return keys;
}

/** The keys of a large map that have been listed before: the platform lists all to find the first. Undefined for any other. */
export function knownKeysOf(map: object): readonly string[] | undefined {
  return keysOfLarge.get(map);
}

/** From now on the map's keys stay as they are. */
export function rememberKeys(map: object, keys: readonly string[]): void {
  if (keys.length > PART_VALUES) keysOfLarge.set(map, keys);
}

/** What is left of `room` when all that is in a value has taken its place; negative: it was not enough. */
function roomAfter(value: object, room: number): number {
  const keys = Array.isArray(value) ? undefined : keysOf(value);
  const count = keys?.length ?? (value as readonly unknown[]).length;
  let left = room - count;
  for (let index = 0; left >= 0 && index < count; index += 1) {
    const member = (value as Readonly<Record<string, unknown>>)[keys?.[index] ?? index];
    if (typeof member === 'object' && member !== null) left = roomAfter(member, left);
  }
  return left;
}

/** Takes all steps at one stretch. */
export function atOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
