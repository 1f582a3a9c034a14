import { MAX_PATTERN_SIZE, patternSize } from './pattern-size';
import { patternProblem } from '../validation/custom-pattern';

describe('the size of a pattern', () => {
  it.each([
    ['abc', 3],
    ['^[a-z0-9]([-a-z0-9]*[a-z0-9])?$', 8],
    ['a{9}', 9],
    ['(a{9}){9}', 90],
    ['(a{2,}b){3,7}', 28],
    ['[]a{9}][[:alpha:]{9}]', 2],
    ['a{,9}', 4],
    ['\\{9}', 3],
    ['(((', 0],
  ])('of %s is %i', (pattern, size) => {
    expect(patternSize(pattern)).toBe(size);
  });

  it('has a limit, below which are those that people write', () => {
    expect(patternProblem('a{999}'.repeat(800))).toBe('error parsing regexp: expression nests or repeats too much');
    expect(patternProblem('^([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\\.){1,12}[a-z]{2,63}$')).toBeUndefined();
    expect(patternSize('a{999}'.repeat(17))).toBeGreaterThan(MAX_PATTERN_SIZE);
  });
});
