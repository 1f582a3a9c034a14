import { isPlainMap, listAt, mapAt, stringAt } from './field-values';

function labelTexts(labels: Readonly<Record<string, unknown>>): { key: string; text: string }[] {
  return Object.entries(labels).map(([key, value]) => ({ key, text: `${key}=${String(value)}` }));
}

function requirementText(requirement: unknown): string {
  const key = stringAt(requirement, 'key');
  const values = listAt(requirement, 'values').map(String).sort().join(',');
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

function byKey(left: { readonly key: string }, right: { readonly key: string }): number {
  return left.key < right.key ? -1 : left.key > right.key ? 1 : 0;
}

/** A label selector in the form of the query parameter, requirements by key: `app=a,tier in (x,y),!old`. */
export function printLabelSelector(selector: unknown): string {
  if (!isPlainMap(selector)) return '';
  return [
    ...labelTexts(mapAt(selector, 'matchLabels')),
    ...listAt(selector, 'matchExpressions').map((item) => ({
      key: stringAt(item, 'key'),
      text: requirementText(item),
    })),
  ]
    .sort(byKey)
    .map(({ text }) => text)
    .join(',');
}

/** As {@link printLabelSelector}, for people: `<none>` when nothing is asked for. */
export function labelSelectorCell(selector: unknown): string {
  return printLabelSelector(selector) || '<none>';
}

/** Labels as `a=1,b=2`, by key; `<none>` when there are none. */
export function labelsCell(labels: Readonly<Record<string, unknown>>): string {
  const texts = labelTexts(labels).sort(byKey);
  return texts.length === 0 ? '<none>' : texts.map(({ text }) => text).join(',');
}
