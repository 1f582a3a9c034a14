import type { RequestContext } from '../request/context';

/** What may stand in a path as it is. */
const PLAIN_URL = /^\/[\w\-./~!$&'()*+,;=:@]*(?:\?|$)/;
const SLASH_TOLERANT = /^\/(api|apis|version)\/(.*\/)?$/;

/**
 * The URL by which routes are found: its path is the one that was authorized, however the client has written it. Otherwise a
 * request that is authorized as `/public/x` might be routed as something else.
 */
export function routedUrl({ info: { path }, request: { url = '/' } }: RequestContext): string {
  const isTolerant = SLASH_TOLERANT.test(path);
  if (!isTolerant && PLAIN_URL.test(url)) return url;
  const mark = url.indexOf('?');
  const query = mark < 0 ? '' : url.slice(mark);
  // Discovery does not mind slashes at the end; health checks do.
  const routed = isTolerant ? withoutLastSlashes(path) : path;
  return `${routed.split('/').map(encodeURIComponent).join('/')}${query}`;
}

/** By hand: a pattern for slashes at the end looks at all those before them once for each. */
function withoutLastSlashes(path: string): string {
  let end = path.length;
  while (path[end - 1] === '/') end -= 1;
  return path.slice(0, end);
}
