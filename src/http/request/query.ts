const PERCENT = 0x25;

/**
 * The parameters of a URL, parsed once. Repeated parameters keep their order and the first one counts; a pair with a `%` that
 * begins no escape is dropped, as kube-apiserver does. Bytes that are no UTF-8 are U+FFFD: a `dryRun=%ff` must not be a request
 * without a dry run.
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
    return /%(?![\da-f]{2})/i.test(spaced) ? undefined : decodeBytes(spaced);
  }
}

function decodeBytes(text: string): string {
  const source = Buffer.from(text);
  const bytes = Buffer.alloc(source.length);
  let length = 0;
  for (let index = 0; index < source.length; index++) {
    if (source[index] === PERCENT) {
      bytes[length++] = Number.parseInt(source.toString('latin1', index + 1, index + 3), 16);
      index += 2;
    } else {
      bytes[length++] = source[index] as number;
    }
  }
  return bytes.toString('utf8', 0, length);
}
