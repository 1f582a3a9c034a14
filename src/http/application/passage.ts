import type { Express } from 'express';
import type { MaybePromise } from '../../api/maybe-promise';
import type { RequestContext } from '../request/context';
import type { Dispatched } from '../response/api-response';
import { routedUrl } from './routed-url';

/**
 * A request on its way through the routes, as Express wants to see it: a method and a URL. Nothing is read of it, and nothing written to
 * its response: routes say what is to be answered.
 */
export class Passage {
  readonly method: string;
  /** Express cuts off what a router within is mounted at, and puts it back. */
  url: string;
  // What Express adds is there from the beginning: each would change the shape of the object.
  res: unknown = undefined;
  next: unknown = undefined;
  baseUrl = '';
  originalUrl: string;
  params: unknown = undefined;
  route: unknown = undefined;
  _parsedUrl: unknown = undefined;
  #outcome: Outcome | undefined;
  #waiting: Waiting | undefined;

  constructor(readonly context: RequestContext) {
    this.method = context.request.method ?? 'GET';
    this.url = this.originalUrl = routedUrl(context);
  }

  /** Once. */
  respond(dispatched: Dispatched): void {
    if (this.#waiting === undefined) this.#outcome ??= { dispatched };
    else this.#waiting.resolve(dispatched);
  }

  fail(error: unknown): void {
    if (this.#waiting === undefined) this.#outcome ??= { error };
    else this.#waiting.reject(error);
  }

  /** What became of it: at once where nothing had to be waited for. */
  get outcome(): MaybePromise<Dispatched> {
    const outcome = this.#outcome;
    if (outcome === undefined) return new Promise((resolve, reject) => (this.#waiting = { resolve, reject }));
    if ('dispatched' in outcome) return outcome.dispatched;
    throw outcome.error;
  }
}

type Outcome = { readonly dispatched: Dispatched } | { readonly error: unknown };

interface Waiting {
  readonly resolve: (dispatched: Dispatched) => void;
  readonly reject: (error: unknown) => void;
}

/** It is never written to. */
class NoResponse {
  req: unknown = undefined;
  locals: unknown = undefined;
}

export interface PassageClasses {
  readonly Passage: typeof Passage;
  readonly NoResponse: typeof NoResponse;
}

/** For one application: Express gives what it sees the prototypes of its own, and here there is nothing left to give. */
export function passageClassesOf(app: Express): PassageClasses {
  class OfApplication extends Passage {}
  class NoResponseOfApplication extends NoResponse {}
  app.request = OfApplication.prototype as unknown as Express['request'];
  app.response = NoResponseOfApplication.prototype as unknown as Express['response'];
  return { Passage: OfApplication, NoResponse: NoResponseOfApplication };
}
