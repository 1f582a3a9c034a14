import type { Express, NextFunction, Request, Response } from 'express';
import { IncomingMessage, type ServerResponse } from 'node:http';
import { whenKnown, type MaybePromise } from '../../api/maybe-promise';
import type { Logger } from '../../observability/logger';
import type { RequestContext } from '../request/context';
import { BUILT_IN_PLAIN, negotiate, type Negotiated } from '../request/negotiate';
import { parseRequestInfo } from '../request/request-info';
import { methodNotAllowed, resourceNotFound } from '../response/refusals';
import { textReply, type Dispatched, type Reply } from '../response/reply';
import type { NonResourceRoute } from '../routes/route';
import { enterExtension, statusErrorOf, withoutBodyHeaders, type Extension } from './extension';
import { layersOf, pathsIn } from './extension-paths';
import { carryExpress, type MessageClasses } from './message-classes';
import { facadeOf, handBack, type Facade } from './message-facades';
import { routedUrl } from './routed-url';

const PLAIN: Negotiated = { format: 'json', pretty: false };
const STREAMED: Dispatched = { reply: { type: 'streamed' }, negotiated: PLAIN };

export interface ApplicationOptions {
  readonly routes: readonly NonResourceRoute[];
  /** Unknown paths below `/apis/{group}` of such a group are answered with a Status. */
  readonly hasBuiltInGroup: (group: string) => boolean;
  /** Routes of others, which come after ours. */
  readonly extensions: readonly Extension[];
  /** What the server's own requests and responses are made of. */
  readonly classes: MessageClasses;
  /** Aborts when the server ends. */
  readonly closing: AbortSignal;
  readonly logger: Logger;
}

/** A request on its way through the application. */
interface Passage {
  readonly context: RequestContext;
  readonly resolve: (dispatched: MaybePromise<Dispatched>) => void;
  readonly reject: (error: unknown) => void;
}

const PASSAGE = Symbol('passage');

/**
 * Everything outside the resource tree, as routes of one Express application: ours, those of extensions, and what becomes of unknown
 * paths. Requests have passed the filters. Express is loaded when it is first needed.
 */
export class Application {
  readonly #options: ApplicationOptions;
  readonly #known: Set<string>;
  #app: Express | undefined;
  #making: Promise<Express> | undefined;
  #listed: readonly string[];

  constructor(options: ApplicationOptions) {
    this.#options = options;
    this.#known = new Set(options.routes.flatMap(({ path, lists = [] }) => [path, ...lists]));
    this.#listed = sorted(options.routes.flatMap(listedPaths));
  }

  /** Resolves when routes of others are there. Rejects when they cannot be added. */
  async ready(): Promise<void> {
    if (this.#options.extensions.length > 0) await this.#make();
  }

  has(path: string): boolean {
    return this.#known.has(path);
  }

  /** What the request is answered with; `streamed` where a route of others has answered it. */
  async dispatch(context: RequestContext): Promise<Dispatched> {
    const app = this.#app ?? (await this.#make());
    const { request, response } = this.#messagesOf(context);
    const url = routedUrl(context);
    if (request.url !== url) request.url = url;
    return new Promise<Dispatched>((resolve, reject) => {
      (request as Carrier)[PASSAGE] = { context, resolve, reject };
      app(request as Request, response as Response);
    });
  }

  /** Those that our server of node:http brought have Express's methods already. */
  #messagesOf({ request, response }: RequestContext): Facade {
    if (request instanceof IncomingMessage) return { request, response: response as unknown as ServerResponse };
    return facadeOf(request, response, this.#options.classes);
  }

  async #make(): Promise<Express> {
    this.#app ??= await (this.#making ??= this.#load());
    return this.#app;
  }

