import type { Express, NextFunction, Request, RequestHandler, Response } from 'express';
import { whenKnown } from '../../api/maybe-promise';
import type { MaybePromise } from '../../api/maybe-promise';
import type { Logger } from '../../observability/logger';
import type { RequestContext } from '../request/context';
import { BUILT_IN_PLAIN, negotiate, type Negotiated } from '../request/negotiate';
import { parseRequestInfo } from '../request/request-info';
import { methodNotAllowed, resourceNotFound } from '../response/refusals';
import { textResponse, type Dispatched, type ApiResponse } from '../response/api-response';
import type { NonResourceRoute } from '../routes/route';
import { extensionApplication, type Extension } from './extension';
import { passageClassesOf, type Passage, type PassageClasses } from './passage';

const PLAIN: Negotiated = { format: 'json', pretty: false };

/** Where all paths are told. */
const INDEX_PATHS: readonly string[] = ['/', '/index.html'];

export interface ApplicationOptions {
  readonly routes: readonly NonResourceRoute[];
  /** Unknown paths below `/apis/{group}` of such a group are answered with a Status. */
  readonly hasBuiltInGroup: (group: string) => boolean;
  /** Routes of others, which come after ours. */
  readonly extensions: readonly Extension[];
  /** Aborts when the server ends. */
  readonly closing: AbortSignal;
  readonly logger: Logger;
}

/**
 * Everything outside the resource tree, as routes of one Express application: ours, those of extensions, and what becomes of unknown
 * paths. Requests have passed the filters. Express is loaded when it is first needed.
 */
export class Application {
  readonly #options: ApplicationOptions;
  readonly #known: Set<string>;
  #made: Made | undefined;
  #making: Promise<Made> | undefined;
  #listed: readonly string[];
  /** What `/` tells, as long as these lists of routes are the same. */
  #index: { readonly lists: readonly (readonly string[])[]; readonly body: string } | undefined;

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
  dispatch(context: RequestContext): MaybePromise<Dispatched> {
    if (this.#made === undefined) return this.#make().then(() => this.dispatch(context));
    const { app, classes } = this.#made;
    const passage = new classes.Passage(context);
    app(passage as unknown as Request, new classes.NoResponse() as unknown as Response);
    return passage.outcome;
  }

  async #make(): Promise<Made> {
    return (this.#made ??= await (this.#making ??= this.#load()));
  }

  async #load(): Promise<Made> {
    const { default: express } = await import('express');
    const { routes, extensions, closing } = this.#options;
    const app = express();
    // A path is what was authorized and nothing else.
    app.enable('case sensitive routing').enable('strict routing').disable('x-powered-by');
    const classes = passageClassesOf(app);
    for (const route of routes) app.route(patternOf(route)).all(handlerOf(route));
    const unknown = onPassage((passage) => passage.respond(this.#unknownPath(passage.context.info.path)));
    for (const path of INDEX_PATHS) app.route(path).all(unknown);
    if (extensions.length > 0) {
      const { paths, run } = await extensionApplication(express(), extensions, closing);
      this.#addPaths(paths);
      app.use(onPassage(run));
    }
    app.use(unknown);
    return { app, classes };
  }

  #addPaths(paths: readonly string[]): void {
    for (const path of paths) {
      if (this.#isOurs(path)) {
        this.#options.logger.warn({ path }, 'a route of an extension is never reached: the API server serves its path');
      }
      this.#known.add(path);
    }
    this.#listed = sorted([...this.#listed, ...paths]);
    this.#index = undefined;
  }

  /** All paths, in order, as JSON. */
  #indexBody(): string {
    const lists = this.#options.routes.flatMap(({ listsNow }) => (listsNow === undefined ? [] : [listsNow()]));
    if (this.#index === undefined || lists.some((list, place) => list !== this.#index?.lists[place])) {
      const paths = sorted([...this.#listed, ...lists.flat()]);
      this.#index = { lists, body: JSON.stringify({ paths }, null, 2) };
    }
    return this.#index.body;
  }

  #isOurs(path: string): boolean {
    if (INDEX_PATHS.includes(path) || parseRequestInfo('GET', path).isResourceRequest) return true;
    return this.#options.routes.some(
      (route) => route.path === path || (route.prefix === true && path.startsWith(below(route))),
    );
  }

  #unknownPath(path: string): Dispatched {
    const [, root, group = ''] = path.split('/');
    if (root === 'api' || root === 'version' || (root === 'apis' && this.#options.hasBuiltInGroup(group))) {
      throw resourceNotFound();
    }
    if (root === 'apis') return { response: textResponse(404, '404 page not found\n'), negotiated: PLAIN };
    // The root is there, whatever is not; it has never looked at the method.
    const code = INDEX_PATHS.includes(path) ? 200 : 404;
    return {
      response: { type: 'bytes', code, contentType: 'application/json', body: this.#indexBody() },
      negotiated: PLAIN,
    };
  }
}

interface Made {
  readonly app: Express;
  readonly classes: PassageClasses;
}

/** A handler of Express whose requests are passages. What it throws fails the passage. */
function onPassage(handle: (passage: Passage, next: NextFunction) => void): RequestHandler {
  return (request, _response, next) => {
    const passage = request as unknown as Passage;
    try {
      handle(passage, next);
    } catch (error) {
      passage.fail(error);
    }
  };
}

/** One of our routes. Nothing is there where it knows of nothing. */
function handlerOf(route: NonResourceRoute): RequestHandler {
  const { methods = ['GET'] } = route;
  return onPassage((passage, next) => {
    const { context, method } = passage;
    if (methods !== 'any' && !methods.includes(method)) throw methodNotAllowed();
    const settle = (response: ApiResponse | undefined): void => {
      if (response === undefined) next();
      else passage.respond({ response: response, negotiated: formOf(response, context) });
    };
    const settled = whenKnown(route.handler(context), settle);
    if (settled instanceof Promise) settled.catch((error: unknown) => passage.fail(error));
  });
}

/** A reply that comes with its bytes, or without any, has no form to choose: a 304 must not become a 406. */
function formOf(response: ApiResponse, { request }: RequestContext): Negotiated {
  const hasForm = response.type === 'object' || response.type === 'entry' || response.type === 'list';
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
