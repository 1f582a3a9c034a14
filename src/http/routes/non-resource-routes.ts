import { whenKnown, type MaybePromise } from '../../api/maybe-promise';
import type { RequestContext } from '../request/context';
import type { NonResourceRoute } from './route';
import { BUILT_IN_PLAIN, negotiate, type Negotiated } from '../request/negotiate';
import { methodNotAllowed, resourceNotFound } from '../response/refusals';
import { textReply, type Dispatched } from '../response/reply';

const PLAIN: Negotiated = { format: 'json', pretty: false };

/** By hand: a pattern for slashes at the end looks at all those before them once for each. */
function withoutLastSlashes(path: string): string {
  let end = path.length;
  while (path[end - 1] === '/') end -= 1;
  return path.slice(0, end);
}

const SLASH_TOLERANT = /^\/(api|apis|version)\/(.*\/)?$/;

/** The paths outside the resource tree: exact ones, and trees below a prefix. */
export class NonResourceRoutes {
  private readonly exact = new Map<string, NonResourceRoute>();
  private readonly prefixes: NonResourceRoute[] = [];
  private readonly listed: string[] = [];

  /** `hasBuiltInGroup`: unknown paths below `/apis/{group}` of such a group are answered with a Status. */
  constructor(
    routes: readonly NonResourceRoute[],
    private readonly hasBuiltInGroup: (group: string) => boolean,
  ) {
    for (const route of routes) this.add(route);
  }

  add(route: NonResourceRoute): void {
    this.exact.set(route.path, route);
    if (route.prefix === true) this.prefixes.push(route);
    if (route.unlisted !== true) this.listed.push(route.path);
  }

  has(path: string): boolean {
    return this.exact.has(path);
  }

  /** The paths as `/` shows them, sorted. */
  get paths(): readonly string[] {
    return [...new Set(this.listed)].sort();
  }

  run(context: RequestContext): MaybePromise<Dispatched> {
    const { path } = context.info;
    const route = this.find(path);
    if (route === undefined) return this.unknown(path);
    const { methods = ['GET'] } = route;
    if (methods !== 'any' && !methods.includes(context.request.method ?? '')) throw methodNotAllowed();
    return whenKnown(route.handler(context), (reply) => {
      // A reply that comes with its bytes, or without any, has no form to choose: a 304 must not become a 406.
      const hasForm = reply.type === 'object' || reply.type === 'entry' || reply.type === 'list';
      const negotiated = hasForm ? negotiate(context.request.headers.accept, BUILT_IN_PLAIN) : PLAIN;
      return { reply, negotiated };
    });
  }

  private find(asked: string): NonResourceRoute | undefined {
    // Discovery does not mind a slash at the end; health checks do.
    const path = SLASH_TOLERANT.test(asked) ? withoutLastSlashes(asked) : asked;
    return (
      this.exact.get(path) ??
      this.prefixes.find((route) => path.startsWith(route.path.endsWith('/') ? route.path : `${route.path}/`))
    );
  }

  private unknown(path: string): Dispatched {
    const [, root, group = ''] = path.split('/');
    if (root === 'api' || root === 'version' || (root === 'apis' && this.hasBuiltInGroup(group)))
      throw resourceNotFound();
    if (root === 'apis') return { reply: textReply(404, '404 page not found\n'), negotiated: PLAIN };
    return {
      reply: {
        type: 'bytes',
        // The root is there, whatever is not; it has never looked at the method.
        code: path === '/' ? 200 : 404,
        contentType: 'application/json',
        body: JSON.stringify({ paths: this.paths }, null, 2),
      },
      negotiated: PLAIN,
    };
  }
}
