import { filledInParts } from '../../fill-later';
import { take } from '../../steps/both-forms.fixture';
import { ROUNDS_BETWEEN_PAUSES } from '../../steps/pace';
import { resourceQuota } from './resource-quota';

test('a quota with thousands of names is printed in a table a few names at a time, sorted', () => {
  const count = 2_000;
  const names = Array.from({ length: count }, (_, index) => `requests.example.com/r${index}`);
  const hard = Object.fromEntries(names.map((name) => [name, '5']));
  const quota = { metadata: { name: 'q' }, status: { hard, used: { [names[7]!]: '3' } } };
  const { result, pauses } = take(filledInParts(() => resourceQuota.table!.cells(quota, 0)));
  expect(result[3]).toBe('');
  const shown = String(result[2]).split(', ');
  expect(shown.map((text) => text.slice(0, text.indexOf(':')))).toEqual(names.toSorted());
  expect(shown).toContain(`${names[7]}: 3/5`);
  expect(shown).toContain(`${names[8]}: 0/5`);
  expect(pauses).toBeGreaterThan((2 * count) / ROUNDS_BETWEEN_PAUSES);
});
