/** An address as Go's `net/url` reads it. */
export interface GoUrl {
  readonly scheme: string;
  /** What follows the scheme where that is no path: `a@b` of `mailto:a@b`. */
  readonly opaque: string;
  readonly user: string;
  /** With its port, decoded. */
  readonly host: string;
  /** As it was sent. */
  readonly path: string;
  readonly query: string;
  readonly fragment: string;
}

// eslint-disable-next-line no-control-regex -- what Go refuses
const CONTROL = /[\0-\x1f\x7f]/;
const BROKEN_ESCAPE = /%(?![0-9a-fA-F]{2})/;

/** The text as `url.Parse` reads it, if `url.ParseRequestURI` reads it as well; otherwise what is wrong. */
export function parseGoUrl(text: string): GoUrl | string {
  if (text === '') return 'empty url';
  // Not taken apart before the first of the two has looked at it: to that one a fragment is a part of what stands before it.
  const asRequest = parse(text, true);
  if (typeof asRequest === 'string') return asRequest;
  const hash = text.indexOf('#');
  const parsed = parse(hash < 0 ? text : text.slice(0, hash), false);
  const fragment = hash < 0 ? '' : text.slice(hash + 1);
  if (BROKEN_ESCAPE.test(fragment)) return escapeProblem(fragment);
  return typeof parsed === 'string' ? parsed : { ...parsed, fragment };
}

function parse(text: string, isRequest: boolean): GoUrl | string {
  if (CONTROL.test(text)) return 'net/url: invalid control character in URL';
  const empty = { scheme: '', opaque: '', user: '', host: '', path: '', query: '', fragment: '' };
  if (text === '*') return { ...empty, path: '*' };
  if (text.startsWith(':')) return 'missing protocol scheme';
  const scheme = /^[a-zA-Z][a-zA-Z0-9+.-]*(?=:)/.exec(text)?.[0] ?? '';
  const afterScheme = scheme === '' ? text : text.slice(scheme.length + 1);
  const mark = afterScheme.indexOf('?');
  const rest = mark < 0 ? afterScheme : afterScheme.slice(0, mark);
  const common = { ...empty, scheme: scheme.toLowerCase(), query: mark < 0 ? '' : afterScheme.slice(mark + 1) };
  if (!rest.startsWith('/')) {
    if (scheme !== '') return { ...common, opaque: rest };
    if (isRequest) return 'invalid URI for request';
    if (/^[^/]*:/.test(rest)) return 'first path segment in URL cannot contain colon';
  }
  const hasAuthority = rest.startsWith('//') && (scheme !== '' || (!isRequest && !rest.startsWith('///')));
  const end = hasAuthority ? rest.indexOf('/', 2) : 0;
  const path = end < 0 ? '' : rest.slice(end);
  if (BROKEN_ESCAPE.test(path)) return escapeProblem(path);
  if (!hasAuthority) return { ...common, path };
  const authority = rest.slice(2, end < 0 ? undefined : end);
  const at = authority.lastIndexOf('@');
  const user = at < 0 ? '' : authority.slice(0, at);
  if (!/^(?:[A-Za-z0-9\-._:~!$&'()*+,;=@]|%[0-9a-fA-F]{2})*$/.test(user)) return 'net/url: invalid userinfo';
  const host = hostOf(authority.slice(at + 1));
  return typeof host === 'string' ? host : { ...common, user, host: host.host, path };
}

const PORT = /^(?::\d*)?$/;
/** Far longer than a name can be; megabytes of escapes would take a tenth of a second to read. */
const MAX_HOST = 64 * 1024;

function hostOf(text: string): { readonly host: string } | string {
  if (text.length > MAX_HOST) return 'host is too long';
  if (text.startsWith('[')) {
    const end = text.lastIndexOf(']');
    if (end < 0) return "missing ']' in host";
    const port = text.slice(end + 1);
    if (!PORT.test(port)) return `invalid port ${JSON.stringify(port)} after host`;
    const zone = text.indexOf('%25');
    const address = zone < 0 || zone > end ? text.slice(0, end + 1) : text.slice(0, zone);
    const problem = hostProblem(address);
    if (problem !== undefined) return problem;
    return { host: address === text.slice(0, end + 1) ? text : address + decoded(text.slice(zone, end + 1)) + port };
  }
  const colon = text.lastIndexOf(':');
  const port = colon < 0 ? '' : text.slice(colon);
  if (!PORT.test(port)) return `invalid port ${JSON.stringify(port)} after host`;
  return hostProblem(text) ?? { host: decoded(text) };
}

/** Only what is not ASCII may be escaped in a name. */
function hostProblem(host: string): string | undefined {
  const escape = /%(?![89a-fA-F][0-9a-fA-F]).{0,2}/s.exec(host)?.[0];
  if (escape !== undefined) return `invalid URL escape ${JSON.stringify(escape)}`;
  const wrong = /[^A-Za-z0-9\-._~!$&'()*+,;=:[\]<>"%\u0080-\uffff]/.exec(host)?.[0];
  return wrong === undefined ? undefined : `invalid character ${JSON.stringify(wrong)} in host name`;
}

function escapeProblem(text: string): string {
  return `invalid URL escape ${JSON.stringify(/%(?![0-9a-fA-F]{2}).{0,2}/s.exec(text)?.[0])}`;
}

function bytesOf(text: string): Buffer {
  const bytes: number[] = [];
  const encoded = Buffer.from(text, 'utf8');
  for (let index = 0; index < encoded.length; index += 1) {
    if (encoded[index] !== 0x25) bytes.push(encoded[index] as number);
    else {
      bytes.push(Number.parseInt(encoded.toString('latin1', index + 1, index + 3), 16));
      index += 2;
    }
  }
  return Buffer.from(bytes);
}

function decoded(text: string): string {
  return text.includes('%') ? bytesOf(text).toString('utf8') : text;
}

const PROPER_PATH = /^[A-Za-z0-9\-_.~!$&'()*+,;=:@[\]/%]*$/;

/** Each byte as it stands in a path that is encoded anew. */
const ENCODED = Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte);
  return /[A-Za-z0-9\-_.~$&+,/:;=@]/.test(character)
    ? character
    : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
});

/** The path as it was sent, where it is properly encoded; otherwise encoded anew. */
export function escapedPath({ path }: GoUrl): string {
  if (PROPER_PATH.test(path)) return path;
  let escaped = '';
  for (const byte of bytesOf(path)) escaped += ENCODED[byte]!;
  return escaped;
}

/** The parameters with their values in order. Pairs that cannot be read are left out. `passed` is called for each pair. */
export function queryValues({ query }: GoUrl, passed: () => void): ReadonlyMap<string, readonly string[]> {
  const values = new Map<string, string[]>();
  for (const pair of query.split('&')) {
    passed();
    if (pair === '' || pair.includes(';') || BROKEN_ESCAPE.test(pair)) continue;
    const [name, value] = [
      pair.split('=', 1)[0] ?? '',
      pair.includes('=') ? pair.slice(pair.indexOf('=') + 1) : '',
    ].map((part) => decoded(part.replaceAll('+', ' '))) as [string, string];
    const known = values.get(name);
    if (known === undefined) values.set(name, [value]);
    else known.push(value);
  }
  return values;
}

/** The name or address without its port and brackets. */
export function hostname({ host }: GoUrl): string {
  const bracket = host.startsWith('[') ? host.indexOf(']') : -1;
  return bracket > 0 ? host.slice(1, bracket) : host.replace(/:\d*$/, '');
}

export function port({ host }: GoUrl): string {
  return /:(\d+)$/.exec(host)?.[1] ?? '';
}
