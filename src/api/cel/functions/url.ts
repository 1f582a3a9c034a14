import { declare, OF_TEXT, type Overload } from '../declarations';
import { insert } from '../map-keys';
import { Entries, EvalError, Items, Opaque, type Value } from '../values';

/** An absolute address, or a path: what Go's `url.ParseRequestURI` reads. */
class Url extends Opaque {
  readonly typeName = 'kubernetes.URL';

  constructor(
    readonly scheme: string,
    readonly host: string,
    readonly path: string,
    readonly query: string,
  ) {
    super();
  }

  equals(other: Opaque): boolean {
    if (!(other instanceof Url)) return false;
    return (
      this.scheme === other.scheme && this.host === other.host && this.path === other.path && this.query === other.query
    );
  }
}

const ABSOLUTE =
  /^([a-zA-Z][a-zA-Z0-9+.-]*):\/\/(?:[^/?@\s]*@)?(\[[0-9a-fA-F:.%]+\](?::\d*)?|[^/?\s[\]:]*(?::\d*)?)(\/[^?]*)?(?:\?(.*))?$/;
const ROOTED = /^(\/[^?]*)(?:\?(.*))?$/;

const FORBIDDEN = /[\0-\x20\x7f]|%(?![0-9a-fA-F]{2})/;

function urlOf(text: string): Url | undefined {
  if (FORBIDDEN.test(text)) return undefined;
  const absolute = ABSOLUTE.exec(text);
  if (absolute !== null) {
    const [, scheme = '', host = '', path = '', query = ''] = absolute;
    return new Url(scheme.toLowerCase(), host, path, query);
  }
  const rooted = ROOTED.exec(text);
  return rooted === null ? undefined : new Url('', '', rooted[1] ?? '', rooted[2] ?? '');
}

/** Kubernetes' library of URLs. */
export function urlFunctions(): readonly Overload[] {
  const of = (value: Value | undefined): Url => value as Url;
  return [
    declare(
      'url(string): kubernetes.URL',
      (text) => {
        const found = urlOf(text as string);
        if (found === undefined) {
          throw new EvalError(
            `URL parse error during conversion from string: parse ${JSON.stringify(text)}: invalid URI for request`,
          );
        }
        return found;
      },
      OF_TEXT,
    ),
    declare('isURL(string): bool', (text) => urlOf(text as string) !== undefined, OF_TEXT),
    declare('kubernetes.URL.getScheme(): string', (value) => of(value).scheme),
    declare('kubernetes.URL.getHost(): string', (value) => of(value).host),
    declare('kubernetes.URL.getHostname(): string', (value) =>
      of(value)
        .host.replace(/:\d*$/, '')
        .replace(/^\[|\]$/g, ''),
    ),
    declare('kubernetes.URL.getPort(): string', (value) => /:(\d+)$/.exec(of(value).host)?.[1] ?? ''),
    declare('kubernetes.URL.getEscapedPath(): string', (value) => of(value).path),
    declare('kubernetes.URL.getQuery(): map<string, list<string>>', (value) => queryOf(of(value).query)),
  ];
}

function queryOf(query: string): Entries {
  const values = new Map<string, Value[]>();
  for (const [name, value] of new URLSearchParams(query)) {
    const known = values.get(name);
    if (known === undefined) values.set(name, [value]);
    else known.push(value);
  }
  const entries = new Map<string, readonly [Value, Value]>();
  for (const [name, list] of values) insert(entries, name, new Items(list));
  return new Entries(entries);
}
