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
});
