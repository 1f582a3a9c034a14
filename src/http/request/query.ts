/**
 * The parameters of a URL, parsed once. Repeated parameters keep their order and the first one counts; a pair that
 * cannot be decoded is dropped, as kube-apiserver does.
 */
export class Query {
  static readonly EMPTY = new Query(new Map());

  private constructor(private readonly values: ReadonlyMap<string, readonly string[]>) {}

  /** `search` is what follows the question mark. Never throws. */
  static parse(search: string): Query {
    if (search === '') return Query.EMPTY;
    const values = new Map<string, string[]>();
    for (const pair of search.split('&')) {
      if (pair === '') continue;
      const equals = pair.indexOf('=');
      const name = decodeComponent(equals < 0 ? pair : pair.slice(0, equals));
      const value = decodeComponent(equals < 0 ? '' : pair.slice(equals + 1));
      if (name === undefined || value === undefined) continue;
      const earlier = values.get(name);
      if (earlier === undefined) values.set(name, [value]);
      else earlier.push(value);
    }
    return new Query(values);
  }

  has(name: string): boolean {
    return this.values.has(name);
  }

  first(name: string): string | undefined {
    return this.values.get(name)?.[0];
  }

  all(name: string): readonly string[] {
    return this.values.get(name) ?? [];
  }

  /** The API's booleans: absent is false, `false` (in any case) and `0` are false, everything else is true. */
  flag(name: string): boolean {
    const value = this.first(name);
    return value !== undefined && value !== '0' && value.toLowerCase() !== 'false';
  }
}

function decodeComponent(text: string): string | undefined {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text;
  if (!spaced.includes('%')) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    return undefined;
  }
}