  async #load(): Promise<Express> {
    const { default: express } = await import('express');
    const { routes, extensions, classes, closing } = this.#options;
    const app = express();
    // A path is what was authorized and nothing else.
    app.enable('case sensitive routing').enable('strict routing').disable('x-powered-by');
    carryExpress(classes, app);
    for (const route of routes) app.route(patternOf(route)).all((request, _, next) => run(route, request, next));
    app.route('/').all((request, response) => this.#unknown(request, response));
    if (extensions.length > 0) {
      const own = layersOf(app.router).length;
      app.use((request, response, next) => {
        const { context, resolve } = passageOf(request);
        context.onFinished(() => resolve(STREAMED));
        enterExtension(context, request, response, closing);
        next();
      });
      for (const extension of extensions) await extension(app);
      this.#addPaths(pathsIn(layersOf(app.router).slice(own)));
    }
    app.use((request, response) => this.#unknown(request, response));
    app.use(fail);
    return app;
  }

  #addPaths(paths: readonly string[]): void {
    for (const path of paths) {
      if (this.#isOurs(path)) {
        this.#options.logger.warn({ path }, 'a route of an extension is never reached: the API server serves its path');
      }
      this.#known.add(path);
    }
    this.#listed = sorted([...this.#listed, ...paths]);
  }

  #isOurs(path: string): boolean {
    if (parseRequestInfo('GET', path).isResourceRequest) return true;
    const { routes } = this.#options;
    return (
      path === '/' ||
      routes.some((route) => route.path === path || (route.prefix === true && path.startsWith(below(route))))
    );
  }

  #unknown(request: Request, response: Response): void {
    const { context, resolve, reject } = passageOf(request);
    handBack(response);
    try {
      resolve(this.#unknownPath(context.info.path));
    } catch (error) {
      reject(error);
    }
  }

  #unknownPath(path: string): Dispatched {
    const [, root, group = ''] = path.split('/');
    if (root === 'api' || root === 'version' || (root === 'apis' && this.#options.hasBuiltInGroup(group))) {
      throw resourceNotFound();
    }
    if (root === 'apis') return { reply: textReply(404, '404 page not found\n'), negotiated: PLAIN };
    const body = JSON.stringify({ paths: this.#listed }, null, 2);
    // The root is there, whatever is not; it has never looked at the method.
    const code = path === '/' ? 200 : 404;
    return { reply: { type: 'bytes', code, contentType: 'application/json', body }, negotiated: PLAIN };
  }
}

interface Carrier {
  [PASSAGE]?: Passage;
}

function passageOf(request: object): Passage {
  const passage = (request as Carrier)[PASSAGE];
  if (passage === undefined) throw new Error('a request came to the application past the filters');
  return passage;
}

/** The last handler of errors. Ours never come here. */
function fail(error: unknown, request: Request, response: Response, _next: NextFunction): void {
  withoutBodyHeaders(response);
  handBack(response);
  passageOf(request).reject(statusErrorOf(error));
}

/** One of our routes. Nothing is there where it knows of nothing. */
function run(route: NonResourceRoute, request: Request, next: NextFunction): void {
  const { context, resolve, reject } = passageOf(request);
  const { methods = ['GET'] } = route;
  try {
    if (methods !== 'any' && !methods.includes(request.method)) throw methodNotAllowed();
    const dispatched = whenKnown(route.handler(context), (reply) =>
      reply === undefined ? undefined : { reply, negotiated: formOf(reply, context) },
    );
    if (dispatched === undefined) return next();
    if (!(dispatched instanceof Promise)) return resolve(dispatched);
    dispatched.then((known) => (known === undefined ? next() : resolve(known)), reject);
  } catch (error) {
    reject(error);
  }
}

/** A reply that comes with its bytes, or without any, has no form to choose: a 304 must not become a 406. */
function formOf(reply: Reply, { request }: RequestContext): Negotiated {
  const hasForm = reply.type === 'object' || reply.type === 'entry' || reply.type === 'list';
  return hasForm ? negotiate(request.headers.accept, BUILT_IN_PLAIN) : PLAIN;
}

function patternOf(route: NonResourceRoute): string | RegExp {
  return route.prefix === true ? new RegExp(`^${below(route).replaceAll(/[.+]/g, '\\$&')}`) : route.path;
}

/** What the paths below a tree begin with. */
function below({ path }: NonResourceRoute): string {
  return path.endsWith('/') ? path : `${path}/`;
}

function listedPaths({ path, unlisted, lists = [] }: NonResourceRoute): readonly string[] {
  return unlisted === true ? lists : [path, ...lists];
}

function sorted(paths: readonly string[]): readonly string[] {
  return [...new Set(paths)].sort();
}
