import type { Express } from 'express';
import { IncomingMessage, ServerResponse } from 'node:http';

/** Node's classes with the methods of an Express application. */
export interface MessageClasses {
  readonly IncomingMessage: typeof IncomingMessage;
  readonly ServerResponse: typeof ServerResponse;
}

/**
 * What is made for an application has its methods from the beginning: changing the prototype of each request and response, as Express does
 * with those that it does not know, makes everything that is done with them afterwards slower. Once for each application.
 */
export function messageClassesOf(app: Express): MessageClasses {
  class Incoming extends IncomingMessage {}
  class Outgoing<Request extends IncomingMessage> extends ServerResponse<Request> {}
  Object.setPrototypeOf(Incoming.prototype, app.request);
  Object.setPrototypeOf(Outgoing.prototype, app.response);
  app.request = Incoming.prototype as unknown as Express['request'];
  app.response = Outgoing.prototype as unknown as Express['response'];
  return { IncomingMessage: Incoming, ServerResponse: Outgoing };
}
