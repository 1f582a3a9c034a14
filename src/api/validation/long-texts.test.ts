import { invalid } from '../errors/field-error';
import { MAX_PROBLEMS_LENGTH } from '../errors/status-error';
import { take } from '../steps/both-forms.fixture';
import { checkEach, checkEachPart, checkInPartsIfLong } from './check-each';
import { goJsonObjectProblem, goJsonObjectSteps } from './json-problem';
import { hasParentStep } from './pod/paths';
import { labelValueProblems, qualifiedNameProblems } from './label-syntax';
import { validateWebhookClient } from './webhook-client';

const LENGTH = 1_000_000;

describe('of a text that is far too long', () => {
  it.each([
    ['a label', labelValueProblems('.a'.repeat(LENGTH)), ['must be no more than 63 characters']],
    ['a name', qualifiedNameProblems('a.'.repeat(LENGTH)), ['name part must be no more than 63 characters']],
    [
      'a prefix',
      qualifiedNameProblems(`${'a..'.repeat(LENGTH)}/b`),
      ['prefix part must be no more than 253 characters'],
    ],
  ])('only that is told: %s', (_, problems, told) => {
    expect(problems).toEqual(told);
  });
});

describe('a step to the parent', () => {
  it.each(['..', '../a', 'a/..', 'a/../b', '/..'])('is found in %s', (path) => {
    expect(hasParentStep(path)).toBe(true);
  });

  it.each(['', '.', '...', 'a..', '..a', 'a/..b', 'a../b', '..a/b..'])('is none in %j', (path) => {
    expect(hasParentStep(path)).toBe(false);
  });
});

describe('the parts of a text', () => {
  const parts = Array.from({ length: 100_000 }, () => 'x');

  it('are looked at in turns where there are many', () => {
    const check = jest.fn(() => []);
    const { result, pauses } = take(checkInPartsIfLong(() => checkEachPart(parts, check)));
    expect([result, pauses]).toEqual([[], parts.length]);
    expect(check).toHaveBeenCalledTimes(parts.length);
  });

  it('have as many problems as can be told', () => {
    const shown = 'v'.repeat(MAX_PROBLEMS_LENGTH / 8);
    const problemsOf = (checkAll: typeof checkEachPart): number =>
      checkAll(parts, (part, index) => [invalid(`a[${index}]`, shown, part)]).length;
    for (const checkAll of [checkEach, checkEachPart]) {
      expect(problemsOf(checkAll)).toBeGreaterThan(1);
      expect(problemsOf(checkAll)).toBeLessThan(20);
    }
  });
});

it('a path of a webhook is told to be too long before each of its segments is', () => {
  const problemsOf = (path: string): readonly string[] =>
    validateWebhookClient({ service: { name: 'a', namespace: 'b', path } }, 'c').map(({ message }) => message);
  expect(problemsOf('/../'.repeat(1_000_000))).toEqual(['Too long: must have at most 65536 bytes']);
  expect(problemsOf('/..'.repeat(20_000)).length).toBeLessThan(50);
  expect(problemsOf('/a'.repeat(20_000))).toEqual([]);
});

describe('a long text of JSON', () => {
  const members = Array.from({ length: 20_000 }, (_, index) => `"k${index}":1`).join();

  it.each([
    ['{}', undefined],
    [`{${members}}`, undefined],
    [`{${members}`, 'unexpected end of JSON input'],
    [`[{${members}}]`, 'json: cannot unmarshal array into Go value of type map[string]interface {}'],
    [`{${members},x}`, "invalid character 'x' looking for beginning of value"],
  ])('is judged in steps as a short one is at once: %.10s', (text, problem) => {
    const { result, pauses } = take(goJsonObjectSteps(text));
    expect([result, goJsonObjectProblem(text)]).toEqual([problem, problem]);
    expect(pauses).toBeGreaterThanOrEqual(text.length < 100 ? 0 : 10);
  });

  it('is refused for its depth and its number of values before all of it is read', () => {
    const problemOf = (text: string): string | undefined => take(goJsonObjectSteps(text)).result;
    expect(problemOf('['.repeat(1_000_000))).toBe('exceeded max depth');
    expect(problemOf(`[${'1,'.repeat(500_000)}1]`)).toBe('the body has more than 100000 values');
  });
});
