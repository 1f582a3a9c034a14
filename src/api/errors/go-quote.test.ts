import { quoteGo } from './go-quote';

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
});
