import type { Express } from 'express';
import { IncomingMessage, ServerResponse } from 'node:http';

/** What a server of node:http makes its requests and responses of. */
export interface MessageClasses {
  readonly IncomingMessage: typeof IncomingMessage;
  readonly ServerResponse: typeof ServerResponse;
}

/**
 * Classes of one server. Express gives each request and response that it sees the prototype of its application, which costs two
 * thirds of the throughput; {@link carryExpress} makes these prototypes the application's, so that nothing is left to change.
 */
export function messageClasses(): MessageClasses {
  return {
    IncomingMessage: class extends IncomingMessage {},
    ServerResponse: class<Request extends IncomingMessage> extends ServerResponse<Request> {},
  };
}

/** Gives the classes Express's methods. Once for each pair: a prototype belongs to one application. */
export function carryExpress(
  { IncomingMessage: Request, ServerResponse: Response }: MessageClasses,
  app: Express,
): void {
  Object.setPrototypeOf(Request.prototype, app.request);
  Object.setPrototypeOf(Response.prototype, app.response);
  app.request = Request.prototype as unknown as Express['request'];
  app.response = Response.prototype as unknown as Express['response'];
}
