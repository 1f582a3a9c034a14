import type { Steps } from '../api/parts';
import { sortNames } from '../api/steps/generated/sort-in-runs';
import { rememberPrinted } from './event';

/** So many are printed at one stretch. */
const FEW_ANNOTATIONS = 1_000;

/** What has to be done before an event with so many annotations is printed; undefined: nothing. */
export function annotationsInSteps(annotations: ReadonlyMap<string, string>): Steps<void> | undefined {
  return annotations.size <= FEW_ANNOTATIONS ? undefined : printMany(annotations);
}

function* printMany(annotations: ReadonlyMap<string, string>): Steps<void> {
  const members: string[] = [];
  for (const key of yield* sortNames([...annotations.keys()])) {
    members.push(`${JSON.stringify(key)}:${JSON.stringify(annotations.get(key))}`);
    yield;
  }
  rememberPrinted(annotations, `{${members.join(',')}}`);
}
