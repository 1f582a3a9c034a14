import { quoteGo, quoteWhole } from './go-quote';

describe('quoteGo', () => {
  test.each([
    ['plain text', '"plain text"'],
    ['"a\\b"', '"\\"a\\\\b\\""'],
    ['a\0b', '"a\\x00b"'],
    ['\x07\b\f\n\r\t\v\x7f', '"\\a\\b\\f\\n\\r\\t\\v\\x7f"'],
    ['été <&>', '"été <&>"'],
    ['a\u00a0b\u200b\u2028', '"a\\u00a0b\\u200b\\u2028"'],
    ['😀', '"😀"'],
    ['\u{e0001}', '"\\U000e0001"'],
    ['\ud800', '"\ufffd"'],
  ])('quotes %j as Go does', (text, quoted) => {
    expect(quoteGo(text)).toBe(quoted);
  });

  it('leaves out of a message what is too long for one, and of a value nothing', () => {
    const text = 'a'.repeat(100_000);
    expect(quoteGo(text).length).toBeLessThan(50_000);
    expect(quoteWhole(text)).toBe(`"${text}"`);
  });
});
