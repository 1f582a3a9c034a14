import fc from 'fast-check';
import { Query } from './query';

describe('the parameters of a URL', () => {
  it('keeps a value that is no UTF-8, with U+FFFD for its bytes', () => {
    const query = Query.parse('dryRun=%ff&a=x+%C3%A9%c3%28&%fe=%25');
    expect(query.all('dryRun')).toEqual(['\ufffd']);
    expect(query.first('a')).toBe('x \u00e9\ufffd(');
    expect(query.first('\ufffd')).toBe('%');
  });

  it('drops a pair with a percent sign that begins no escape', () => {
    const query = Query.parse('a=%f&b=%zz&c=%ff%&d=1');
    expect(['a', 'b', 'c'].map((name) => query.has(name))).toEqual([false, false, false]);
    expect(query.first('d')).toBe('1');
  });

  it('reads what the platform would, and with U+FFFD what it would refuse', () => {
    const byte = fc.integer({ min: 0, max: 255 });
    const escape = byte.map((code) => `%${code.toString(16).padStart(2, '0')}`);
    const part = fc.oneof(
      escape,
      escape.map((text) => text.toUpperCase()),
      fc.constantFrom('a', '+', '=', '%c3%a9'),
    );
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        const text = parts.join('');
        expect(Query.parse(`a=${text}`).first('a')).toBe(new URLSearchParams(`a=${text}`).get('a'));
      }),
    );
  });

  it('throws nothing while it reads: an error for each of thousands of parameters would hold up everybody', () => {
    const decode = jest.spyOn(globalThis, 'decodeURIComponent');
    try {
      Query.parse('%ff&a=%ff&a=%c3%a9&%&%f'.repeat(10));
      expect(decode).not.toHaveBeenCalled();
      expect(Query.parse('a=%41').first('a')).toBe('A');
      expect(decode).toHaveBeenCalledTimes(1);
    } finally {
      decode.mockRestore();
    }
  });

  it('keeps all values of a repeated parameter', () => {
    const query = Query.parse('command=ls&one=1&command=-l&command=');
    expect(query.all('command')).toEqual(['ls', '-l', '']);
    expect([query.first('command'), query.all('one'), query.all('none')]).toEqual(['ls', ['1'], []]);
  });
});
