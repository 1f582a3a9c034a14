import { checkExpression, compileSteps } from './compile-expression';
import { formatType } from './types';

const NO_VARIABLES = new Map();

describe('the types of an expression', () => {
  it('have an end, however often each holds the one before', () => {
    // Each map is twice as large as the one before, as a key and as a value.
    const nested = (count: number): string => {
      let inner = `v${count} == v${count}`;
      for (let index = count; index > 0; index -= 1) {
        inner = `cel.bind(v${index}, {v${index - 1}: v${index - 1}}, ${inner})`;
      }
      return `cel.bind(v0, {1: 1}, ${inner})`;
    };
    expect(checkExpression(nested(3), NO_VARIABLES).type.kind).toBe('bool');
    expect(() => checkExpression(nested(40), NO_VARIABLES)).toThrow('the types of the expression are too large');
  });

  it.each([
    ['joined lists', '[].map(x,x)', '+', ' == []'],
    ['elements', '[]', ',', '].size() > 0'],
  ])('are found for many %s whose own types are not known', (_what, part, separator, end) => {
    const joined = Array<string>(830).fill(part).join(separator);
    expect(checkExpression(`${end.startsWith(']') ? '[' : ''}${joined}${end}`, NO_VARIABLES).type.kind).toBe('bool');
  });

  it('are those of what a parameter stands for in the end', () => {
    expect(formatType(checkExpression('[[], [], [1]]', NO_VARIABLES).type)).toBe('list(list(int))');
    expect(formatType(checkExpression('[[], [[]], [["a"]]]', NO_VARIABLES).type)).toBe('list(list(list(string)))');
  });
});

it('an expression is parsed, checked and compiled in steps, its patterns one by one', () => {
  const steps = compileSteps("'a'.matches('a+') && 'b'.find('b') == 'b'", NO_VARIABLES);
  let count = 0;
  while (steps.next().done !== true) count += 1;
  expect(count).toBe(4);
});
