import fc from 'fast-check';
import { atOnce } from '../../parts';
import { indexIn, lastIndexIn, lowerAscii, piecesOf, replaceSteps, reversed, upperAscii } from './text-units';

/** Of few characters, so that parts occur; some are pairs of units, some halves of one. */
const texts = fc
  .array(fc.constantFrom('a', 'b', 'B', 'é', '\u{1f600}', '\ud83d'), { maxLength: 12 })
  .map((all) => all.join(''));
const parts = fc
  .array(fc.constantFrom('a', 'b', '\u{1f600}'), { minLength: 1, maxLength: 4 })
  .map((all) => all.join(''));
const most = fc.oneof(fc.constant(Infinity), fc.integer({ min: 1, max: 5 }));
/** Around a text it makes the search that of long ones. */
const LONG = 'x'.repeat(4_000_000);

/** What the functions on texts say of pieces, in the words of the language's own methods. */
function piecesInShort(text: string, part: string, limit: number): readonly string[] {
  const all = part === '' ? [...text] : text.split(part);
  return all.length <= limit ? all : [...all.slice(0, limit - 1), all.slice(limit - 1).join(part)];
}

test('case is changed of ASCII alone', () => {
  expect(lowerAscii('AZaz09ÀÉ\u{1f600}@[`{')).toBe('azaz09ÀÉ\u{1f600}@[`{');
  expect(upperAscii('AZaz09àé\u{1f600}@[`{')).toBe('AZAZ09àé\u{1f600}@[`{');
});

test('a text is reversed by characters', () => {
  fc.assert(fc.property(texts, (text) => expect(reversed(text)).toBe([...text].reverse().join(''))));
});

test('pieces are those between parts', () => {
  fc.assert(
    fc.property(texts, parts, most, (text, part, limit) =>
      expect([...piecesOf(text, part, limit)]).toEqual(piecesInShort(text, part, limit)),
    ),
  );
});

test('an empty part parts characters', () => {
  fc.assert(
    fc.property(texts, most, (text, limit) =>
      expect([...piecesOf(text, '', limit)]).toEqual(piecesInShort(text, '', limit)),
    ),
  );
});

test('parts are replaced from the left', () => {
  fc.assert(
    fc.property(texts, parts, fc.constantFrom('', 'y', 'ayb'), most, (text, part, by, limit) => {
      const pieces = text.split(part);
      const count = Math.min(limit, pieces.length - 1);
      const wanted = pieces.slice(0, count).map((piece) => piece + by);
      expect(atOnce(replaceSteps(text, part, by, limit, Infinity))).toBe(
        wanted.join('') + pieces.slice(count).join(part),
      );
    }),
  );
});

test('in place of nothing a text is put around each character', () => {
  expect(atOnce(replaceSteps('a\u{1f600}b', '', '-', Infinity, 100))).toBe('-a-\u{1f600}-b-');
  expect(atOnce(replaceSteps('a\u{1f600}b', '', '-', 2, 100))).toBe('-a-\u{1f600}b');
  expect(atOnce(replaceSteps('', '', '-', Infinity, 100))).toBe('-');
});

test('no text becomes longer than it may', () => {
  expect(atOnce(replaceSteps('aaa', 'a', 'bb', Infinity, 6))).toBe('bbbbbb');
  expect(atOnce(replaceSteps('aaa', 'a', 'bb', Infinity, 5))).toBeUndefined();
});

test('what is replaced in a long text is replaced a part at a time', () => {
  const steps = replaceSteps('a'.repeat(100_000), 'a', 'b', Infinity, 100_000);
  let pauses = 0;
  let step = steps.next();
  for (; step.done !== true; step = steps.next()) pauses += 1;
  expect(step.value).toBe('b'.repeat(100_000));
  expect(pauses).toBeGreaterThan(10);
});

test('a part is found in a long text where it is found in a short one', () => {
  const part = 'ab'.repeat(4);
  for (const text of ['abababababab', 'ababa', `b${part}`, `${part}a`, '']) {
    for (const from of [0, 1, 3]) {
      const found = text.indexOf(part, from);
      expect(indexIn(text + LONG, part, from)).toBe(found);
    }
    const last = text.lastIndexOf(part);
    expect(lastIndexIn(text + LONG, part)).toBe(last);
    expect(lastIndexIn(LONG + text, part)).toBe(last < 0 ? -1 : LONG.length + last);
    expect(lastIndexIn(text + LONG, part, 2)).toBe(text.lastIndexOf(part, 2));
  }
});

test('to look for a part takes no longer where nearly all of it is everywhere', () => {
  // The platform's own search takes a minute for these.
  const text = 'a'.repeat(1_500_000);
  const part = `${'a'.repeat(250_000)}b${'a'.repeat(250_000)}`;
  expect(indexIn(text, part)).toBe(-1);
  expect(lastIndexIn(text, part)).toBe(-1);
  expect([...piecesOf(text, part, Infinity)]).toHaveLength(1);
  expect(atOnce(replaceSteps(text, part, '', Infinity, text.length))).toBe(text);
});
