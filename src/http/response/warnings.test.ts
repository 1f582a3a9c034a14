import { Warnings } from './warnings';

function warningsOf(...texts: readonly string[]): readonly string[] {
  const warnings = new Warnings();
  for (const text of texts) warnings.add(text);
  return warnings.texts;
}

describe('the warnings of a response', () => {
  const long = (mark: string): string => mark.padEnd(2048, 'x');

  it('are each there once, and whole as long as they have 4096 characters in all', () => {
    expect(warningsOf('a', 'b', '', 'a')).toEqual(['a', 'b']);
    expect(warningsOf(long('a'), long('b'))).toEqual([long('a'), long('b')]);
  });

  it('are cut to 256 characters each when they are longer, those that came before too', () => {
    expect(warningsOf(long('a'), 'short', long('b'))).toEqual([
      long('a').slice(0, 256),
      'short',
      long('b').slice(0, 256),
    ]);
    expect(warningsOf('x'.repeat(5000))).toEqual(['x'.repeat(256)]);
  });

  it('are no more when there is no room even so', () => {
    const texts = Array.from({ length: 10_000 }, (_, index) => long(String(index)));
    expect(warningsOf(...texts)).toEqual(texts.slice(0, 16).map((text) => text.slice(0, 256)));
    const short = Array.from({ length: 10_000 }, (_, index) => `${10_000 + index}`);
    expect(warningsOf(...short)).toEqual(short.slice(0, 820));
  });

  it('are counted and cut by code points', () => {
    const pairs = '\u{1F600}'.repeat(4096);
    expect(warningsOf(pairs)).toEqual([pairs]);
    expect(warningsOf(pairs, 'more')).toEqual(['\u{1F600}'.repeat(256), 'more']);
  });
});
