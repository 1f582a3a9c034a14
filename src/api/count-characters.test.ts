import fc from 'fast-check';
import { countCharacters } from './count-characters';

describe('the characters of a text', () => {
  test.each([
    ['', 0],
    ['abc', 3],
    ['é€', 2],
    ['a😀b', 3],
    ['\ud83d', 1],
    ['\ude00\ud83d', 2],
    ['\ud83d\ud83d\ude00\ude00', 3],
  ])('%j are counted', (text, count) => {
    expect(countCharacters(text)).toBe(count);
  });

  it('are those that it consists of', () => {
    const units = fc.array(fc.constantFrom('a', 'é', '\ud83d', '\ude00', '\udbff', '\udfff', '\ud800', '\udc00'));
    fc.assert(fc.property(units, (parts) => countCharacters(parts.join('')) === [...parts.join('')].length));
  });
});
