import fc from 'fast-check';
import { checkExpression } from './compile-expression';
import { parse } from './parser';
import { tokenize } from './lexer';
import { CelSyntaxError } from './source-error';
import { STRING, mapOf } from './types';

function problemOf(source: string): string {
  try {
    checkExpression(source, new Map([['self', mapOf(STRING, STRING)]]));
    return '';
  } catch (error) {
    if (error instanceof CelSyntaxError) return error.message;
    throw error;
  }
}

it.each([
  ['1 +', "ERROR: <input>:1:4: Syntax error: mismatched input '<EOF>' expecting {'[', '{'"],
  ['1 1', "ERROR: <input>:1:3: Syntax error: mismatched input '1' expecting <EOF>\n | 1 1\n | ..^"],
  ['foo', "ERROR: <input>:1:1: undeclared reference to 'foo' (in container '')\n | foo\n | ^"],
  [
    '1 + "a"',
    "ERROR: <input>:1:3: found no matching overload for '_+_' applied to '(int, string)'\n | 1 + \"a\"\n | ..^",
  ],
  ['has(self)', 'ERROR: <input>:1:5: invalid argument to has() macro'],
  ['"a".matches("(")', 'ERROR: <input>:1:13: '],
  ['1.all(x, true)', "ERROR: <input>:1:1: expression of type 'int' cannot be range of a comprehension"],
])('%s is refused in the words of cel-go', (source, wanted) => {
  expect(problemOf(source)).toContain(wanted);
});

it.each([
  ['brackets', '('.repeat(5_000)],
  ['closed brackets', '('.repeat(5_000) + '1' + ')'.repeat(5_000)],
  ['lists', '['.repeat(50_000)],
  ['maps', '{1:'.repeat(30_000)],
  ['conditions', 'true?'.repeat(15_000)],
  ['nested conditions', 'true?true:'.repeat(9_000)],
  ['negations', '!'.repeat(90_000)],
  ['sums', `1${'+1'.repeat(40_000)}`],
  ['selections', `self${'.a'.repeat(40_000)}`],
  ['indexes', `self${'[0]'.repeat(30_000)}`],
  ['macros', 'self.all(a,'.repeat(5_000)],
  ['strings', `"${'\\'.repeat(50_001)}"`],
  ['texts', 'a'.repeat(100_001)],
  ['comments', '//'.repeat(49_000)],
])('%s without end are refused, and no stack overflows', (_name, source) => {
  expect(problemOf(source)).not.toBe('');
});

it('of many problems in a long line a few are told', () => {
  const message = problemOf(`[${'f(1),'.repeat(1_900)}]`);
  expect(message.length).toBeLessThan(64 * 1024);
  expect(message).toMatch(/more errors$/);
});

it('what is as long and as deep as it may be is read', () => {
  expect(problemOf(`${'('.repeat(240)}1${')'.repeat(240)}`)).toBe('');
  expect(problemOf(`1${'+1'.repeat(900)} == 1`)).toBe('');
  expect(problemOf(`true${' && true'.repeat(1_000)}`)).toBe('');
});

it('optional macros after one another do not multiply what they stand after', () => {
  const chain = (length: number): string => `optional.of(1)${'.optMap(x, x + 1)'.repeat(length)}`;
  const size = (length: number): number =>
    JSON.stringify(parse(chain(length)), (_key, value: unknown) => (typeof value === 'bigint' ? Number(value) : value))
      .length;
  expect(size(20) - size(10)).toBe(size(30) - size(20));
});

it('any text is a tree or a problem', () => {
  const pieces = fc.constantFrom(
    '(',
    ')',
    '[',
    ']',
    '{',
    '}',
    '?',
    ':',
    '.',
    ',',
    '!',
    '-',
    '+',
    '&&',
    '||',
    '==',
    ' in ',
    'self',
    'a',
    '1',
    '1u',
    '1.5',
    '"x"',
    "b'y'",
    '.all(',
    '.map(',
    'has(',
    'x,',
    'true',
    'null',
    '`a-b`',
    '\\',
    '"',
    '\n',
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 30 }), (parts) => {
      problemOf(parts.join(''));
    }),
    { numRuns: 2_000 },
  );
  fc.assert(
    fc.property(fc.string({ maxLength: 60 }), (source) => {
      problemOf(source);
    }),
    { numRuns: 1_000 },
  );
});

it('tokens cover the text but for blanks and comments', () => {
  const tokens = tokenize('a.b // c\n + r"\\d" + 0x1Fu');
  expect(tokens.map(({ text }) => text)).toEqual(['a', '.', 'b', '+', 'r"\\d"', '+', '0x1Fu', '<EOF>']);
});
