import type { Steps } from './parts';
import { atOnce } from './parts';

/**
 * Lists and maps that plain functions make of others, such as the containers of a pod with their defaults. While an object is worked
 * on in parts a long one is only made room for, and filled when the function is done, with others in between: so the function may
 * hand it on and put it in its place, but reads nothing of it.
 */

/** So many items are made together, for any caller. */
const FEW_ITEMS = 16;

/** What is to be filled when the function is done, set while an object is worked on in parts; nothing is waited for meanwhile. */
let noted: Steps<void>[] | undefined;

/** Fills something that was made: at once, or a part at a time when the function that made it is done. */
export function fill(steps: Steps<void>): void {
  if (noted === undefined) atOnce(steps);
  else noted.push(steps);
}

/** Whether what is given to {@link fill} is filled later. */
export function isFilledLater(): boolean {
  return noted !== undefined;
}

/** Whether what {@link mapEach} makes of the list is made later. */
export function fillsLater(items: readonly unknown[]): boolean {
  return noted !== undefined && items.length > FEW_ITEMS;
}

/** `items.map(make)`. May be given lists of its own making. */
export function mapEach<Item, Made>(items: readonly Item[], make: (item: Item) => Made): readonly Made[] {
  if (noted === undefined || items.length <= FEW_ITEMS) return items.map((item) => make(item));
  const made = new Array<Made>(items.length);
  noted.push(mapInto(made, items, make));
  return made;
}

function* mapInto<Item, Made>(made: Made[], items: readonly Item[], make: (item: Item) => Made): Steps<void> {
  for (let index = 0; index < items.length; index += 1) {
    made[index] = make(items[index] as Item);
    yield;
  }
}

/** What `work` gives, whose lists and maps are filled a part at a time, in the order in which they were made. */
export function* filledInParts<Result>(work: () => Result): Steps<Result> {
  const queue: Steps<void>[] = [];
  const result = noting(queue, work);
  yield;
  for (let index = 0; index < queue.length; index += 1) {
    const steps = queue[index] as Steps<void>;
    // What is made within is filled after this.
    while (noting(queue, () => steps.next()).done !== true) yield;
  }
  return result;
}

function noting<Result>(queue: Steps<void>[], work: () => Result): Result {
  noted = queue;
  try {
    return work();
  } finally {
    noted = undefined;
  }
}
