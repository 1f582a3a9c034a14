import { keysOf, type Steps } from '../parts';
import { sortInRuns, sortNames } from '../steps/generated/sort-in-runs';
import { isPauseDue } from '../steps/pace';
import { isPlainMap, listAt, mapAt, stringAt, type PlainMap } from './field-values';

interface Part {
  readonly key: string;
  readonly text: string;
}

function* labelParts(labels: PlainMap): Steps<Part[]> {
  const parts: Part[] = [];
  for (const key of keysOf(labels)) {
    if (isPauseDue()) yield;
    parts.push({ key, text: `${key}=${String(labels[key])}` });
  }
  return parts;
}

function* requirementText(requirement: unknown): Steps<string> {
  const key = stringAt(requirement, 'key');
  const values = (yield* sortNames(listAt(requirement, 'values').map(String))).join(',');
  switch (stringAt(requirement, 'operator')) {
    case 'In':
      return `${key} in (${values})`;
    case 'NotIn':
      return `${key} notin (${values})`;
    case 'DoesNotExist':
      return `!${key}`;
    default:
      return key;
  }
}

function byKey(left: Part, right: Part): number {
  return left.key < right.key ? -1 : left.key > right.key ? 1 : 0;
}

function* join(parts: readonly Part[]): Steps<string> {
  const sorted = yield* sortInRuns(parts, byKey);
  return sorted.map(({ text }) => text).join(',');
}

/** A label selector in the form of the query parameter, requirements by key: `app=a,tier in (x,y),!old`. */
export function* printLabelSelector(selector: unknown): Steps<string> {
  if (!isPlainMap(selector)) return '';
  const parts = yield* labelParts(mapAt(selector, 'matchLabels'));
  for (const item of listAt(selector, 'matchExpressions')) {
    if (isPauseDue()) yield;
    parts.push({ key: stringAt(item, 'key'), text: yield* requirementText(item) });
  }
  return yield* join(parts);
}

/** As {@link printLabelSelector}, for people: `<none>` when nothing is asked for. */
export function* labelSelectorCell(selector: unknown): Steps<string> {
  return (yield* printLabelSelector(selector)) || '<none>';
}

/** Labels as `a=1,b=2`, by key. */
export function* printLabels(labels: object): Steps<string> {
  return yield* join(yield* labelParts(labels as PlainMap));
}

/** As {@link printLabels}, for people: `<none>` when there are none. */
export function* labelsCell(labels: PlainMap): Steps<string> {
  return (yield* printLabels(labels)) || '<none>';
}
