import { hasParentStep } from './pod/paths';
import { labelValueProblems, qualifiedNameProblems } from './label-syntax';

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
