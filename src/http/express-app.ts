import { IncomingMessage, ServerResponse, type RequestListener } from 'node:http';
import express, { type ErrorRequestHandler, type Express } from 'express';

/** Classes for `createServer` whose prototypes are the ones that Express wants requests and responses to have. */
export interface ExpressServerParts {
  readonly listener: RequestListener;
  readonly IncomingMessage: typeof IncomingMessage;
  readonly ServerResponse: typeof ServerResponse;
}

/**
 * An Express application of one handler and one funnel for what it throws.
 *
 * Express gives every request and response its own prototype while they are in use, which makes V8 forget what it
 * learnt about them and costs two thirds of the throughput. Here the server creates them as instances of classes that
 * already carry Express's methods, and the application is told that these prototypes are its own: then setting them
 * changes nothing. Safe because Express only sets the prototypes and never compares them.
 */
export function expressServerParts(
  handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
  funnel: (error: unknown, response: ServerResponse) => void,
): ExpressServerParts {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');

  class ServedRequest extends IncomingMessage {}
  class ServedResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {}
  adopt(ServedRequest.prototype, express.request, app);
  adopt(ServedResponse.prototype, express.response, app);
  app.request = ServedRequest.prototype as Express['request'];
  app.response = ServedResponse.prototype as unknown as Express['response'];

  app.use((request, response) => handle(request, response));
  // Express tells the funnel from other handlers by its four parameters.
  const onError: ErrorRequestHandler = (error: unknown, _request, response, _next) => funnel(error, response);
  app.use(onError);
  return { listener: app, IncomingMessage: ServedRequest, ServerResponse: ServedResponse };
}

/** Gives a prototype all that Express's own has, and the reference to its application. */
function adopt(prototype: object, from: object, app: Express): void {
  Object.defineProperties(prototype, Object.getOwnPropertyDescriptors(from));
  Object.defineProperty(prototype, 'app', { configurable: true, enumerable: true, writable: true, value: app });
}
