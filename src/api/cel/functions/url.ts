import { declare, OF_TEXT, type Overload } from '../declarations';
import { CostExceeded } from '../run';
import { countWork } from '../extra-work';
import { insert } from '../map-keys';
import { Entries, EvalError, Items, Opaque, type Value } from '../values';
import { quoteGo } from '../../errors/go-quote';
import { escapedPath, hostname, parseGoUrl, port, queryValues, type GoUrl } from './go-url';

class Url extends Opaque {
  readonly typeName = 'kubernetes.URL';

  constructor(readonly parsed: GoUrl) {
    super();
  }

  equals(other: Opaque): boolean {
    if (!(other instanceof Url)) return false;
    const keys = Object.keys(this.parsed) as (keyof GoUrl)[];
    return keys.every((key) => this.parsed[key] === other.parsed[key]);
  }
}

/** Kubernetes' library of URLs. */
export function urlFunctions(): readonly Overload[] {
  const of = (value: Value | undefined): GoUrl => (value as Url).parsed;
  return [
    declare(
      'url(string): kubernetes.URL',
      (text) => {
        const found = parseGoUrl(text as string);
        if (typeof found !== 'string') return new Url(found);
        throw new EvalError(
          `URL parse error during conversion from string: parse ${quoteGo(text as string)}: ${found}`,
        );
      },
      OF_TEXT,
    ),
    declare('isURL(string): bool', (text) => typeof parseGoUrl(text as string) !== 'string', OF_TEXT),
    declare('kubernetes.URL.getScheme(): string', (value) => of(value).scheme),
    declare('kubernetes.URL.getHost(): string', (value) => of(value).host),
    declare('kubernetes.URL.getHostname(): string', (value) => hostname(of(value))),
    declare('kubernetes.URL.getPort(): string', (value) => port(of(value))),
    declare('kubernetes.URL.getEscapedPath(): string', (value) => pathOf(of(value))),
    declare('kubernetes.URL.getQuery(): map<string, list<string>>', (value) => queryOf(of(value))),
  ];
}

/** What it takes to read a pair of a query, at least. */
const COMPARISONS_PER_PAIR = 10;
const countPair = (): void => countWork(COMPARISONS_PER_PAIR);

/** A longer path or query takes tens of milliseconds to read. */
const MAX_PART = 256 * 1024;

/** Throws {@link CostExceeded} for an absurdly long path. */
function pathOf(url: GoUrl): string {
  if (url.path.length > MAX_PART) throw new CostExceeded();
  return escapedPath(url);
}

/** Throws {@link CostExceeded} for an absurdly long query, and one of tens of thousands of pairs. */
function queryOf(url: GoUrl): Entries {
  if (url.query.length > MAX_PART) throw new CostExceeded();
  const entries = new Map<string, readonly [Value, Value]>();
  for (const [name, list] of queryValues(url, countPair)) insert(entries, name, new Items(list));
  return new Entries(entries);
}
