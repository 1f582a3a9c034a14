import type { FieldError } from '../errors/field-error';
import { MAX_PROBLEMS_LENGTH } from '../errors/status-error';
import { atOnce, isLarge, type Steps } from '../parts';

/**
 * Rules for the elements of lists and maps that may be long. What they find is what rules find anywhere; while a large object
 * is checked in parts a long list is only noted, and its elements are looked at one after another, with others in between.
 */

type Check<Item> = (item: Item, index: number) => readonly FieldError[];

const NONE: readonly FieldError[] = [];

/** A long list's place among the errors until its elements have been looked at. */
class Unchecked implements FieldError {
  readonly reason = 'InternalError';
  readonly field = '';
  readonly message = 'not checked yet';

  constructor(
    readonly items: readonly unknown[],
    readonly check: Check<never>,
  ) {}
}

/** The place among the errors of what rests on what others find. */
class Deciding implements FieldError {
  readonly reason = 'InternalError';
  readonly field = '';
  readonly message = 'not checked yet';

  constructor(
    readonly first: () => readonly FieldError[],
    readonly next: (found: readonly FieldError[]) => readonly FieldError[],
  ) {}
}

/** The place among the errors of what takes steps of its own. */
class InSteps implements FieldError {
  readonly reason = 'InternalError';
  readonly field = '';
  readonly message = 'not checked yet';

  constructor(readonly check: () => Steps<readonly FieldError[]>) {}
}

/** Set while a large object is checked in parts; nothing is waited for meanwhile. */
let inParts = false;

/**
 * The problems of all items, in their order, or as many as can be told of an object. For those of a large object `check` may be called
 * later, in the same order: what callers do with the result is to put it in its place among other problems.
 */
export function checkEach<Item>(items: readonly Item[] | undefined | null, check: Check<Item>): readonly FieldError[] {
  if (items === undefined || items === null || items.length === 0) return NONE;
  if (inParts && isLarge(items)) return [new Unchecked(items, check)];
  let errors: FieldError[] | undefined;
  let length = 0;
  for (let index = 0; index < items.length && length <= MAX_PROBLEMS_LENGTH; index += 1) {
    for (const error of check(items[index] as Item, index)) {
      (errors ??= []).push(error);
      length += error.field.length + error.message.length;
    }
  }
  return errors ?? NONE;
}

/** As {@link checkEach}, for the parts of a text: a small object may have a million of them. */
export function checkEachPart(parts: readonly string[], check: Check<string>): readonly FieldError[] {
  const checkAll = (): readonly FieldError[] => checkEach(parts, check);
  return isLarge(parts) ? checkLong(() => checkInParts(checkAll)) : checkAll();
}

/** Whether compiled rules, which put what they find into a list, leave the parts of a value for later. */
export function isForLater(value: unknown): boolean {
  return inParts && isLarge(value);
}

/** What stands in that list for them until they have been looked at. */
export function leftForLater<Item>(items: readonly Item[], check: Check<Item>): FieldError {
  return new Unchecked(items, check);
}

/**
 * For rules that rest on what {@link checkEach} has learned of a list before, and are looked at after it, or that take so long that they
 * are a part by themselves.
 */
export function checkAfter(check: () => readonly FieldError[]): readonly FieldError[] {
  return inParts ? [new Unchecked([undefined], check)] : check();
}

/** For rules that rest on what others find: what `next` makes of all that `first` has found. */
export function checkThen(
  first: () => readonly FieldError[],
  next: (found: readonly FieldError[]) => readonly FieldError[],
): readonly FieldError[] {
  return inParts ? [new Deciding(first, next)] : next(first());
}

/** For rules that look at an object in steps of their own. */
export function checkInSteps(check: () => Steps<readonly FieldError[]>): readonly FieldError[] {
  return inParts ? [new InSteps(check)] : atOnce(check());
}

/** Thrown by a rule that takes long. */
class TakesLong extends Error {}
const TAKES_LONG = new TakesLong();

/** Set while what is checked may be abandoned, to be checked in parts. */
let mayAbandon = false;

/** As {@link checkInSteps}, for rules that take long though the object is small. `atOnceToo`: called where nothing can wait. */
export function checkLong(check: () => Steps<readonly FieldError[]>, atOnceToo?: () => void): readonly FieldError[] {
  if (inParts) return [new InSteps(check)];
  if (mayAbandon) throw TAKES_LONG;
  atOnceToo?.();
  return atOnce(check());
}

/** What `check` finds: at once, unless a rule takes long. */
export function* checkInPartsIfLong(check: () => readonly FieldError[]): Steps<readonly FieldError[]> {
  mayAbandon = true;
  try {
    return check();
  } catch (error) {
    if (error !== TAKES_LONG) throw error;
  } finally {
    mayAbandon = false;
  }
  return yield* checkInParts(check);
}

/** For rules whose outcome decides about others at once: none of their lists is left for later. */
export function checkNow<Found>(check: () => Found): Found {
  const wasInParts = inParts;
  inParts = false;
  try {
    return check();
  } finally {
    inParts = wasInParts;
  }
}

/**
 * What `check` finds, a part at a time. Nothing is looked for beyond what can be told of an object.
 */
export function* checkInParts(check: () => readonly FieldError[]): Steps<readonly FieldError[]> {
  const found: FieldError[] = [];
  let length = 0;
  function* add(errors: readonly FieldError[]): Steps<void> {
    for (const error of errors) {
      if (length > MAX_PROBLEMS_LENGTH) return;
      if (error instanceof Unchecked) yield* addEach(error);
      else if (error instanceof Deciding) yield* addDecided(error);
      else if (error instanceof InSteps) yield* add(yield* error.check());
      else {
        found.push(error);
        length += error.field.length + error.message.length;
      }
    }
  }
  function* addEach({ items, check: checkItem }: Unchecked): Steps<void> {
    for (let index = 0; index < items.length && length <= MAX_PROBLEMS_LENGTH; index += 1) {
      const errors = noting(() => checkItem(items[index] as never, index));
      if (errors.length > 0) yield* add(errors);
      yield;
    }
  }
  function* addDecided({ first, next }: Deciding): Steps<void> {
    const errors = yield* checkInParts(first);
    yield;
    yield* add(noting(() => next(errors)));
  }
  yield* add(noting(check));
  return found;
}

function noting(check: () => readonly FieldError[]): readonly FieldError[] {
  inParts = true;
  try {
    return check();
  } finally {
    inParts = false;
  }
}
