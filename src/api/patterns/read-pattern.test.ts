import { PatternError, readPattern } from './read-pattern';
import { PATTERN_TOO_LARGE } from './pattern-size';
import { validateDefault } from '../validation/custom-default';

describe('a pattern', () => {
  it('is what its text says', () => {
    expect(readPattern('^a+$').test('aa')).toBe(true);
    expect(readPattern('^a+$').test('b')).toBe(false);
  });

  it.each([
    ['(', 'error parsing regexp: missing closing ): `(`'],
    ['(a{900}){900}', PATTERN_TOO_LARGE],
    ['a'.repeat(2_700_000), PATTERN_TOO_LARGE],
    [`[${'az'.repeat(1_000_000)}]`, PATTERN_TOO_LARGE],
  ])('is told to be none: %.20s', (text, problem) => {
    expect(() => readPattern(text)).toThrow(PatternError);
    expect(() => readPattern(text)).toThrow(problem);
  });

  it.each(['(', '(a{900}){900}', 'a'.repeat(2_700_000)])(
    'that is none allows no default beside it: %.20s',
    (pattern) => {
      const errors = validateDefault({ type: 'string', pattern, default: 'a' }, 'a', 'field');
      expect(errors.map(({ field }) => field)).toEqual(['a.default']);
    },
  );
});
